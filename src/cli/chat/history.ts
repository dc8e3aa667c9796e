/** Keeps the messages that were typed, over sessions, in a file that only its owner reads, and steps through them. */

import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeHomeFolder } from '../../app/paths.ts'
import type { HomePaths } from '../../app/paths.ts'
import { writeFileAtomically } from '../../util/files.ts'

/** Entries that are kept; the file may hold twice as many before it is cut. */
const MOST = 1000
const LONGEST = 20_000

function fileIn(paths: HomePaths): string {
  return join(paths.home, 'cria.history')
}

/** Oldest first; empty where there is no file, or none that can be read: nobody is kept from talking by that. */
export async function readHistory(paths: HomePaths): Promise<readonly string[]> {
  try {
    // Never wait for a pipe that stands there.
    if (!(await stat(fileIn(paths))).isFile()) return []
    const lines = (await readFile(fileIn(paths), 'utf8')).split('\n')
    const entries = lines.flatMap(entryOf)
    if (lines.length > 2 * MOST) rewrite(entries.slice(-MOST), paths)
    return entries.slice(-MOST)
  } catch {
    return []
  }
}

/** Adds one; several sessions may do so at the same time. */
export async function keepInHistory(text: string, paths: HomePaths): Promise<void> {
  if (text.length > LONGEST) return
  try {
    makeHomeFolder(paths)
    await appendFile(fileIn(paths), `${JSON.stringify(text)}\n`, { mode: 0o600 })
  } catch {
    // A full disk is told by the journal.
  }
}

function entryOf(line: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' ? [value] : []
  } catch {
    return []
  }
}

function rewrite(entries: readonly string[], paths: HomePaths): void {
  writeFileAtomically(fileIn(paths), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
}

/** A place in what was typed before. */
export interface Recall {
  readonly entries: readonly string[]
  /** `entries.length`: what is being written now. */
  readonly index: number
  /** What was being written when the way back began. */
  readonly draft: string
}

export function recallOf(entries: readonly string[]): Recall {
  return { entries, index: entries.length, draft: '' }
}

/** The next one in this direction that differs from `text`; `undefined` at the end of the way. */
export function recalled(
  recall: Recall,
  text: string,
  by: -1 | 1,
): { readonly recall: Recall; readonly text: string } | undefined {
  const { entries } = recall
  const draft = recall.index === entries.length ? text : recall.draft
  let index = recall.index + by
  while (index >= 0 && index < entries.length && entries[index] === text) index += by
  if (index < 0 || index > entries.length) return undefined
  return { recall: { ...recall, index, draft }, text: entries[index] ?? draft }
}

/** With one more, and back at the end; what was typed twice in a row counts once. */
export function remembered({ entries }: Recall, text: string): Recall {
  return recallOf(entries.at(-1) === text ? entries : [...entries, text].slice(-MOST))
}
