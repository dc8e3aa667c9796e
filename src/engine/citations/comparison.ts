/** One answer beside its passages: the words of both, numbered alike, and where they agree. */

import type { Retrieved } from '../../core/message.ts'
import { buildAutomaton, readThrough, runFrom } from './automaton.ts'
import type { Automaton, Occurrence, Run } from './automaton.ts'
import type { Range } from './range.ts'
import { sentencesOf } from './sentences.ts'
import { tablesIn } from './tables.ts'
import type { Table } from './tables.ts'
import { foldToken, tokensOf } from './tokens.ts'

/** Words of a text with their places. */
export interface Words {
  readonly text: string
  /** Numbers of the folded words; -1 in a passage for one that the answer does not have. */
  readonly ids: readonly number[]
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** A sentence of a passage, or a piece of a very long one; places are numbers of words. */
export interface Place {
  readonly from: number
  readonly to: number
}

/** A place as the passage has it: a sentence, or a row of a table. */
export interface Sentence extends Place {
  readonly row?: RowNumber
}

/** Numbers of the table and of its row; without one it is the row that names the columns. */
export interface RowNumber {
  readonly table: number
  readonly row: number | undefined
}

export interface PassageText extends Words {
  readonly retrieved: Retrieved
  /** What it holds of each state of the answer's automaton. */
  readonly found: ReadonlyMap<number, Occurrence>
  readonly places: () => readonly Sentence[]
  /** The number of the sentence that a word is in. */
  readonly placeAt: (word: number) => number
  /** For the beginning of a word, the sentences that have such words. */
  readonly placesOf: (head: string) => readonly number[]
  readonly tables: () => readonly Table[]
  /** The names of the columns of a table whose head is not in the passage. */
  readonly columnsAbove: readonly string[] | undefined
}

export interface Comparison {
  readonly answer: Words
  /** By marker. */
  passage(marker: string): PassageText | undefined
  readonly markers: readonly string[]
  /** The words of the answer within a range of its text. */
  wordsIn(range: Range): Place
  run(passage: PassageText, from: number, to: number): Run | undefined
  /** Steps taken so far, for tests. */
  readonly steps: () => number
}

const LONGEST_PLACE = 120
const HEAD = 4

/** Words that begin alike may be forms of one word. */
export function headOf(word: string): string {
  return word.slice(0, HEAD)
}

/** @param skipped ranges of the answer that are no words of it: its markers. */
export function compare(answer: string, skipped: readonly Range[], passages: readonly Retrieved[]): Comparison {
  const vocabulary = new Map<string, number>()
  const heads = new Set<string>()
  let steps = 0
  const words = wordsOfAnswer(answer, skipped, (word) => {
    heads.add(headOf(word))
    const known = vocabulary.get(word)
    if (known !== undefined) return known
    vocabulary.set(word, vocabulary.size)
    return vocabulary.size - 1
  })
  steps += words.ids.length
  const automaton = buildAutomaton(words.ids)
  const byMarker = new Map(passages.map((passage) => [passage.marker, passage]))
  const read = new Map<string, PassageText>()
  return {
    answer: words,
    markers: [...byMarker.keys()],
    steps: () => steps,
    passage(marker) {
      const known = read.get(marker)
      const retrieved = byMarker.get(marker)
      if (known !== undefined || retrieved === undefined) return known
      const passage = readPassage(retrieved, automaton, vocabulary, heads, (count) => (steps += count))
      read.set(marker, passage)
      return passage
    },
    wordsIn: ({ start, end }) => ({ from: firstAt(words.starts, start), to: firstAt(words.starts, end) }),
    run(passage, from, to) {
      const run = runFrom(automaton, words.ids, passage.found, from, to)
      steps += run === undefined ? 1 : run.to - run.from + 1
      return run
    },
  }
}

function wordsOfAnswer(text: string, skipped: readonly Range[], number: (word: string) => number): Words {
  const ids: number[] = []
  const starts: number[] = []
  const ends: number[] = []
  let next = 0
  for (const { start, end } of tokensOf(text)) {
    while ((skipped[next]?.end ?? Infinity) <= start) next++
    if ((skipped[next]?.start ?? Infinity) <= start) continue
    ids.push(number(foldToken(text.slice(start, end))))
    starts.push(start)
    ends.push(end)
  }
  return { text, ids, starts, ends }
}

function readPassage(
  retrieved: Retrieved,
  automaton: Automaton,
  vocabulary: ReadonlyMap<string, number>,
  heads: ReadonlySet<string>,
  count: (steps: number) => void,
): PassageText {
  const { text } = retrieved.chunk
  const ids: number[] = []
  const starts: number[] = []
  const ends: number[] = []
  // Words of which the answer has some that begin alike.
  const alike: [head: string, word: number][] = []
  for (const { start, end } of tokensOf(text)) {
    const word = foldToken(text.slice(start, end))
    const head = headOf(word)
    if (heads.has(head)) alike.push([head, ids.length])
    ids.push(vocabulary.get(word) ?? -1)
    starts.push(start)
    ends.push(end)
  }
  count(ids.length)
  const columnsAbove = columnNamesIn(retrieved.chunk.headings?.at(-1))
  let tables: readonly Table[] | undefined
  const readTables = (): readonly Table[] => (tables ??= tablesIn(text, columnsAbove))
  let places: readonly Sentence[] | undefined
  let placeEnds: readonly number[] | undefined
  let index: Map<string, number[]> | undefined
  const readPlaces = (): readonly Sentence[] => (places ??= placesIn(text, starts, readTables()))
  return {
    retrieved,
    text,
    ids,
    starts,
    ends,
    found: readThrough(automaton, ids, count),
    places: readPlaces,
    tables: readTables,
    columnsAbove,
    placeAt: (word) => firstAt((placeEnds ??= readPlaces().map(({ to }) => to)), word + 1),
    placesOf(head) {
      if (index === undefined) {
        index = new Map()
        const list = readPlaces()
        let at = 0
        for (const [key, word] of alike) {
          while ((list[at]?.to ?? Infinity) <= word) at++
          const known = index.get(key)
          if (known === undefined) index.set(key, [at])
          else if (known.at(-1) !== at) known.push(at)
        }
        count(alike.length)
      }
      return index.get(head) ?? []
    },
  }
}

/** Chunks name the columns of a table that was cut as their last heading. */
function columnNamesIn(heading: string | undefined): string[] | undefined {
  const names = heading?.split(heading.includes(' | ') ? ' | ' : ', ') ?? []
  return names.length > 1 ? names : undefined
}

/** The sentences of what is prose; the rows of what are tables, each alone. */
function placesIn(text: string, starts: readonly number[], tables: readonly Table[]): Sentence[] {
  const places: Sentence[] = []
  let from = 0
  let at = 0
  const upTo = (end: number): number => firstAt(starts, end)
  const addProse = (end: number): void => {
    for (const sentence of at < end ? sentencesOf(text.slice(at, end)) : []) {
      const to = upTo(at + sentence.end)
      for (; from < to; from = Math.min(to, from + LONGEST_PLACE)) places.push({ from, to: Math.min(to, from + LONGEST_PLACE) })
    }
  }
  for (const [table, { header, rows }] of tables.entries()) {
    const lines = rows.map((range, row): { range: Range; row: RowNumber } => ({ range, row: { table, row } }))
    if (header !== undefined) lines.push({ range: header, row: { table, row: undefined } })
    for (const { range, row } of lines.sort((a, b) => a.range.start - b.range.start)) {
      addProse(range.start)
      const to = upTo(range.end)
      if (from < to) places.push({ from, to, row })
      from = to
      at = range.end
    }
  }
  addProse(text.length)
  return places
}

/** The first place in an ascending list that is not below a value. */
function firstAt(ascending: readonly number[], value: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Folded words of a text, from one of its words to another. */
export function foldedWords({ text, starts, ends }: Words, from: number, to: number): string[] {
  const words: string[] = []
  for (let at = from; at < to; at++) words.push(foldToken(text.slice(starts[at], ends[at])))
  return words
}
