/** Places in a text that look like an answer of the kind that the question asks for. English and its lexicon; numbers anywhere. */

import type { AnswerKind } from './answer-kind.ts'
import type { Candidate, SearchedText } from './candidate.ts'
import { findCounts, findMeasures, findTimes } from './figures.ts'
import { findNames, findPeople, findPlaces } from './names.ts'
import type { Question } from './question.ts'
import type { Word } from './words.ts'

type Finder = (searched: SearchedText) => Candidate[]

/** All candidates of the question's kind. */
export function findCandidates(question: Question, text: string, words: readonly Word[]): Candidate[] {
  return FINDERS[question.kind]({ question, text, words })
}

const REASON =
  /\b(?:because|due to|owing to|since|as a result|result(?:s|ed|ing)? (?:in|from)|caus(?:e|es|ed|ing)|therefore|thus|so that|in order to|led to|leads to|reasons?|following|for (?:being|having|their|his|her|its)|to (?:avoid|prevent|protect|make|help|allow|give|get))\b/gi
const MANNER = /\b(?:by|through|via|using|with|as)\b/gi
/** What instructions begin with, beside what says how anything comes about. */
const INSTRUCTION =
  /\b(?:by|through|via|using|with|as|use|run|set|call|add|install|pass|enable|disable|configure|create|open|press|choose|click|select|type|write)\b/gi
const DEFINITION =
  /\b(?:is|are|was|were|means?|meaning|refers? to|called|known as|defined as|stands? for|consists? of|indicat(?:es?|ing)|denot(?:es?|ing)|represents?|abbreviat\w+|short for)\b/gi

const FINDERS: Readonly<Record<AnswerKind, Finder>> = {
  person: findPeople,
  name: findNames,
  place: findPlaces,
  time: findTimes,
  count: findCounts,
  quantity: findMeasures,
  reason: cues(REASON),
  manner: (searched) => cues(searched.question.asksForCode ? INSTRUCTION : MANNER)(searched),
  definition: cues(DEFINITION),
  thing: () => [],
}

/** Words that announce an answer which has no look of its own. */
function cues(pattern: RegExp): Finder {
  return ({ text, words }) => {
    const found: Candidate[] = []
    let index = 0
    for (const match of text.matchAll(pattern)) {
      while (index < words.length && (words[index]?.start ?? 0) < match.index) index++
      if (index < words.length) found.push({ from: index, to: index + 1, strength: 1 })
    }
    return found
  }
}
