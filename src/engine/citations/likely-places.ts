/** In which places of a passage a statement is most likely to stand: those that most of its words vote for. */

import type { Comparison, PassageText, Place, RowNumber, Sentence } from './comparison.ts'
import { foldedWords, headOf } from './comparison.ts'
import type { ContentWord } from './content-words.ts'
import { rowsOfLetters } from './key-letters.ts'

/**
 * Votes counted for one statement, those of rare words first. A bound on the cost where common words stand in thousands of sentences:
 * what it leaves out are the votes of the most common words. The made citations do not come near it.
 */
const MOST_VOTES = 600
/** Sentences that are read, each alone and with either neighbour: a bound on the cost. */
const MOST_PLACES = 6
/** Rows that are read: more than sentences, since what other rows have is held against one. A bound on the cost. */
const MOST_ROWS = 60
/** Cells of these rows, so that wide tables cost no more; and rows that are read however wide they are. */
const MOST_CELLS = 1000
const FEWEST_ROWS = 8
/** Words of the statement that are looked up should their votes be past the bound. */
const MOST_LOOKED_UP = 6
/** Ranks a sentence that is only known by such a word behind all that have a vote. */
const LESS_THAN_A_VOTE = 0.5

export interface LikelyPlaces {
  /** Best first; one sentence, or two together. */
  readonly sentences: readonly Place[]
  /** Rows of tables, each for itself, those of one table in their order. */
  readonly rows: readonly LikelyRow[]
}

export interface LikelyRow {
  readonly place: Place
  readonly number: RowNumber
}

export function likelyPlaces(
  comparison: Comparison,
  passage: PassageText,
  words: readonly ContentWord[],
  said: Place,
): LikelyPlaces {
  const sentences = passage.places()
  const votes = votesOf(comparison, passage, words)
  for (const index of rowsOfLetters(comparison, passage, said)) votes.set(index, (votes.get(index) ?? 0) + 1)
  for (const { at } of words.slice(0, MOST_LOOKED_UP)) {
    const run = comparison.run(passage, at, at + 1)
    if (run === undefined) continue
    const sentence = passage.placeAt(run.first)
    if (!votes.has(sentence)) votes.set(sentence, LESS_THAN_A_VOTE)
  }
  const best = [...votes].sort(([a, x], [b, y]) => y - x || a - b).map(([index]) => index)
  const tables = passage.tables()
  let cells = 0
  const rows = best
    .filter((index) => sentences[index]?.row?.row !== undefined)
    .slice(0, MOST_ROWS)
    .filter((index, at) => {
      const { table = 0, row = 0 } = sentences[index]?.row ?? {}
      cells += tables[table]?.rows[row]?.cells.length ?? 0
      return at < FEWEST_ROWS || cells <= MOST_CELLS
    })
    .sort((a, b) => a - b)
    .flatMap((index): LikelyRow[] => {
      const place = sentences[index]
      return place?.row === undefined ? [] : [{ place, number: place.row }]
    })
  // The names of the columns say nothing of any row, and something only where none is meant.
  const isSaid = ({ row }: Sentence): boolean => row === undefined || !rows.some(({ number }) => number.table === row.table)
  const proseAt = (index: number): Place | undefined => (sentences[index]?.row === undefined ? sentences[index] : undefined)
  const places = best.filter((index) => sentences[index] !== undefined && isSaid(sentences[index])).slice(0, MOST_PLACES)
  return {
    rows,
    sentences: places.flatMap((index) => {
      const own = sentences[index]
      if (own === undefined) return []
      if (own.row !== undefined) return [own]
      const next = proseAt(index + 1)
      const before = proseAt(index - 1)
      return [
        own,
        ...(next === undefined ? [] : [{ from: own.from, to: next.to }]),
        ...(before === undefined ? [] : [{ from: before.from, to: own.to }]),
      ]
    }),
  }
}

/** How many words each sentence has, or such as begin like them. */
function votesOf({ answer }: Comparison, passage: PassageText, words: readonly ContentWord[]): Map<number, number> {
  const lists = words
    .map(({ at }) => foldedWords(answer, at, at + 1)[0] ?? '')
    .map((word) => passage.placesOf(headOf(word)))
    .filter((list) => list.length > 0)
    .sort((a, b) => a.length - b.length)
  const votes = new Map<number, number>()
  let left = MOST_VOTES
  for (const list of lists) {
    for (const sentence of list.slice(0, left)) votes.set(sentence, (votes.get(sentence) ?? 0) + 1)
    left -= list.length
    if (left <= 0) break
  }
  return votes
}
