/** Searches files in a thread, which can be terminated when a regular expression does not end. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { relative, sep } from 'node:path'
import { AS_IT_WAS_FOUND } from '../../util/files.ts'
import { holdsPrivateKey } from '../../util/secret-files.ts'
import { decode } from './encoding.ts'
import { globPattern, isClosed } from '../../util/glob.ts'
import { isInPlace } from './open-file.ts'
import { isOpenToAll, shownName, walkFiles } from './walk-files.ts'

export interface SearchJob {
  readonly pattern: string
  readonly literal: boolean
  readonly ignoreCase: boolean
  /** Real path of the workspace. */
  readonly root: string
  readonly start: string
  readonly isFolder: boolean
  readonly globs: readonly string[]
  readonly hidden: boolean
  readonly context: number
  readonly limit: number
  readonly show: 'lines' | 'files' | 'count'
  /** See `ToolContext`. */
  readonly closedPaths: readonly string[]
}

export type SearchNews =
  /** `text` is the result for one file, as the model receives it. */
  | { readonly type: 'found'; readonly text: string; readonly matches: number }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'done'; readonly files: number; readonly skipped: number; readonly limited: boolean }

/** Larger files are not searched, and counted as skipped. */
const MAX_SEARCHED_BYTES = 20_000_000

const job = workerData as SearchJob

function send(news: SearchNews): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  parentPort?.postMessage(news)
}

async function search(): Promise<void> {
  const expression = expressionOf(job.pattern, job)
  const certain = certainText(job.pattern, job)
  let [files, skipped, left] = [0, 0, job.limit]
  for await (const { path, name } of filesToSearch()) {
    const text = textOf(path)
    if (text === undefined) {
      skipped++
      continue
    }
    files++
    const perFile = job.show === 'files' ? 1 : job.show === 'count' ? Infinity : left
    const found = searchText(text, { expression, context: job.show === 'lines' ? job.context : 0, limit: perFile, certain })
    if (found.matches === 0) continue
    send({ type: 'found', text: described(name, found), matches: found.matches })
    left -= job.show === 'lines' ? found.matches : 1
    if (left <= 0) break
  }
  send({ type: 'done', files, skipped, limited: left <= 0 })
}

async function* filesToSearch(): AsyncGenerator<{ readonly path: string; readonly name: string }> {
  if (!job.isFolder) {
    yield { path: job.start, name: nameOf(job.start) }
    return
  }
  const globs = job.globs.map(globPattern)
  const wanted = globs.filter(({ negated }) => !negated)
  for await (const entry of walkFiles(job.start, job)) {
    const name = nameOf(entry.path)
    if (!isOpenToAll(entry, name) || isClosed(entry.path, job.closedPaths)) continue
    if (wanted.length > 0 && !wanted.some((glob) => glob.matches(name))) continue
    if (globs.some((glob) => glob.negated && glob.matches(name))) continue
    yield { path: entry.path, name }
  }
}

function nameOf(path: string): string {
  return relative(job.root, path).split(sep).join('/')
}

/** Returns `undefined` for a file that is binary, holds a key, is too large or unreadable. Synchronous: the thread has no other work. */
function textOf(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, AS_IT_WAS_FOUND)
    const status = fstatSync(file)
    if (!isInPlace(file, path) || !status.isFile() || status.size > MAX_SEARCHED_BYTES) return undefined
    const bytes = Buffer.allocUnsafe(status.size)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, length)
    }
    const text = decode(bytes.subarray(0, length))?.text
    return text === undefined || holdsPrivateKey(text) ? undefined : text
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function described(path: string, { lines, matches }: TextMatches): string {
  const name = shownName(path)
  if (job.show === 'files') return name
  if (job.show === 'count') return `${name}:${matches}`
  let last = 0
  return lines
    .map(({ number, text, isMatch }) => {
      const gap = last !== 0 && number > last + 1 && job.context > 0 ? '--\n' : ''
      last = number
      const mark = isMatch ? ':' : '-'
      return `${gap}${name}${mark}${number}${mark}${text}`
    })
    .join('\n')
}

interface Line {
  /** Line number, counted from 1. */
  readonly number: number
  readonly text: string
  readonly isMatch: boolean
}

interface TextSearch {
  readonly expression: RegExp
  /** Lines before and after each match. */
  readonly context: number
  /** Maximum number of matching lines. */
  readonly limit: number
  /** A text that every matching line contains. */
  readonly certain?: string | undefined
}

interface TextMatches {
  /** Lines in order, each once; a gap in the numbers is a gap in the text. */
  readonly lines: readonly Line[]
  readonly matches: number
}

function searchText(text: string, { expression, context, limit, certain }: TextSearch): TextMatches {
  if (certain !== undefined && !text.includes(certain)) return { lines: [], matches: 0 }
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const found: number[] = []
  for (const [index, line] of lines.entries()) {
    if (found.length >= limit) break
    if (expression.test(line.endsWith('\r') ? line.slice(0, -1) : line)) found.push(index)
  }
  const shown: Line[] = []
  const matching = new Set(found)
  let next = 0
  for (const index of found) {
    for (let at = Math.max(next, index - context); at <= Math.min(index + context, lines.length - 1); at++) {
      const line = lines[at] ?? ''
      shown.push({ number: at + 1, text: around(line, matching.has(at) ? expression : undefined), isMatch: matching.has(at) })
      next = at + 1
    }
  }
  return { lines: shown, matches: found.length }
}

const MAX_LINE = 400

/** Returns the part of a long line around its match, in whole characters. */
function around(line: string, expression: RegExp | undefined): string {
  const text = line.replace(/\r$/, '')
  if (text.length <= MAX_LINE) return text
  const at = expression === undefined ? 0 : (expression.exec(text)?.index ?? 0)
  const start = Math.max(0, Math.min(at - MAX_LINE / 4, text.length - MAX_LINE))
  const end = start + MAX_LINE
  const cut = text
    .slice(start, end)
    .replace(/^[\uDC00-\uDFFF]/, '')
    .replace(/[\uD800-\uDBFF]$/, '')
  return `${start > 0 ? '[…] ' : ''}${cut}${end < text.length ? ' […]' : ''}`
}

/** Returns a pattern without special characters as plain text, so that files without it are skipped before lines are split. */
function certainText(
  pattern: string,
  { literal, ignoreCase }: { readonly literal: boolean; readonly ignoreCase: boolean },
): string | undefined {
  return !ignoreCase && (literal || !SPECIAL_CHARACTER.test(pattern)) ? pattern : undefined
}

const SPECIAL_CHARACTER = /[\\^$.*+?()[\]{}|]/
const SPECIAL = /[\\^$.*+?()[\]{}|]/g

/**
 * Compiles the model's pattern as a JavaScript regular expression, also with the leading `(?i)` of other dialects.
 *
 * @throws SyntaxError for an invalid pattern.
 */
function expressionOf(
  pattern: string,
  { literal, ignoreCase }: { readonly literal: boolean; readonly ignoreCase: boolean },
): RegExp {
  const flags = ignoreCase ? 'i' : ''
  if (literal) return new RegExp(pattern.replaceAll(SPECIAL, String.raw`\$&`), flags)
  const inline = /^\(\?([imsux]+)\)/.exec(pattern)
  const source = inline === null ? pattern : pattern.slice(inline[0].length)
  const all = ignoreCase || inline?.[1]?.includes('i') === true ? 'i' : ''
  try {
    return new RegExp(source, `${all}u`)
  } catch {
    // Without the flag `u`, unnecessary escapes are allowed.
    return new RegExp(source, all)
  }
}

search().catch((thrown: unknown) => {
  send({ type: 'failed', message: thrown instanceof Error ? thrown.message : String(thrown) })
})
