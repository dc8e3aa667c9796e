/** StructuredBot: answers with an object that fits a schema. */

import { ConfigurationError, CriaError, errorFromInfo } from '../core/error.ts'
import type { MessageInput } from '../core/message.ts'
import { isStandardSchema, issueLine } from '../core/schema.ts'
import type { FromJsonSchema, JsonSchema, StandardSchema } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'
import { checkTools } from '../engine/checks/options.ts'
import { checkType } from '../engine/checks/values.ts'
import type { ReviewAnswer } from '../engine/options.ts'
import { DEFAULT_MAX_STEPS } from '../engine/turn.ts'
import { schemaProblems } from '../util/json-schema.ts'
import { parsePartialJson } from '../util/partial-json.ts'
import { leavable } from './answer.ts'
import type { AnswerStream, BotAnswer } from './answer.ts'
import { countOf, LOOP_OPTIONS, optionsOf, sharedOptions } from './options.ts'
import type { BotOptions, LoopOptions } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions, BotKind } from './simple-bot.ts'

/** Options of `new StructuredBot()`. */
export interface StructuredBotOptions<Output, Lenient extends boolean = boolean, Literal extends JsonSchema = JsonSchema>
  extends Omit<BotOptions, 'schema' | 'jsonMode'>, LoopOptions {
  /** A Standard Schema (Zod, Valibot, ArkType) or a JSON Schema object; a JSON Schema literal also sets the type of `object`. */
  readonly schema: StandardSchema<Output> | Literal
  /** Tools that the model may call before it answers, run as in AgentBot; default none. */
  readonly tools?: readonly Tool[]
  /** Maximum model calls, as `maxSteps` of `query()`, including those of `maxAttempts`; default 50. */
  readonly maxSteps?: number
  /** Another name of `maxSteps`. */
  readonly maxIterations?: number
  /** Maximum attempts until an answer fits the schema; default 3. */
  readonly maxAttempts?: number
  /** Another name of `maxAttempts`. */
  readonly numAttempts?: number
  /** Resolves with the last answer even if it does not fit, see `valid`. Default false: `ask()` rejects. */
  readonly allowFailedValidation?: Lenient
}

/** Members of valid and invalid answers. */
interface CheckedAnswer extends BotAnswer {
  /** Schema violations of the answer, one line each; empty if it fits. */
  readonly problems: readonly string[]
  /** Number of attempts; `usage` and `costUsd` are sums over all of them. */
  readonly attempts: number
}

/** An answer that fits the schema. */
export interface StructuredAnswer<Output> extends CheckedAnswer {
  /** The object fits the schema. */
  readonly valid: true
  /** The object of the answer, as parsed by the schema. */
  readonly object: Output
}

/** An answer that does not fit, which `allowFailedValidation` lets through. */
export interface UnfitAnswer extends CheckedAnswer {
  /** The object does not fit the schema. */
  readonly valid: false
  /** The parsed JSON of the answer; `undefined` if it is not JSON. */
  readonly object: unknown
}

/** The answer of `ask()` of a StructuredBot. */
export type AnswerOf<Output, Lenient extends boolean> = StructuredAnswer<Output> | (Lenient extends true ? UnfitAnswer : never)

/** The type of `object`: the output of the Standard Schema, else the type that a JSON Schema literal describes. */
type ObjectOf<Output, Literal> = unknown extends Output ? FromJsonSchema<Literal> : Output

interface Failed {
  readonly text: string
  readonly problems: readonly string[]
}

const STRUCTURED_OPTIONS = [
  'maxAttempts',
  'numAttempts',
  'maxSteps',
  'maxIterations',
  'allowFailedValidation',
  'tools',
  ...LOOP_OPTIONS,
]

/** Answers with an object that fits a schema. */
export class StructuredBot<
  Output = unknown,
  Lenient extends boolean = false,
  const Literal extends JsonSchema = JsonSchema,
> extends SimpleBot<AnswerOf<ObjectOf<Output, Literal>, Lenient>> {
  readonly #schema: StandardSchema<Output> | Literal
  readonly #attempts: number
  readonly #lenient: boolean

  /** @throws ConfigurationError for an invalid schema, and for invalid options of SimpleBot. */
  constructor(options: StructuredBotOptions<Output, Lenient, Literal>) {
    const shared = sharedOptions('StructuredBot', options, STRUCTURED_OPTIONS)
    const { allowFailedValidation = false, tools = [], schema } = options
    const maxAttempts = countOf(options, 'maxAttempts', 'numAttempts') ?? 3
    const maxSteps = countOf(options, 'maxSteps', 'maxIterations') ?? Math.max(DEFAULT_MAX_STEPS, maxAttempts)
    checkType('allowFailedValidation', allowFailedValidation, 'boolean')
    checkTools(tools)
    super({ ...shared, schema, jsonMode: true })
    this.recipe = { maxSteps, ...optionsOf(options, LOOP_OPTIONS), ...(tools.length === 0 ? {} : { tools }) }
    this.#schema = schema
    this.#attempts = maxAttempts
    this.#lenient = allowFailedValidation
  }

  /** Shows no text while it arrives, because attempts may not fit the schema. */
  protected override get kind(): BotKind {
    return { name: 'StructuredBot', operation: 'structuredbot.ask', target: 'none' }
  }

  /**
   * Asks until the answer fits the schema, and sends the model the violations. All attempts are one turn: tools do not run again for them,
   * and neither memory nor session keeps answers that do not fit.
   *
   * @throws CriaError `invalid_response` when no attempt fits; `details.attempts` holds the text and the violations of each.
   */
  override async ask(input: MessageInput, options: AskOptions = {}): Promise<AnswerOf<ObjectOf<Output, Literal>, Lenient>> {
    const failed: Failed[] = []
    const review: ReviewAnswer = async (text) => {
      const { problems } = await this.#read(text)
      if (problems.length === 0) return undefined
      if (failed.length + 1 >= this.#attempts && this.#lenient) return undefined
      failed.push({ text, problems })
      return { goOn: correction(problems), failure: failed.length >= this.#attempts ? notFitting(failed) : undefined }
    }
    return await this.finish(await this.asked(input, options, { review }), failed)
  }

  /**
   * Yields the partial object as it grows, unvalidated; returns the answer. Makes one attempt to fit the schema. If the connection breaks off,
   * the objects of the next request follow. Leaving early cancels the turn.
   *
   * @throws CriaError `invalid_response` when the answer does not fit, unless `allowFailedValidation` is set.
   */
  streamObjects(
    input: MessageInput,
    options: AskOptions = {},
  ): AnswerStream<unknown, AnswerOf<ObjectOf<Output, Literal>, Lenient>> {
    if (this.recipe.tools !== undefined)
      throw new ConfigurationError(
        'streamObjects() cannot be used with `tools`: the text of the model between its calls is not an object. Use ask().',
      )
    return leavable(options, (ask) => this.#growing(input, ask))
  }

  async *#growing(
    input: MessageInput,
    options: AskOptions,
  ): AsyncGenerator<unknown, AnswerOf<ObjectOf<Output, Literal>, Lenient>, undefined> {
    let text = ''
    const stream = this.stream(input, { ...options, onReset: () => (text = '') })
    try {
      for (;;) {
        const next = await stream.next()
        if (next.done === true) return next.value
        text += next.value
        const partial = parsePartialJson(unfenced(text))
        if (partial !== undefined) yield partial
      }
    } finally {
      // Leaving this generator does not leave the inner stream.
      await stream.return(undefined as never)
    }
  }

  /** Saves only answers that fit the schema. */
  protected override async finalize(...turn: Parameters<SimpleBot['finalize']>): Promise<void> {
    if (this.memory === undefined || (await this.#read(turn[1].content)).problems.length > 0) return
    await super.finalize(...turn)
  }

  /** Validates the answer. @param failed earlier attempts; none for streams. */
  protected override async finish(
    answer: BotAnswer,
    failed: readonly Failed[] = [],
  ): Promise<AnswerOf<ObjectOf<Output, Literal>, Lenient>> {
    const { object, problems } = await this.#read(answer.content)
    if (problems.length > 0 && !this.#lenient)
      throw withCost(hopelessEnding(answer) ?? notFitting([...failed, { text: answer.content, problems }]), answer)
    const checked: StructuredAnswer<unknown> | UnfitAnswer = {
      ...answer,
      valid: problems.length === 0,
      object,
      problems,
      attempts: failed.length + 1,
    }
    return checked as AnswerOf<ObjectOf<Output, Literal>, Lenient>
  }

  /** Parses a text; returns its object and the schema violations. */
  async #read(text: string): Promise<{ readonly object: unknown; readonly problems: readonly string[] }> {
    let object: unknown
    try {
      object = JSON.parse(unfenced(text))
    } catch (error) {
      return { object, problems: [`the answer is not JSON: ${error instanceof Error ? error.message : String(error)}`] }
    }
    try {
      if (!isStandardSchema(this.#schema)) return { object, problems: schemaProblems(this.#schema, object) }
      const result = await this.#schema['~standard'].validate(object)
      return result.issues === undefined
        ? { object: result.value, problems: [] }
        : { object, problems: result.issues.map(issueLine) }
    } catch (thrown) {
      // A recursive schema is followed to the depth of the answer, which may exceed the stack.
      if (!(thrown instanceof RangeError)) throw thrown
      return { object, problems: ['the answer is nested too deeply to be checked'] }
    }
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

/** Returns the error for an answer that was withheld or cut off, for which another attempt would end the same way. */
function hopelessEnding({ finishReason, content }: Pick<BotAnswer, 'finishReason' | 'content'>): CriaError | undefined {
  const details = { text: content }
  if (finishReason === 'content-filter') {
    const said = content.trim() === '' ? '' : ` It said: ${JSON.stringify(content.trim().slice(0, 200))}.`
    return new CriaError('policy', `The model or its provider withheld the answer.${said}`, { details })
  }
  if (finishReason === 'length') {
    return new CriaError('invalid_response', 'The answer was cut at the limit of its output, so its JSON is not complete.', {
      retryable: false,
      hint: 'Raise `maxOutputTokens`, or ask for less.',
      details,
    })
  }
  return undefined
}

/** Adds the usage and cost of the turn to an error. */
function withCost(error: CriaError, { usage, costUsd }: Pick<BotAnswer, 'usage' | 'costUsd'>): CriaError {
  return errorFromInfo({ ...error.toJSON(), usage, costUsd }, error.cause)
}

function notFitting(attempts: readonly { readonly text: string; readonly problems: readonly string[] }[]): CriaError {
  const last = attempts.at(-1)?.problems.join('; ') ?? ''
  return new CriaError('invalid_response', `None of ${attempts.length} answers fits the schema; the last one: ${last}`, {
    retryable: true,
    hint: 'Describe the fields in the schema, ask for fewer, or use another model; `details.attempts` holds the answers.',
    details: { attempts: attempts.map(({ text, problems }) => ({ text, problems: [...problems] })) },
  })
}
