/** Keeps the messages that were typed, over sessions, in a file that only its owner reads, and finds the one before. */

import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeHomeFolder } from '../../app/paths.ts'
import type { HomePaths } from '../../app/paths.ts'
import { writeFileAtomically } from '../../util/files.ts'

/** Entries that are kept; the file may hold twice as many before it is cut. */
const MOST = 1000
const LONGEST = 20_000

const fileIn = (paths: HomePaths): string => join(paths.home, 'cria.history')
const lineOf = (entry: string): string => `${JSON.stringify(entry)}\n`

/** Oldest first; empty where there is no file, or none that can be read: nobody is kept from talking by that. */
export async function readHistory(paths: HomePaths): Promise<readonly string[]> {
  try {
    // Never wait for a pipe that stands there.
    if (!(await stat(fileIn(paths))).isFile()) return []
    const lines = (await readFile(fileIn(paths), 'utf8')).split('\n')
    const entries = lines.flatMap(entryOf).slice(-MOST)
    if (lines.length > 2 * MOST) writeFileAtomically(fileIn(paths), entries.map(lineOf).join(''))
    return entries
  } catch {
    return []
  }
}

/** Adds one; several sessions may do so at the same time. */
export async function keepInHistory(text: string, paths: HomePaths): Promise<void> {
  if (text.length > LONGEST) return
  try {
    makeHomeFolder(paths)
    await appendFile(fileIn(paths), lineOf(text), { mode: 0o600 })
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

/** A place in what was typed before. */
export interface Recall {
  readonly entries: readonly string[]
  /** The entry that is shown; `entries.length`: what is being written now. */
  readonly index: number
  /** What was being written when the way back began. */
  readonly draft: string
}

export function recallOf(entries: readonly string[], draft = ''): Recall {
  return { entries, index: entries.length, draft }
}

/** With one more, and back at the end; what was typed twice in a row counts once. */
export function remembered({ entries }: Recall, text: string): Recall {
  return recallOf(entries.at(-1) === text ? entries : [...entries, text].slice(-MOST))
}

/** The text that stands at this place. */
export function textAt({ entries, index, draft }: Recall): string {
  return entries[index] ?? draft
}

/** The next place in this direction that says something else than `text`; `undefined` at the end of the way. */
export function recalled(recall: Recall, text: string, by: -1 | 1): Recall | undefined {
  const { entries } = recall
  let index = recall.index + by
  while (entries[index] === text) index += by
  if (index < 0 || index > entries.length) return undefined
  return { ...recall, index, draft: recall.index === entries.length ? text : recall.draft }
}

/** Looks back through what was typed, as Ctrl-R does in a shell. */
export interface Search extends Recall {
  readonly query: string
  /** Nothing (more) was found: the place is the last that was. */
  readonly isLost: boolean
}

/** What is found with another query: the entry that is shown already, if the query is longer and fits it. */
export function withQuery(search: Search, query: string): Search {
  return lookedFrom({ ...search, query }, query.startsWith(search.query) ? search.index : search.entries.length - 1)
}

/** The next older entry that fits and says something else. */
export function older(search: Search): Search {
  const next = recalled(search, textAt(search), -1)
  return lookedFrom(search, next?.index ?? -1)
}

function lookedFrom(search: Search, from: number): Search {
  if (search.query === '') return { ...search, isLost: false }
  const wanted = search.query.toLowerCase()
  const index = search.entries.slice(0, from + 1).findLastIndex((entry) => entry.toLowerCase().includes(wanted))
  return index === -1 ? { ...search, isLost: true } : { ...search, index, isLost: false }
}
