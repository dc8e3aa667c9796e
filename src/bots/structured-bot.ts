/** A bot that answers with an object of a given shape. */

import { CriaError } from '../core/error.ts'
import { assistant, toMessages, user } from '../core/message.ts'
import type { MessageInput } from '../core/message.ts'
import { isStandardSchema, issueLine } from '../core/schema.ts'
import type { Schema } from '../core/schema.ts'
import { addUsage } from '../core/usage.ts'
import type { Usage } from '../core/usage.ts'
import { checkNumber } from '../engine/check-values.ts'
import { schemaProblems } from '../util/json-schema.ts'
import { parsePartialJson } from '../util/partial-json.ts'
import type { BotAnswer } from './answer.ts'
import { checkBotNames } from './options.ts'
import type { BotOptions, StreamTarget } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions } from './simple-bot.ts'

export interface StructuredBotOptions<Output> extends Omit<BotOptions, 'schema' | 'jsonMode'> {
  readonly schema: Schema<Output>
  /** Attempts in all until an answer fits the schema; default 3. */
  readonly numAttempts?: number
  /** Resolve with what the last attempt gave, although it does not fit. Default false: throw. */
  readonly allowFailedValidation?: boolean
}

export interface StructuredAnswer<Output> extends BotAnswer {
  /** What the answer says; not checked when `problems` is not empty. */
  readonly object: Output
  /** What does not fit the schema, one line each. */
  readonly problems: readonly string[]
  /** How many attempts it took; `usage` and `costUsd` are those of all of them. */
  readonly attempts: number
}

type Reading<Output> = { readonly object: Output | undefined; readonly problems: readonly string[] }

export class StructuredBot<Output = unknown> extends SimpleBot {
  readonly #schema: Schema<Output>
  readonly #attempts: number
  readonly #lenient: boolean

  /** @throws ConfigurationError for a schema that is none, and as SimpleBot. */
  constructor(options: StructuredBotOptions<Output>) {
    checkBotNames('StructuredBot', options, ['numAttempts', 'allowFailedValidation'])
    const { numAttempts = 3, allowFailedValidation = false, ...rest } = options
    checkNumber('numAttempts', numAttempts, 1)
    super({ ...rest, jsonMode: true })
    this.#schema = options.schema
    this.#attempts = numAttempts
    this.#lenient = allowFailedValidation
  }

  /**
   * Asks until the answer fits the schema; each further attempt is told what did not fit.
   * @throws CriaError `invalid_response` when no attempt fitted; `details.attempts` holds what each said and why it does not fit.
   */
  override async ask(input: MessageInput, options: AskOptions = {}): Promise<StructuredAnswer<Output>> {
    const failed: { text: string; problems: readonly string[] }[] = []
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

  /**
   * Yields the object as it grows, unchecked; returns the answer. It is asked for once: what was shown cannot be taken back. Leaving early cancels
   * the turn.
   * @throws CriaError `invalid_response` when the answer does not fit, unless that is allowed.
   */
  async *streamObjects(
    input: MessageInput,
    options: AskOptions = {},
  ): AsyncGenerator<unknown, StructuredAnswer<Output>, undefined> {
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
