/** A passage read with a question in mind: its words, sentences and windows, and what in it matches the question. */

import type { AnswerKind } from './answer-kind.ts'
import { asksForColumn } from './asked-columns.ts'
import { findCandidates } from './candidates.ts'
import type { Candidate } from './candidate.ts'
import { readContexts } from './context.ts'
import type { Context } from './context.ts'
import { isJson } from './json-units.ts'
import { termMatcher } from './matching.ts'
import type { Match } from './matching.ts'
import type { Passage } from './passage.ts'
import { readRemarks } from './remarks.ts'
import { LIGHT_VERBS, VALUE_NOUNS } from './lexicon.ts'
import { spellLike } from './named.ts'
import { contextOf, namesAnother, otherNames } from './other-names.ts'
import type { Question } from './question.ts'
import { covered, either, strengths } from './share.ts'
import { readUnits } from './sentences.ts'
import { tellingCells } from './telling-cells.ts'
import type { Stretch, Unit } from './unit.ts'
import { readWindows } from './windows.ts'
import type { Window } from './windows.ts'
import { readNames, readWords } from './words.ts'
import type { Word } from './words.ts'

export interface Reading {
  readonly passage: Passage
  /** It is JSON: all of it has the look of code. */
  readonly isData: boolean
  readonly units: readonly Unit[]
  readonly words: readonly Word[]
  /** Cells in a column that the question asks for, and what a remark says first of the name that it asks for. */
  readonly asked: ReadonlySet<Unit>
  /** For each word the term of the question that it stands for, if any. */
  readonly matches: readonly (Match | undefined)[]
  readonly candidates: readonly Candidate[]
  readonly windows: readonly Window[]
  /** For each unit what counts for it besides its own words. */
  readonly contexts: readonly Context[]
  /** For each term how well the title or a heading says it, 0 to 1: a sentence need not repeat it. */
  readonly titleMatches: readonly number[]
}

/** @param limit words of a window at most. */
export function readPassages(question: Question, passages: readonly Passage[], limit: number): Reading[] {
  const match = termMatcher(question)
  return passages.map((passage) => {
    const namesAbove = columnsAbove(passage)
    const units = readUnits(passage.text, {
      isCode: passage.isCode,
      columns: passage.isTable === true ? namesAbove : undefined,
    })
    const isData = isJson(passage.text)
    const spelled = (text: string, words: readonly Word[]): Word[] => spellLike(question.spelling, text, words)
    const words = spelled(
      passage.text,
      isData ? readNames(passage.text) : withinCells(readWords(passage.text), units, passage.text),
    )
    const titleMatches = question.terms.map(() => 0)
    const textAbove = [passage.title ?? '', ...(passage.headings ?? [])].join('\n')
    const above = readWords(textAbove)
    for (const word of spelled(textAbove, above)) {
      const found = match(word)
      if (found !== undefined) titleMatches[found.term] = Math.max(titleMatches[found.term] ?? 0, found.strength)
    }
    const matches = words.map(match)
    const wordsOf = ({ start, end }: Stretch): Word[] => words.slice(...wordRange(words, start, end))
    const saidWithin = ({ start, end }: Stretch): number[] => strengths(question, { matches }, ...wordRange(words, start, end))
    // A column that is asked for by another word says that word: `price_nok` is what something costs.
    const saidBy = (column: readonly Word[], found: readonly number[]): number[] =>
      question.terms.map((term, index) => (asksForColumn(term, column) ? 1 : (found[index] ?? 0)))
    const said = (unit: Unit): number[] => {
      const found = saidWithin(unit)
      return unit.kind === 'columns' ? saidBy(wordsOf(unit), found) : found
    }
    const given = new Map(units.map((unit) => [unit, wordsOf(unit).every(({ stem }) => question.given.has(stem))]))
    const isGiven = (unit: Unit): boolean => given.get(unit) === true
    const columnWords = namesAbove.map((name) => spelled(name, readWords(name)))
    const columns = columnWords.map((name) => saidBy(name, strengths(question, { matches: name.map(match) }, 0, name.length)))
    const inCells = candidatesInCells(question, passage.text, words, units)
    const candidates = [...findCandidates(question, passage.text, words), ...[...inCells.values()].flat()]
    const asked = (name: readonly Word[], found: readonly number[]): number =>
      covered(question, found) +
      (question.words.some((word) => asksForColumn(word, name)) ? 1 : 0) +
      (question.terms.some(({ focus }, term) => focus && found[term] === 1) ? ASKED_FIRST : 0)
    const remarks = readRemarks(passage.text, passage.isCode === true ? units : [], saidWithin)
    // A remark speaks of what is defined below it.
    const contexts = readContexts(question, units, titleMatches, said, columns).map((context, index) => {
      const name = remarks.nameSaid(units[index])
      return name === undefined ? context : { ...context, close: either(context.close, name) }
    })
    const around = new Map(units.map((unit, index) => [unit, contexts[index]?.wide ?? titleMatches]))
    const hasOtherNumber = (name: readonly Word[]): boolean =>
      name.some(({ numeric, stem }) => numeric && !question.given.has(stem))
    const telling = tellingCells(units, {
      said,
      saidAbove: columns,
      around: (cell) => around.get(cell) ?? titleMatches,
      isGiven,
      isOther: ({ start, end }, unsaid) => {
        const [from, to] = wordRange(words, start, end)
        return namesAnother(question, words.slice(from, to), matches.slice(from, to), unsaid)
      },
      hasOtherNumber: (column) => hasOtherNumber(wordsOf(column)),
      otherNumberAbove: columnWords.map(hasOtherNumber),
      dispensable: question.terms.map(({ lower, specific }) => !specific && (LIGHT_VERBS.has(lower) || VALUE_NOUNS.has(lower))),
      numbers: question.terms.map(({ lower }) => /^\d/.test(lower)),
      asked: (column) => asked(wordsOf(column), said(column)),
      askedAbove: columnWords.map((name, index) => asked(name, columns[index] ?? [])),
      look: (cell) =>
        HAS_LOOK.has(question.kind) ? Math.max(0, ...(inCells.get(cell) ?? []).map(({ strength }) => strength)) : 0,
    })
    const isOfAnotherName = otherNames(question, {
      units,
      contexts,
      said: saidWithin,
      wordsOf,
      columns: columnWords,
      above,
    })
    const saysTerm = (window: Window): boolean =>
      [saidWithin(window), ...contextOf(contexts[window.first])].some((found) => found.includes(1))
    const isNumberless = ({ start, end }: Window): boolean => {
      const [from, to] = wordRange(words, start, end)
      return ASKS_NUMBER.has(question.kind) && !candidates.some((one) => one.from >= from && one.to <= to)
    }
    return {
      passage,
      isData,
      units,
      asked: new Set([
        ...[...telling].flatMap(([cell, { isAsked }]) => (isAsked ? [cell] : [])),
        ...units.filter((unit) => question.asksPurpose && remarks.opensAsked(unit)),
      ]),
      words,
      matches,
      contexts,
      candidates: [
        ...candidates,
        ...(question.asksForCode && question.kind === 'manner' ? codeLines(units, words, matches) : []),
      ],
      windows: readWindows(passage.text, units, limit, question.asksForSteps).filter((window) => {
        const { first, last } = window
        const unit = units[first]
        if (unit === undefined || isOfAnotherName(window)) return false
        if (unit.kind === 'row') return telling.has(unit)
        if (question.asksPurpose && passage.isCode === true) {
          if (unit.kind === 'code') return remarks.isAskedAlone(unit)
          if (remarks.goesOnAsked(unit) || !saysTerm(window)) return false
        }
        const next = units[last + 1]
        const namesValue = next?.kind === 'code' && next.block === unit.block && unit.kind !== 'code'
        if (namesValue && (ASKS_AGAIN.test(passage.text.slice(unit.start, window.end)) || isNumberless(window))) return false
        if (first !== last || !isGiven(unit)) return true
        return !namesValue && isSentence(passage.text.slice(Math.max(unit.start, unit.end - 20), unit.end))
      }),
      titleMatches,
    }
  })
}

/** A remark that only says which question the value below it answers. */
const ASKS_AGAIN = /^(?:how|whether|what|which|when|where|who|why)\b[^?]*$/i
const ASKS_NUMBER: ReadonlySet<AnswerKind> = new Set<AnswerKind>(['count', 'quantity'])

/** "Which *gate* has the flight to Lima?" names two columns, and asks for the first. */
const ASKED_FIRST = 0.5

/** `900,295.00` is one number in a sentence, and two cells of a row: no word goes over the border of a cell. */
function withinCells(words: readonly Word[], units: readonly Unit[], text: string): Word[] {
  const borders = units.filter(({ kind }) => kind === 'row').map(({ start }) => start)
  let next = 0
  return words.flatMap((word) => {
    while ((borders[next] ?? Number.POSITIVE_INFINITY) <= word.start) next++
    const from = next
    while ((borders[next] ?? Number.POSITIVE_INFINITY) < word.end) next++
    if (next === from) return [word]
    const edges = [word.start, ...borders.slice(from, next), word.end]
    return edges.slice(1).flatMap((end, index) => {
      const start = edges[index] ?? word.start
      return readWords(text.slice(start, end)).map((part) => ({ ...part, start: part.start + start, end: part.end + start }))
    })
  })
}

/** Those that, read across the border of a cell, would be part of something longer. */
function candidatesInCells(
  question: Question,
  text: string,
  words: readonly Word[],
  units: readonly Unit[],
): ReadonlyMap<Unit, readonly Candidate[]> {
  const cells = units.filter(({ kind }) => kind === 'row')
  return new Map(
    cells.map((cell) => {
      const [first, end] = wordRange(words, cell.start, cell.end)
      const found = findCandidates(question, text, words.slice(first, end))
      return [cell, found.map(({ from, to, strength }) => ({ from: from + first, to: to + first, strength }))]
    }),
  )
}

/** Of other kinds only words that announce an answer are known. */
const HAS_LOOK: ReadonlySet<AnswerKind> = new Set<AnswerKind>(['person', 'name', 'place', 'time', 'count', 'quantity'])

/** Lines of code that say something of the question: each of them is what "how do I …" may ask for. */
function codeLines(units: readonly Unit[], words: readonly Word[], matches: Reading['matches']): Candidate[] {
  return units
    .filter(({ kind }) => kind === 'code')
    .map(({ start, end }) => wordRange(words, start, end))
    .filter(([from, to]) => matches.slice(from, to).some((match) => match !== undefined))
    .map(([from, to]) => ({ from, to, strength: CODE_LINE }))
}

const CODE_LINE = 0.7

/** What is no sentence, and says nothing that the question does not say, is a title and no answer; so is a remark that names a value. */
function isSentence(text: string): boolean {
  return /[\p{Sentence_Terminal}:;]["'”’)\]]*$/u.test(text)
}

/** A part of a table from which the names of the columns were cut off has them as its heading. */
function columnsAbove({ headings }: Passage): string[] {
  const names = headings?.at(-1)?.split(', ') ?? []
  return names.length > 1 ? names : []
}

/** Indexes of the words that begin within a range of the text, end exclusive. */
export function wordRange(words: readonly Word[], start: number, end: number): [from: number, to: number] {
  return [firstFrom(words, start), firstFrom(words, end)]
}

function firstFrom(words: readonly Word[], at: number): number {
  let low = 0
  let high = words.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((words[middle]?.start ?? 0) < at) low = middle + 1
    else high = middle
  }
  return low
}
