/**
 * Records that are called by a letter or two: `grade B`, `zone x`, `C#`. In a sentence such letters are words that say nothing, initials and
 * units; they are names only where a table has them as whole cells.
 */

import type { Comparison, PassageText, Place, Words } from './comparison.ts'
import { foldedWords, headOf } from './comparison.ts'
import { isParticle, isStopWord } from './lexicon.ts'
import { spansOf } from './mentions.ts'
import { cellHas } from './records.ts'
import type { Cell, View } from './records.ts'
import type { Item, Parts } from './segments.ts'
import { isLetter } from './terms.ts'
import { isNumber, isSingle } from './tokens.ts'
import { bagHasFormOf } from './word-forms.ts'

const MARK = /^(?:\+\+|[+#*]|-(?![\p{L}\p{N}]))/u
/** Sentences and rows with such a letter that are looked at: a bound on the cost, as `a` may stand in all of them. */
const MOST_LOOKED_AT = 2000
/** Characters around a letter that are looked at. */
const AROUND = 4

interface Letter {
  /** As it stands there, with its mark. */
  readonly said: string
  readonly word: string
  readonly at: number
  readonly before: string | undefined
  readonly after: string | undefined
  /** It may be a word or an ending: it counts only behind the name of its column. */
  readonly isDoubtful: boolean
  /** It stands in brackets by itself. */
  readonly isAside: boolean
  /** It is likely an article, wherever it stands. */
  readonly isArticle: boolean
}

function lettersIn(answer: Words, said: Place): Letter[] {
  const { text, starts, ends } = answer
  const words = foldedWords(answer, said.from, said.to)
  return words.flatMap((word, index): Letter[] => {
    const at = said.from + index
    const end = ends[at] ?? 0
    const own = text.slice(starts[at], end)
    if (!/^\p{L}{1,2}$/u.test(own)) return []
    const behind = text.slice(end, end + AROUND)
    const before = text.slice(Math.max(0, (starts[at] ?? 0) - AROUND), starts[at])
    if (/['’]$/.test(before) || /^['’](?!s\b)/.test(behind)) return []
    const isSubject = goesOn(words[index + 1], behind)
    const isAside = before.endsWith('(') && behind.startsWith(')')
    const isName = isCapitals(own) || (/^\p{Lu}/u.test(own) && !opens(index, before))
    return [
      {
        said: own + (MARK.exec(behind)?.[0] ?? ''),
        word,
        at,
        before: words[index - 1],
        after: words[index + 1],
        isAside,
        isDoubtful:
          isPartOfMore(before, behind, own) ||
          (!isAside && isNumber(words[index - 1] ?? '')) ||
          (isStopWord(word) && !isAside && !(isName && (own !== 'I' || isSubject) && (!opens(index, before) || isSubject))),
        isArticle: isStopWord(word) && !isName && !isSubject,
      },
    ]
  })
}

function isCapitals(word: string): boolean {
  return word === word.toUpperCase() && word !== word.toLowerCase()
}

function opens(index: number, before: string): boolean {
  return index === 0 || /[.!?:“„«"(]\s*$/.test(before)
}

/** `U.S.`, `J. Smith`, `20 °C`; a character within a word of a script without spaces. */
function isPartOfMore(before: string, behind: string, own: string): boolean {
  if (isSingle(own)) {
    const next = behind.slice(0, 1)
    return (isSingle(before.slice(-1)) && !/[和与及或是在]$/.test(before)) || (isSingle(next) && !isParticle(next))
  }
  return /(?:\p{L}\.|[°\d])$/u.test(before) || /^\.(?:\p{L}|\s\p{Lu})/u.test(behind)
}

/** Behind a name goes on what is said of it, behind an article what it is the article of: `A costs`, `A hotel`. */
function goesOn(next: string | undefined, behind: string): boolean {
  if (next === undefined || /^\s*[,;:)=–—]/.test(behind) || MARK.test(behind)) return true
  return /[^aious]s$/.test(next) || /^(?:is|has|was|goes|and|or|und|et|y|oder|ou|kostet|hat|ist|coûte|cuesta)$/.test(next)
}

/** The rows that have one of the letters of a statement as a whole cell. */
export function rowsOfLetters({ answer }: Comparison, passage: PassageText, said: Place): number[] {
  const tables = passage.tables()
  if (tables.length === 0) return []
  const sentences = passage.places()
  const letters = new Map(lettersIn(answer, said).map((letter) => [letter.said, letter.word]))
  return [...letters].flatMap(([own, word]) =>
    passage
      .placesOf(headOf(word))
      .slice(0, MOST_LOOKED_AT)
      .filter((index) => {
        const row = sentences[index]?.row
        const cells = row?.row === undefined ? [] : (tables[row.table]?.rows[row.row]?.cells ?? [])
        return cells.some(({ start, end }) => end - start <= own.length + AROUND && isCalled(passage.text.slice(start, end), own))
      }),
  )
}

function isCalled(cell: string, letter: string): boolean {
  return areAlike(cell.replaceAll(/["*`]/g, '').trim(), letter)
}

function areAlike(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

/** The letters by which a statement names a record or a column count among its words. */
export function withLetters(answer: Words, said: Place, parts: Parts, view: View, records: View['records']): Parts {
  const letters = lettersIn(answer, said)
  if (letters.length === 0) return parts
  const columns = columnsOfLetters(view, records)
  const found = new Map<number, Letter & { readonly key: string }>()
  const taken = new Set(
    parts.items.flatMap(({ at, kind, parts: all }) =>
      kind === 'pair' ? [] : kind === 'code' ? all.map((_, next) => at + next) : [at],
    ),
  )
  const firsts = [...records.map(({ cells }) => cells[0]), ...view.names]
  for (const letter of letters) {
    if (taken.has(letter.at)) continue
    const key =
      letter.isArticle || !isBehindName(letter, view, columns, found)
        ? letter.isDoubtful
          ? undefined
          : firsts.find((cell) => cell !== undefined && isLetter(cell) && cell.text === letter.said)?.text
        : namedBy(letter, columns, records)
    if (key === undefined || isWithinName(letter, records, parts) || isOtherName(letter, records, parts)) continue
    found.set(letter.at, { ...letter, key })
  }
  for (const at of found.keys()) {
    const other = [at + 1, at + 2].find((next) => found.has(next))
    if (other === undefined || !isRange(answer, at, other)) continue
    // Who is between them is not known.
    found.delete(at)
    found.delete(other)
  }
  if (found.size === 0) return parts
  const items = [...found.values()].map(({ key, word, at, said: own }): Item => {
    const isCapital = /^\p{Lu}/u.test(own)
    const part = parts.partOf(at)
    return { word, kind: 'letter', at, parts: [key], isCapital, said: own, part, opens: at === said.from, isOfDate: false }
  })
  return { ...parts, items: [...parts.items, ...items].sort((a, b) => a.at - b.at) }
}

function isRange({ text, starts, ends }: Words, from: number, to: number): boolean {
  return /^\s?(?:[-–—]|to|through|bis|à|hasta)\s?$/.test(text.slice(ends[from], starts[to]))
}

/** `Plan B Media`, which is a name of its own. */
function isWithinName({ word, at }: Letter, records: View['records'], parts: Parts): boolean {
  const index = at - parts.from
  const isOver = ({ words }: Cell): boolean =>
    words.length > 1 && words.includes(word) && spansOf(words, parts.words).some(([from, to]) => from <= index && index < to)
  return records.some(({ cells }) => cells.some((cell) => !isLetter(cell) && isOver(cell)))
}

/** `oxygen (O)` is one thing, where a row says so. */
function isOtherName({ isAside, said, at }: Letter, records: View['records'], parts: Parts): boolean {
  const before = parts.items.find((item) => item.at === at - 1)
  if (!isAside || before === undefined) return false
  const has = (cells: readonly Cell[], test: (cell: Cell) => boolean): boolean => cells.some((cell) => test(cell))
  return records.some(
    ({ cells }) => has(cells, (cell) => isLetter(cell) && cell.text === said) && has(cells, (cell) => cellHas(cell, before)),
  )
}

/** `zone b`; and of `zones b and c` the second too. */
function isBehindName(letter: Letter, view: View, columns: readonly number[], found: ReadonlyMap<number, Letter>): boolean {
  if (
    found.has(letter.at - 1) ||
    (/^(?:and|or|to|und|oder|bis|et|ou|à|y|o)$/.test(letter.before ?? '') && found.has(letter.at - 2))
  )
    return columns.length > 0
  const isNamed = (word: string | undefined, { bag }: Cell): boolean => word !== undefined && bagHasFormOf(bag, word)
  return columns.some((column) => {
    const name = view.names[column]
    return name !== undefined && (isNamed(letter.before, name) || (isSingle(letter.word) && isNamed(letter.after, name)))
  })
}

function columnsOfLetters(view: View, records: View['records']): number[] {
  return [...view.names.keys()].filter((column) =>
    records.some(({ cells }) => cells[column] !== undefined && isLetter(cells[column])),
  )
}

/** As the table writes it; a capital that no row has is a name too, of which nothing is said there. */
function namedBy(letter: Letter, columns: readonly number[], records: View['records']): string | undefined {
  const keys = columns.flatMap((column) => records.flatMap(({ cells }) => cells[column] ?? []))
  const same = keys.filter((cell) => isLetter(cell)).map(({ text }) => text)
  const exact = same.find((text) => text === letter.said) ?? same.find((text) => areAlike(text, letter.said))
  return exact ?? (isCapitals(letter.said.slice(0, 1)) && !letter.isDoubtful ? letter.said : undefined)
}
