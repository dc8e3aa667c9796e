/** The list of sources below an answer: paths with line numbers, which terminals and editors open on a click. */

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Citation } from '../core/citation.ts'
import { visibleLine } from '../util/terminal.ts'

const MOST = 30

export interface SourceLine {
  readonly marker: string
  /** `docs/guide.md:12`. */
  readonly place: string
  /** Where a click leads, where it leads anywhere. */
  readonly url: string | undefined
  readonly supported: boolean
}

/** One line for each place that is cited, in the order of the answer. */
export function sourceLines(citations: readonly Citation[], cwd: string): readonly SourceLine[] {
  const lines = new Map<string, SourceLine>()
  for (const { marker, source, lines: range, supported } of citations) {
    const place = placeOf(source, range, cwd)
    const key = `${marker}\0${place}`
    const before = lines.get(key)
    if (before === undefined) lines.set(key, { marker, place, url: urlOf(source, cwd), supported })
    else if (!supported && before.supported) lines.set(key, { ...before, supported })
  }
  return [...lines.values()].slice(0, MOST)
}

/** A source as editors and terminals understand it: `docs/guide.md:12`. */
export function placeOf(source: string, lines: readonly [first: number, last: number] | undefined, cwd: string): string {
  const path = displayPath(source, cwd)
  return lines === undefined ? path : `${path}:${lines[0]}`
}

/** Relative to the folder the user is in, when it lies below it. */
function displayPath(source: string, cwd: string): string {
  if (!isAbsolute(source)) return source
  const path = relative(cwd, source)
  return path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path) ? source : path
}

function urlOf(source: string, cwd: string): string | undefined {
  if (/^https?:\/\//i.test(source)) return URL.canParse(source) ? new URL(source).href : undefined
  if (source.includes('\0')) return undefined
  const path = resolve(cwd, source)
  if (!existsSync(path)) return undefined
  const url = pathToFileURL(path)
  // Terminals compare the host, so that a path of another machine is not opened on this one.
  url.hostname = hostname()
  return url.href
}

/** A link (OSC 8) around a text; both are made visible, so that neither can end it early. */
export function terminalLink(text: string, url: string): string {
  return `\u001B]8;;${visibleLine(url)}\u001B\\${visibleLine(text)}\u001B]8;;\u001B\\`
}
