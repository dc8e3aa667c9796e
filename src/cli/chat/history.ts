/** Stores the messages that the user types, across sessions, in a file that only its owner can read, and searches them. */

import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeHomeFolder } from '../../app/paths.ts'
import type { HomePaths } from '../../app/paths.ts'
import { writeFileAtomically } from '../../util/files.ts'

/** Entries that are kept; the file is cut when it holds twice as many. */
const MOST_ENTRIES = 1000
/** Characters above which a message is not stored. */
const MAX_ENTRY = 20_000

const fileIn = (paths: HomePaths): string => join(paths.home, 'cria.history')
const lineOf = (entry: string): string => `${JSON.stringify(entry)}\n`

/** Reads the stored messages, oldest first; none without a readable file, which must not prevent a chat. */
export async function readHistory(paths: HomePaths): Promise<readonly string[]> {
  try {
    // Reading a named pipe would block.
    if (!(await stat(fileIn(paths))).isFile()) return []
    const lines = (await readFile(fileIn(paths), 'utf8')).split('\n')
    const entries = lines.flatMap(entryOf).slice(-MOST_ENTRIES)
    if (lines.length > 2 * MOST_ENTRIES) writeFileAtomically(fileIn(paths), entries.map(lineOf).join(''))
    return entries
  } catch {
    return []
  }
}

/** Appends a message; several processes may do so at the same time. */
export async function keepInHistory(text: string, paths: HomePaths): Promise<void> {
  if (text.length > MAX_ENTRY) return
  try {
    makeHomeFolder(paths)
    await appendFile(fileIn(paths), lineOf(text), { mode: 0o600 })
  } catch {
    // The journal reports a full disk.
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

/** A position in the earlier messages. */
export interface Recall {
  readonly entries: readonly string[]
  /** Index of the shown entry; `entries.length`: the draft. */
  readonly index: number
  /** The text that the user was writing before going back. */
  readonly draft: string
}

export function recallOf(entries: readonly string[], draft = ''): Recall {
  return { entries, index: entries.length, draft }
}

/** Adds a message and returns to the end; a message that repeats the last one is not added. */
export function remembered({ entries }: Recall, text: string): Recall {
  return recallOf(entries.at(-1) === text ? entries : [...entries, text].slice(-MOST_ENTRIES))
}

/** Returns the entry at the position, or the draft. */
export function textAt({ entries, index, draft }: Recall): string {
  return entries[index] ?? draft
}

/** Moves to the next entry in this direction that differs from `text`; `undefined` at the end. */
export function recalled(recall: Recall, text: string, by: -1 | 1): Recall | undefined {
  const { entries } = recall
  let index = recall.index + by
  while (entries[index] === text) index += by
  if (index < 0 || index > entries.length) return undefined
  return { ...recall, index, draft: recall.index === entries.length ? text : recall.draft }
}

/** A backward search through the entries, as Ctrl-R in a shell. */
export interface Search extends Recall {
  readonly query: string
  /** There is no older match: the position is that of the last match. */
  readonly isExhausted: boolean
}

/** Changes the query. A longer query keeps the shown entry if it still matches; another query searches from the newest entry. */
export function withQuery(search: Search, query: string): Search {
  return searchedFrom({ ...search, query }, query.startsWith(search.query) ? search.index : search.entries.length - 1)
}

/** Moves to the next older match that differs from the shown entry. */
export function older(search: Search): Search {
  const next = recalled(search, textAt(search), -1)
  return searchedFrom(search, next?.index ?? -1)
}

function searchedFrom(search: Search, from: number): Search {
  if (search.query === '') return { ...search, isExhausted: false }
  const wanted = search.query.toLowerCase()
  const index = search.entries.slice(0, from + 1).findLastIndex((entry) => entry.toLowerCase().includes(wanted))
  return index === -1 ? { ...search, isExhausted: true } : { ...search, index, isExhausted: false }
}
