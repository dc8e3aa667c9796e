/** Stops an answer that never ends, before it fills the journal. */

import { CriaError } from '../core/error.ts'
import type { ModelPart } from '../core/model.ts'

/** What one answer may hold, in characters, and how many calls; `null` for no limit. */
export interface AnswerLimits {
  readonly text: number | null
  readonly thinking: number | null
  /** Of all calls of the answer together. */
  readonly arguments: number | null
  readonly calls: number | null
}

/** Several times what any model can write. */
export const DEFAULT_ANSWER_LIMITS: AnswerLimits = { text: 16_000_000, thinking: 16_000_000, arguments: 16_000_000, calls: 1000 }

const NAMES: Readonly<Record<keyof AnswerLimits, string>> = {
  text: 'characters of text',
  thinking: 'characters of thinking',
  arguments: 'characters of arguments',
  calls: 'tool calls',
}

export class Ceilings {
  readonly #limits: AnswerLimits
  readonly #ref: string
  readonly #counts: Record<keyof AnswerLimits, number> = { text: 0, thinking: 0, arguments: 0, calls: 0 }
  /** Arguments that were counted while they were streamed are not counted again with their call. */
  readonly #streamed = new Set<string>()

  constructor(limits: AnswerLimits, ref: string) {
    this.#limits = limits
    this.#ref = ref
  }

  /** Counts a part. @throws CriaError `invalid_response`, not to be retried, when the answer is longer than it may be. */
  add(part: ModelPart): void {
    switch (part.type) {
      case 'text':
      case 'thinking':
        this.#count(part.type, part.text.length)
        break
      case 'tool-input':
        if (!this.#streamed.has(part.id)) this.#count('calls', 1)
        this.#streamed.add(part.id)
        this.#count('arguments', part.delta.length)
        break
      case 'tool-call':
        if (this.#streamed.has(part.id)) break
        this.#count('calls', 1)
        if (typeof part.input === 'string') this.#count('arguments', part.input.length)
        break
      case 'restart':
        this.#streamed.clear()
        for (const name of ['text', 'thinking', 'arguments', 'calls'] as const) this.#counts[name] = 0
        break
      default:
    }
  }

  #count(name: keyof AnswerLimits, more: number): void {
    this.#counts[name] += more
    const limit = this.#limits[name]
    if (limit === null || this.#counts[name] <= limit) return
    throw new CriaError('invalid_response', `${this.#ref} was stopped: its answer is longer than ${limit} ${NAMES[name]}.`, {
      retryable: false,
      hint: `What came before is kept. A higher limit can be set: \`answerLimits: { ${name} }\`.`,
      details: { limit: name, most: limit },
    })
  }
}
