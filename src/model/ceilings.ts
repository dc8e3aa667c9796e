/** Stops an endless answer before it fills the journal. */

import { CriaError } from '../core/error.ts'
import type { ModelPart } from '../core/model.ts'

/** Limits of one answer in characters, and in number of calls; `null` for no limit. */
export interface AnswerLimits {
  readonly text: number | null
  readonly thinking: number | null
  /** Characters of the arguments of all calls together. */
  readonly arguments: number | null
  readonly calls: number | null
}

/** Default limits: several times the output limit of any model. */
export const DEFAULT_ANSWER_LIMITS: AnswerLimits = { text: 16_000_000, thinking: 16_000_000, arguments: 16_000_000, calls: 1000 }

const NAMES: Readonly<Record<keyof AnswerLimits, string>> = {
  text: 'characters of text',
  thinking: 'characters of thinking',
  arguments: 'characters of arguments',
  calls: 'tool calls',
}

/** Returns a function that counts the parts of one answer. @param ref the model, for the error. */
export function createCeilings(limits: AnswerLimits, ref: string): (part: ModelPart) => void {
  let counts = { text: 0, thinking: 0, arguments: 0, calls: 0 }
  /** Ids of calls whose arguments were already counted while they were streamed. */
  const streamed = new Set<string>()

  function count(name: keyof AnswerLimits, more: number): void {
    counts[name] += more
    const limit = limits[name]
    if (limit === null || counts[name] <= limit) return
    throw new CriaError('invalid_response', `${ref} was stopped: its answer is longer than ${limit} ${NAMES[name]}.`, {
      retryable: false,
      hint: `The text so far is kept. To raise the limit, set \`answerLimits: { ${name} }\`.`,
      details: { limit: name, most: limit },
    })
  }

  /** @throws CriaError `invalid_response`, not retryable, if the answer exceeds a limit. */
  return function add(part) {
    if (part.type === 'text' || part.type === 'thinking') count(part.type, part.text.length)
    else if (part.type === 'tool-input') {
      if (!streamed.has(part.id)) count('calls', 1)
      streamed.add(part.id)
      count('arguments', part.delta.length)
    } else if (part.type === 'tool-call' && !streamed.has(part.id)) {
      count('calls', 1)
      if (typeof part.input === 'string') count('arguments', part.input.length)
    } else if (part.type === 'restart') {
      streamed.clear()
      counts = { text: 0, thinking: 0, arguments: 0, calls: 0 }
    }
  }
}
