/** A model that says what a script tells it: for tests of everything that stands around a model. */

import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import type { FinishReason, LanguageModel, ModelCall, ModelFacts, ModelPart, ModelRequest } from '../../core/model.ts'
import { UNKNOWN_FACTS } from '../../core/model.ts'
import type { Usage } from '../../core/usage.ts'
import { UNKNOWN_USAGE } from '../../core/usage.ts'

/** One answer. A bare string is an answer of one delta. */
export type ScriptedAnswer =
  | string
  | {
      /** Thinking of the model before the answer; default none. */
      readonly thinking?: string
      /** A list is streamed as so many deltas. */
      readonly text?: string | readonly string[]
      /** Calls that the model makes; an absent `id` becomes `call_1`, `call_2` and so on. */
      readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly input: Json }[]
      /** Tokens that the model reports; default none are known. */
      readonly usage?: Partial<Usage>
      /** `null`: the stream ends without saying that it is finished. Default `tool-calls` where there are calls, else `stop`. */
      readonly finish?: FinishReason | null
      /** Instead of all of the above: exactly these parts. */
      readonly parts?: readonly ModelPart[]
      /** Throws `error` after so many parts. */
      readonly fail?: { readonly after: number; readonly error: unknown }
      /** Says nothing more after so many parts, until it is aborted. */
      readonly hang?: { readonly after: number }
      /** Called before each part; may wait. */
      readonly before?: (part: number, signal: AbortSignal) => void | Promise<void>
    }

/** The answer to a request, made when it comes. */
export type Script =
  | readonly ScriptedAnswer[]
  | ((request: ModelRequest, call: number) => ScriptedAnswer | Promise<ScriptedAnswer>)

/** Options of `new ScriptedModel()`. */
export interface ScriptedOptions {
  /** Default `scripted/model`. */
  readonly ref?: string
  /** Facts of the model, in place of the defaults. */
  readonly facts?: Partial<ModelFacts>
}

/** A model for tests: answers what a script says and keeps the requests. */
export class ScriptedModel implements LanguageModel {
  readonly ref: string
  /** As any model's; `facts` of the options replaces single ones. */
  readonly facts: ModelFacts
  /** Every request that was made, in order. */
  readonly requests: ModelRequest[] = []
  /** How many streams are open now; 0 when nothing was leaked. */
  open = 0
  readonly #script: Script

  /** @param script one answer for each request, in order, or a function; a script that is over throws. */
  constructor(script: Script, options: ScriptedOptions = {}) {
    if (typeof script !== 'function' && !Array.isArray(script))
      throw new ConfigurationError('A script is a list with one answer for each request, or a function.')
    this.#script = script
    this.ref = options.ref ?? 'scripted/model'
    this.facts = { ...UNKNOWN_FACTS, ...options.facts }
  }

  /** Answers the next request as the script says; throws a `CriaError` when there is no answer left. */
  async *stream(request: ModelRequest, { signal }: ModelCall): AsyncGenerator<ModelPart> {
    const call = this.requests.push(request) - 1
    this.open++
    try {
      const answer = await this.#answer(request, call)
      const plan = typeof answer === 'string' ? { text: answer } : answer
      const parts = plan.parts ?? partsOf(plan)
      for (let index = 0; ; index++) {
        if (plan.fail?.after === index) throw plan.fail.error
        if (plan.hang?.after === index) await untilAborted(signal)
        await plan.before?.(index, signal)
        signal.throwIfAborted()
        const part = parts[index]
        if (part === undefined) return
        yield part
      }
    } finally {
      this.open--
    }
  }

  async #answer(request: ModelRequest, call: number): Promise<ScriptedAnswer> {
    if (typeof this.#script === 'function') return await this.#script(request, call)
    const answer = this.#script[call]
    if (answer === undefined) {
      const message = `The script is over: it has answers for ${this.#script.length} requests, and this is number ${call + 1}.`
      const hint = 'Give the scripted model one more answer, or a function that makes them.'
      throw new CriaError('invalid_request', message, { hint })
    }
    return answer
  }
}

function partsOf({ thinking, text = [], toolCalls = [], usage, finish }: Exclude<ScriptedAnswer, string>): ModelPart[] {
  const parts: ModelPart[] = []
  if (thinking !== undefined) parts.push({ type: 'thinking', text: thinking }, { type: 'thinking-end' })
  for (const delta of typeof text === 'string' ? [text] : text) parts.push({ type: 'text', text: delta })
  for (const [index, { id = `call_${index + 1}`, name, input }] of toolCalls.entries())
    parts.push({ type: 'tool-call', id, name, input })
  if (usage !== undefined) parts.push({ type: 'usage', usage: { ...UNKNOWN_USAGE, exactness: 'exact', ...usage } })
  const reason = finish === undefined ? (toolCalls.length > 0 ? 'tool-calls' : 'stop') : finish
  if (reason !== null) parts.push({ type: 'finish', reason })
  return parts
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
