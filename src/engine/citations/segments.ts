/** A statement in parts, and what its words say in each: which of them speak of what is left out, and which parts deny. */

import type { Comparison, Place } from './comparison.ts'
import { foldedWords } from './comparison.ts'
import { contrastOf, denialAt, saysLacking } from './lexicon.ts'
import { isNumber } from './tokens.ts'
import { monthOf, termsOf } from './terms.ts'
import type { Term } from './terms.ts'

export interface Item extends Term {
  /** As it stands in the answer. */
  readonly said: string
  /** Number of the part it stands in. */
  readonly part: number
  readonly opens: boolean
}

export interface Parts {
  readonly items: readonly Item[]
  /** All of them and what is compared with: the name behind `than`. */
  readonly compared: readonly Item[]
  /** For each part, whether it denies something. */
  readonly denies: readonly boolean[]
  /** Words that deny as well, unless they name a column: `SSO is missing`. */
  readonly lacking: readonly { readonly word: string; readonly part: number }[]
  /** For each part, whether it is set against the one before: `but`, `than`. */
  readonly isContrasted: readonly boolean[]
  /** Folded, all of them; the first is this word of the answer. */
  readonly words: readonly string[]
  readonly from: number
  /** The part of a word of the answer. */
  readonly partOf: (word: number) => number
}

const JOINT =
  /[,;:](?=\s)|[()–—，；、]|\s(?:and|but|while|whereas|than|versus|vs|und|aber|während|et|mais|tandis que|y|pero|mientras)(?=[\s.])/giu
const CONTRASTING = /but|while|whereas|than|versus|vs|aber|während|mais|tandis|pero|mientras/i
/** What is named behind these is what a statement is not about. */
const LEFT_OUT =
  /^(?:outside|except|excepting|excluding|besides|unlike|than|außer|ausser|außerhalb|ausgenommen|anders|sauf|hormis|hors|excepto|salvo|fuera)$/
const COMPARING = /^(?:than|unlike)$/
/** Words between a day and the name of its month. */
const DATE_REACH = 3
/** Words behind such a word that it leaves out. */
const LEFT_OUT_REACH = 3

export function partsOf({ answer }: Comparison, said: Place): Parts {
  const { text, starts, ends } = answer
  const words = foldedWords(answer, said.from, said.to)
  const start = starts[said.from] ?? 0
  const joints = [...text.slice(start, ends[said.to - 1] ?? start).matchAll(JOINT)].map(({ index, 0: joint }) => ({
    at: start + index + 1,
    joint,
  }))
  let part = 0
  const parts = words.map((_, index) => {
    while ((joints[part]?.at ?? Infinity) <= (starts[said.from + index] ?? 0)) part++
    return part
  })
  const partAt = (word: number): number => parts[word - said.from] ?? 0
  const denies = Array.from({ length: joints.length + 1 }, () => false)
  const lacking: { word: string; part: number }[] = []
  const leftOut = new Set<number>()
  const compared = new Set<number>()
  for (const [index, word] of words.entries()) {
    const at = said.from + index
    if (denialAt(words, index) !== undefined) denies[partAt(at)] = true
    if (saysLacking(word)) lacking.push({ word, part: partAt(at) })
    if (!LEFT_OUT.test(word)) continue
    const own = partAt(at + 1)
    for (let next = at; next <= at + LEFT_OUT_REACH && (next === at || partAt(next) === own); next++) {
      leftOut.add(next)
      if (COMPARING.test(word) && next > at) compared.add(next)
    }
  }
  const isOfDate = (index: number): boolean => {
    const around = words.slice(Math.max(0, index - DATE_REACH), index + DATE_REACH + 1)
    const at = said.from + index
    const isJoined = (next: number): boolean => /^[-/.]$/.test(text.slice(ends[next - 1], starts[next]))
    return around.some((word) => monthOf(word) !== undefined) || isJoined(at) || isJoined(at + 1)
  }
  const isDateMay = (index: number): boolean =>
    words[index] === 'may' && (isNumber(words[index - 1] ?? '') || isNumber(words[index + 1] ?? ''))
  const may = [...words.keys()].filter(isDateMay).map((index): Term => {
    return { word: 'may', kind: 'name', at: said.from + index, parts: ['may'], isCapital: true }
  })
  const all = [...termsOf(answer, said), ...may]
    .filter(({ at, kind }) => kind === 'number' || !leftOut.has(at) || compared.has(at))
    .sort((a, b) => a.at - b.at)
    .map((term): Item => {
      const last = term.kind === 'code' ? term.at + term.parts.length - 1 : term.at
      return {
        ...term,
        said: text.slice(starts[term.at], ends[last]),
        part: partAt(term.at),
        opens: term.at === said.from,
        isOfDate: isOfDate(term.at - said.from),
      }
    })
  const isContrasted = [false, ...joints.map(({ joint }) => CONTRASTING.test(joint))]
  const items = all.filter(({ at, kind }) => kind === 'number' || !leftOut.has(at))
  return { items, compared: all, denies, lacking, isContrasted, words, from: said.from, partOf: partAt }
}

/** Whether two words are contraries. */
export function areContrary(a: string, b: string): boolean {
  const one = contrastOf(a)
  const other = contrastOf(b)
  return one !== undefined && other !== undefined && one[0] === other[0] && one[1] !== other[1]
}
