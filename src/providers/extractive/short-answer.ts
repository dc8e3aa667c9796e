/** The few words of a quote that answer, where the question asks for something that has a look: a name, a place, a time, a number. */

import type { AnswerKind } from './answer-kind.ts'
import { bestCandidate } from './nearness.ts'
import { readQuestion } from './question.ts'
import { readPassages } from './reading.ts'
import type { Reading } from './reading.ts'

const WITH_A_LOOK: ReadonlySet<AnswerKind> = new Set(['person', 'name', 'place', 'time', 'count', 'quantity'])
/** A candidate that looks less like the kind is not worth showing alone. */
const GOOD_LOOK = 0.5

/** Words of `quote`, or `undefined` where the question asks for something else, or nothing there looks like it. */
export function shortAnswer(question: string, quote: string): string | undefined {
  const read = readQuestion(question)
  if (!WITH_A_LOOK.has(read.kind)) return undefined
  const [reading] = readPassages(read, [{ marker: '', text: quote, score: 1 }], Number.POSITIVE_INFINITY)
  if (reading === undefined) return undefined
  const { candidate } = bestCandidate(read, reading, 0, reading.words.length)
  if (candidate === undefined || candidate.strength < GOOD_LOOK) return undefined
  return spell(reading, candidate.from, candidate.to, read.kind)
}

const MAGNITUDE = /^\s*(?:thousand|million|billion|trillion|percent|per cent|%|°\s?[CF]?)/i

function spell({ passage: { text }, words }: Reading, from: number, to: number, kind: AnswerKind): string | undefined {
  const first = words[from]
  const last = words[to - 1]
  if (first === undefined || last === undefined) return undefined
  let { start } = first
  let { end } = last
  if (kind === 'quantity' || kind === 'count') {
    if (/[$€£¥₹]\s?$/u.test(text.slice(0, start))) start = text.slice(0, start).search(/[$€£¥₹]\s?$/u)
    end += MAGNITUDE.exec(text.slice(end))?.[0].length ?? 0
  }
  return text.slice(start, end)
}
