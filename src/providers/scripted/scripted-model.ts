/** Provides a model with scripted answers, for tests of code that calls a model. */

import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import type { FinishReason, LanguageModel, ModelCall, ModelFacts, ModelPart, ModelRequest } from '../../core/model.ts'
import { UNKNOWN_FACTS } from '../../core/model.ts'
import type { Usage } from '../../core/usage.ts'
import { UNKNOWN_USAGE } from '../../core/usage.ts'
import { orAborted } from '../../util/promise.ts'

/** One answer. A bare string is an answer of one delta. */
export type ScriptedAnswer =
  | string
  | {
      /** Thinking before the answer; default none. */
      readonly thinking?: string
      /** Text of the answer; each entry of a list is streamed as one delta. */
      readonly text?: string | readonly string[]
      /** Tool calls; an absent `id` becomes `call_1`, `call_2` and so on. */
      readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly input: Json }[]
      /** Usage that the model reports; default unknown. */
      readonly usage?: Partial<Usage>
      /** Finish reason; `null`: the stream ends without one. Default `tool-calls` if there are calls, else `stop`. */
      readonly finish?: FinishReason | null
      /** Exactly these parts, instead of all of the above. */
      readonly parts?: readonly ModelPart[]
      /** Throws `error` after this number of parts. */
      readonly fail?: { readonly after: number; readonly error: unknown }
      /** Sends nothing more after this number of parts, until it is aborted. */
      readonly hang?: { readonly after: number }
      /** Called before each part; its promise is awaited. */
      readonly before?: (part: number, signal: AbortSignal) => void | Promise<void>
    }

/** A list of answers in the order of the requests, or a function that is called for each request; `call` counts from 0. */
export type Script =
  | readonly ScriptedAnswer[]
  | ((request: ModelRequest, call: number) => ScriptedAnswer | Promise<ScriptedAnswer>)

/** Options of `new ScriptedModel()`. */
export interface ScriptedOptions {
  /** Default `scripted/model`. */
  readonly ref?: string
  /** Facts that replace single defaults. */
  readonly facts?: Partial<ModelFacts>
}

/** A model for tests: returns scripted answers and records the requests. */
export class ScriptedModel implements LanguageModel {
  readonly ref: string
  /** Unknown facts, except those that `facts` of the options sets. */
  readonly facts: ModelFacts
  /** All requests, in order. */
  readonly requests: ModelRequest[] = []
  /** Number of open streams; 0 when none leaked. */
  open = 0
  readonly #script: Script

  /** @param script one answer for each request, in order, or a function. Requests beyond the list throw. */
  constructor(script: Script, options: ScriptedOptions = {}) {
    if (typeof script !== 'function' && !Array.isArray(script))
      throw new ConfigurationError('A script must be a list with one answer for each request, or a function.')
    this.#script = script
    this.ref = options.ref ?? 'scripted/model'
    this.facts = { ...UNKNOWN_FACTS, ...options.facts }
  }

  /** Streams the next scripted answer; throws a `CriaError` when none is left. */
  async *stream(request: ModelRequest, { signal }: ModelCall): AsyncGenerator<ModelPart> {
    const call = this.requests.push(request) - 1
    this.open++
    try {
      const answer = await this.#answer(request, call)
      const plan = typeof answer === 'string' ? { text: answer } : answer
      const parts = plan.parts ?? partsOf(plan)
      for (let index = 0; ; index++) {
        if (plan.fail?.after === index) throw plan.fail.error
        if (plan.hang?.after === index) await orAborted(new Promise<never>(() => {}), signal)
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
      const message = `The script is over: it has answers for ${this.#script.length} requests, but this is request ${call + 1}.`
      const hint = 'Add an answer to the script, or pass a function that returns answers.'
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
