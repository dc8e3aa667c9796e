/** A bot that answers with an object of a given shape. */

import type { QueryOptions } from '../app/query.ts'
import { ConfigurationError, CriaError } from '../core/error.ts'
import type { QueryEvent, QueryResult } from '../core/event.ts'
import type { Hooks } from '../core/hook.ts'
import { assistant, toMessages, user } from '../core/message.ts'
import type { MessageInput } from '../core/message.ts'
import { isStandardSchema, issueLine } from '../core/schema.ts'
import type { Schema } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'
import { addUsage } from '../core/usage.ts'
import type { Usage } from '../core/usage.ts'
import { checkTools } from '../engine/check-options.ts'
import { checkNumber } from '../engine/check-values.ts'
import { schemaProblems } from '../util/json-schema.ts'
import { parsePartialJson } from '../util/partial-json.ts'
import type { BotAnswer } from './answer.ts'
import { checkBotNames, LOOP_OPTIONS, loopOf, withoutLoop } from './options.ts'
import type { BotOptions, LoopOptions, StreamTarget } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions } from './simple-bot.ts'

/** Options of `new StructuredBot()`. */
export interface StructuredBotOptions<Output> extends Omit<BotOptions, 'schema' | 'jsonMode'>, LoopOptions {
  /** What the model may use before it answers; run as by AgentBot. Default none. */
  readonly tools?: readonly Tool[]
  /** With `tools`: model calls at most. Default 50. */
  readonly maxIterations?: number

  /** What the answer has to be: a Standard Schema or a JSON Schema object. */
  readonly schema: Schema<Output>
  /** Attempts in all until an answer fits the schema; default 3. */
  readonly numAttempts?: number
  /** Resolve with what the last attempt gave, although it does not fit. Default false: throw. */
  readonly allowFailedValidation?: boolean
}

/** A bot's answer with the object in it. */
export interface StructuredAnswer<Output> extends BotAnswer {
  /** What the answer says; not checked when `problems` is not empty. */
  readonly object: Output
  /** What does not fit the schema, one line each. */
  readonly problems: readonly string[]
  /** How many attempts it took; `usage` and `costUsd` are those of all of them. */
  readonly attempts: number
}

interface Failed {
  readonly text: string
  readonly problems: readonly string[]
}

type Reading<Output> = { readonly object: Output | undefined; readonly problems: readonly string[] }

/** Answers with an object that fits a schema. */
export class StructuredBot<Output = unknown> extends SimpleBot {
  readonly #schema: Schema<Output>
  readonly #attempts: number
  readonly #lenient: boolean
  readonly #tools: readonly Tool[]
  readonly #loop: Partial<QueryOptions>
  /** Answers that did not fit and were corrected within their turn, by turn. */
  readonly #corrected = new Map<string, Failed[]>()

  /** @throws ConfigurationError for a schema that is none, and as SimpleBot. */
  constructor(options: StructuredBotOptions<Output>) {
    checkBotNames('StructuredBot', options, ['numAttempts', 'allowFailedValidation', 'tools', 'maxIterations', ...LOOP_OPTIONS])
    const { numAttempts = 3, allowFailedValidation = false, tools = [], maxIterations, ...rest } = options
    checkNumber('numAttempts', numAttempts, 1)
    checkNumber('maxIterations', maxIterations, 1)
    checkTools(tools)
    super({ ...withoutLoop(rest), schema: options.schema, jsonMode: true })
    this.#tools = tools
    this.#loop = { ...(maxIterations === undefined ? {} : { maxSteps: maxIterations }), ...loopOf(rest) }
    this.#schema = options.schema
    this.#attempts = numAttempts
    this.#lenient = allowFailedValidation
  }

  /**
   * Asks until the answer fits the schema; each further attempt is told what did not fit.
   * @throws CriaError `invalid_response` when no attempt fitted; `details.attempts` holds what each said and why it does not fit.
   */
  override async ask(input: MessageInput, options: AskOptions = {}): Promise<StructuredAnswer<Output>> {
    if (this.#tools.length > 0) return this.#askWithTools(input, options)
    const failed: Failed[] = []
    const conversation = toMessages(input)
    let usage: Usage | undefined
    let costUsd: number | null = 0
    for (let attempts = 1; ; attempts++) {
      const answer = await super.ask([...conversation], options)
      usage = usage === undefined ? answer.usage : addUsage(usage, answer.usage)
      costUsd = costUsd === null || answer.costUsd === null ? null : costUsd + answer.costUsd
      const { object, problems } = await this.#read(answer.content)
      const ending = problems.length === 0 ? undefined : hopelessEnding(answer)
      const isLast = attempts >= this.#attempts || ending !== undefined
      if (problems.length === 0 || (isLast && this.#lenient)) {
        return { ...answer, usage, costUsd, object: object as Output, problems, attempts }
      }
      if (ending !== undefined) throw ending
      failed.push({ text: answer.content, problems })
      if (attempts >= this.#attempts) throw notFitting(failed)
      conversation.push(assistant(answer.content), user(correction(problems)))
    }
  }

  /** Corrections belong to the same turn: no tool runs again because an answer did not fit. */
  async #askWithTools(input: MessageInput, options: AskOptions): Promise<StructuredAnswer<Output>> {
    const answer = await super.ask(input, options)
    const failed = this.#corrected.get(answer.turnId) ?? []
    this.#corrected.delete(answer.turnId)
    const { object, problems } = await this.#read(answer.content)
    if (problems.length > 0 && !this.#lenient)
      throw hopelessEnding(answer) ?? notFitting([...failed, { text: answer.content, problems }])
    return { ...answer, object: object as Output, problems, attempts: failed.length + 1 }
  }

  protected override recipe(options: AskOptions): Partial<QueryOptions> {
    const recipe = super.recipe(options)
    if (this.#tools.length === 0) return recipe
    const { hooks } = this.#loop
    const onStop: NonNullable<Hooks['onStop']> = async ({ text }, ctx) => {
      const { problems } = await this.#read(text)
      const failed = this.#corrected.get(ctx.turnId) ?? []
      if (problems.length === 0 || failed.length + 1 >= this.#attempts) return hooks?.onStop?.({ text }, ctx)
      this.#corrected.set(ctx.turnId, [...failed, { text, problems }])
      return { goOn: correction(problems) }
    }
    return { ...recipe, ...this.#loop, tools: this.#tools, hooks: { ...hooks, onStop } }
  }

  protected override async *run(
    ...given: Parameters<SimpleBot['run']>
  ): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
    let turnId: string | undefined
    let isDone = false
    try {
      for await (const event of super.run(...given)) {
        turnId ??= event.turnId
        if (event.type === 'complete' && event.parent === undefined) isDone = true
        yield event
        if (event.type === 'complete' && event.parent === undefined) return event.result
      }
      return undefined
    } finally {
      // Of a turn that came to no answer nobody asks what was corrected.
      if (!isDone && turnId !== undefined) this.#corrected.delete(turnId)
    }
  }

  /**
   * Yields the object as it grows, unchecked; returns the answer. It is asked for once: what was shown cannot be taken back. Leaving early cancels
   * the turn.
   * @throws CriaError `invalid_response` when the answer does not fit, unless that is allowed.
   */
  async *streamObjects(
    input: MessageInput,
    options: AskOptions = {},
  ): AsyncGenerator<unknown, StructuredAnswer<Output>, undefined> {
    if (this.#tools.length > 0)
      throw new ConfigurationError(
        'streamObjects() cannot be used with `tools`: what the model says between its calls is no object. Use ask().',
      )
    let text = ''
    const stream = this.stream(input, options)
    try {
      for (;;) {
        const next = await stream.next()
        if (next.done === true) {
          const { object, problems } = await this.#read(next.value.content)
          if (problems.length > 0 && !this.#lenient)
            throw hopelessEnding(next.value) ?? notFitting([{ text: next.value.content, problems }])
          return { ...next.value, object: object as Output, problems, attempts: 1 }
        }
        text += next.value
        const partial = parsePartialJson(unfenced(text))
        if (partial !== undefined) yield partial
      }
    } finally {
      // Of a reader who leaves nobody else would tell it. There is no answer, and nobody asks for one.
      await stream.return(undefined as never)
    }
  }

  /** Attempts that do not fit are nobody's to read. */
  protected override get defaultTarget(): StreamTarget {
    return 'none'
  }

  protected override get kind(): string {
    return 'StructuredBot'
  }

  async #read(text: string): Promise<Reading<Output>> {
    let value: unknown
    try {
      value = JSON.parse(unfenced(text))
    } catch (error) {
      return { object: undefined, problems: [`the answer is no JSON: ${error instanceof Error ? error.message : String(error)}`] }
    }
    if (!isStandardSchema(this.#schema)) return { object: value as Output, problems: schemaProblems(this.#schema, value) }
    const result = await this.#schema['~standard'].validate(value)
    return result.issues === undefined
      ? { object: result.value, problems: [] }
      : { object: value as Output, problems: result.issues.map(issueLine) }
  }
}

function unfenced(text: string): string {
  return text
    .trim()
    .replace(/^```(?:json)?\s*\n?/, '')
    .replace(/\n?```$/, '')
}

function correction(problems: readonly string[]): string {
  return `That does not fit the schema:\n${problems.map((problem) => `- ${problem}`).join('\n')}\nSend the whole JSON again, corrected, and nothing else.`
}

/** An answer that was withheld or cut would end in the same way if it were asked for again. */
function hopelessEnding({ finishReason, content }: Pick<BotAnswer, 'finishReason' | 'content'>): CriaError | undefined {
  const details = { text: content }
  if (finishReason === 'content-filter') {
    const said = content.trim() === '' ? '' : ` It said: ${JSON.stringify(content.trim().slice(0, 200))}.`
    return new CriaError('policy', `The model or its provider withheld the answer.${said}`, { details })
  }
  if (finishReason === 'length') {
    return new CriaError('invalid_response', 'The answer was cut at the limit of its output, so it is no whole JSON.', {
      retryable: false,
      hint: 'Raise `maxOutputTokens`, or ask for less.',
      details,
    })
  }
  return undefined
}

function notFitting(attempts: readonly { readonly text: string; readonly problems: readonly string[] }[]): CriaError {
  const last = attempts.at(-1)?.problems.join('; ') ?? ''
  return new CriaError('invalid_response', `None of ${attempts.length} answers fits the schema; the last one: ${last}`, {
    retryable: true,
    hint: 'Describe the fields in the schema, ask for fewer, or turn to another model; `details.attempts` holds what each said.',
    details: { attempts: attempts.map(({ text, problems }) => ({ text, problems: [...problems] })) },
  })
}
