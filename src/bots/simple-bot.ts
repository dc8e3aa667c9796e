/** SimpleBot: a system prompt, a memory and a question. A bot is `query()` with fixed options, its recipe. */

import { openJournal, openJournalIfWritable } from '../app/journal.ts'
import { mockModel } from '../app/models.ts'
import type { ModelInput, ModelOptions } from '../app/models.ts'
import { query } from '../app/query.ts'
import { defaultModel, resolveModel } from '../app/open-model.ts'
import type { QueryOptions } from '../app/query.ts'
import { ConfigurationError, toCriaError } from '../core/error.ts'
import type { EventOf, QueryEvent, QueryResult } from '../core/event.ts'
import { toMessages } from '../core/message.ts'
import type { Message, MessageInput } from '../core/message.ts'
import { UNKNOWN_FACTS } from '../core/model.ts'
import type { LanguageModel, ModelRequest } from '../core/model.ts'
import { promptText } from '../core/prompt.ts'
import type { Recorder } from '../core/recorder.ts'
import { jsonSchemaOf } from '../core/schema.ts'
import type { Span } from '../core/span.ts'
import type { MemoryStore } from '../core/store.ts'
import { completionRequest } from '../engine/completion.ts'
import { previewChat } from '../engine/preview.ts'
import { checkNames, checkOneOf, checkType, eitherOf } from '../engine/checks/values.ts'
import { inheritedRecorder } from '../engine/parent.ts'
import type { QueryMetrics } from '../engine/options.ts'
import type { Steering } from '../engine/steering.ts'
import type { Turn } from '../engine/turn.ts'
import { settingsOf, specOf } from '../engine/turn.ts'
import { answerFrom, deltasOf, leavable } from './answer.ts'
import type { AnswerStream, BotAnswer } from './answer.ts'
import { keepsMessages, remember } from './memory.ts'
import { checkBotOptions, optionsOf, PASSED_ON } from './options.ts'
import type { BotOptions, StreamTarget } from './options.ts'
import { shown } from './show.ts'
import { namesOf } from '../util/nearest.ts'
import { defined } from '../util/check.ts'

/** Options of one question. */
export interface AskOptions {
  /** Cancels the turn, as `abortSignal` of `query()`. */
  readonly abortSignal?: AbortSignal | undefined
  /** Another name of `abortSignal`. */
  readonly signal?: AbortSignal | undefined
  /** Continues this session of the journal. */
  readonly sessionId?: string | undefined
  /** The user whom the turn is made for, as `userId` of `query()`; default none. */
  readonly userId?: string | undefined
  /** Labels of the turn, as `tags` of `query()`; default none. */
  readonly tags?: readonly string[] | undefined
  /** The span that this turn belongs to; default the current one. */
  readonly span?: Span | undefined
  /** Takes messages of the user while the turn runs. */
  readonly steering?: Steering | undefined
}

/** The recovery from an attempt that breaks off after its first token. */
const RECOVERIES = ['before-first-token', 'replay'] as const

/** Options of `stream()`. */
export interface StreamOptions extends AskOptions {
  /**
   * `before-first-token`, the default: an attempt that breaks off later ends the stream with its error. `replay`: text is held back until its
   * attempt has succeeded, so that only that attempt is yielded. Excludes `onReset`.
   */
  readonly recover?: (typeof RECOVERIES)[number] | undefined
  /** Called when an attempt breaks off after its first token: what it yielded is void, and the text of the next attempt follows. */
  readonly onReset?: (() => void) | undefined
}

/** How many memories are looked up for a question. */
const MEMORIES = 20
const ALL = Number.MAX_SAFE_INTEGER
const MOCK = { ref: 'mock/response', facts: UNKNOWN_FACTS } as const
const UNUSED_BY_MOCKS: ReadonlySet<string> = new Set(['fallbackModels', 'specialist', 'switchModels', 'budget'])
const ASK_OPTIONS = namesOf<AskOptions>({
  abortSignal: true,
  signal: true,
  sessionId: true,
  userId: true,
  tags: true,
  span: true,
  steering: true,
})

/** How a bot is named, and what differs where bots answer in the same way. */
export interface BotKind {
  /** The kind of the bot in the journal. */
  readonly name: string
  /** The name of the outermost span of a turn; that of a bot for servers is the same as of its sibling. */
  readonly operation: string
  /** Where text is shown when nothing was asked for. */
  readonly target: StreamTarget
  /** Names that the second argument of `ask` may hold beside those of every bot. */
  readonly asks?: readonly string[]
}

/**
 * Answers with text; `query()` with a fixed recipe.
 *
 * @typeParam Answer what `ask()` resolves to.
 */
export class SimpleBot<Answer extends BotAnswer = BotAnswer> {
  /** The name of this bot in the journal; `undefined`: none. */
  readonly name: string | undefined
  /** Instructions to the model; empty where none were given. */
  readonly systemPrompt: string
  /** Default 0. */
  readonly temperature: number
  /** What was said before; `undefined`: the bot has no memory. */
  readonly memory: MemoryStore | undefined
  /** What this bot adds to every query. */
  protected recipe: Partial<QueryOptions> = {}
  /** All but the key: who prints a bot must not print it. */
  protected readonly options: Omit<BotOptions, 'apiKey'>
  readonly #modelOptions: ModelOptions
  readonly #given: LanguageModel | undefined
  #default: Promise<LanguageModel> | undefined
  #lastTurn: QueryMetrics | undefined
  #fallbacks: readonly ModelInput[] | undefined

  /** @throws ConfigurationError for options that cannot work, before any request is made. */
  constructor(options: BotOptions = {}) {
    checkBotOptions(options)
    const { apiKey, system: _, ...rest } = options
    const { model, mockResponse } = options
    const systemPrompt = eitherOf(options, 'system', 'systemPrompt')
    this.options = { ...rest, ...(systemPrompt === undefined ? {} : { systemPrompt }) }
    this.#modelOptions = apiKey === undefined ? {} : { apiKey }
    this.name = options.name
    this.systemPrompt = promptText(systemPrompt ?? '')
    this.temperature = options.temperature ?? 0
    this.memory = options.memory
    const given = model === undefined ? undefined : resolveModel(model, this.#modelOptions)
    this.#given = mockResponse === undefined ? given : mockModel(mockResponse, given ?? MOCK)
  }

  /**
   * What the turn of this bot came to that ended last, also one that failed or was cancelled: ids, state, model, usage, cost and times.
   * `undefined` before the first.
   */
  get lastTurn(): QueryMetrics | undefined {
    return this.#lastTurn
  }

  /** Where text is shown: what was asked for, or `none` for a model that cannot stream. */
  get streamTarget(): StreamTarget {
    return this.#given?.facts.streaming === false ? 'none' : (this.options.streamTarget ?? this.kind.target)
  }

  protected get kind(): BotKind {
    return { name: 'SimpleBot', operation: 'simplebot.ask', target: 'stdout' }
  }

  /** Asks, shows the answer on the stream target and resolves to the finished message. @throws CriaError */
  async ask(input: MessageInput, options: AskOptions = {}): Promise<Answer> {
    return await this.finish(await this.asked(input, options))
  }

  /** As `ask`, with options of the query that only this bot knows. */
  protected async asked(input: MessageInput, options: AskOptions, overrides: Partial<QueryOptions> = {}): Promise<BotAnswer> {
    const target = this.streamTarget
    const events = this.run(input, options, { ...overrides, stream: target !== 'none' })
    return await answerFrom(shown(events, target, this.options.output ?? process.stdout))
  }

  /** Makes the answer of this bot out of that of its turn. */
  protected finish(answer: BotAnswer): Answer | Promise<Answer> {
    return answer as Answer
  }

  /**
   * Asks and yields the text as it comes; `answer` of the stream resolves to the finished message. The question is asked when the stream is
   * first read or its answer awaited. Leaving early cancels the turn, also before the first token.
   *
   * @throws CriaError
   */
  stream(input: MessageInput, options: StreamOptions = {}): AnswerStream<string, Answer> {
    const { recover, onReset, ...ask } = options
    checkOneOf('recover', recover, RECOVERIES)
    checkType('onReset', onReset, 'function')
    if (recover !== undefined && onReset !== undefined)
      throw new ConfigurationError('`recover` and `onReset` exclude each other: leave one of them out.')
    const takesBack = recover === 'replay' || onReset !== undefined
    const { retry } = this.options
    if (!takesBack && recover === undefined && retry?.afterOutput === 'retry')
      throw new ConfigurationError(
        "`retry.afterOutput: 'retry'` takes text back, which stream() can do only with `onReset` or `recover: 'replay'`: pass one of them, or leave `afterOutput` out.",
      )
    // What the call asks for holds, whatever the bot was made with.
    const overrides: Partial<QueryOptions> = { retry: { ...retry, afterOutput: takesBack ? 'retry' : 'error' } }
    return leavable(ask, (own) => this.#deltas(this.run(input, own, overrides), recover === 'replay' ? 'hold' : onReset))
  }

  async *#deltas(...read: Parameters<typeof deltasOf>): AsyncGenerator<string, Answer, undefined> {
    return await this.finish(yield* deltasOf(...read))
  }

  /** Asks and yields every event of the turn. Leaving early cancels the turn. */
  events(input: MessageInput, options: AskOptions = {}): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
    return leavable(options, (ask) => this.run(input, ask))
  }

  /** System prompt, what the memory holds, what the user says. */
  async composeMessages(input: MessageInput): Promise<Message[]> {
    return [
      ...(await previewChat({
        system: this.systemPrompt,
        memory: this.memory,
        messages: toMessages(input),
        nResults: MEMORIES,
      })),
    ]
  }

  /** The provider call for these messages. */
  completionOptions(
    messages: MessageInput,
    { stream, model = this.#given }: { readonly stream: boolean; readonly model?: LanguageModel | undefined },
  ): ModelRequest {
    if (model === undefined)
      throw new ConfigurationError(
        'A bot without a `model` finds its default model when it is asked: name one to see its requests.',
      )
    return completionRequest(toMessages(messages), model, { ...this.settings(), stream })
  }

  /** The model that answers. */
  async model(): Promise<LanguageModel> {
    if (this.#given !== undefined) return this.#given
    this.#default ??= defaultModel(this.#modelOptions)
    try {
      return await this.#default
    } catch (error) {
      // What was missing may be there when the next question is asked.
      this.#default = undefined
      throw error
    }
  }

  /** What this bot adds to a query with these options. */
  protected queryOptions({ sessionId }: AskOptions): Partial<QueryOptions> {
    const retrieve = { ...this.#remembered(sessionId), ...this.recipe.retrieve }
    return { ...this.recipe, ...(Object.keys(retrieve).length === 0 ? {} : { retrieve }) }
  }

  #remembered(sessionId: string | undefined): QueryOptions['retrieve'] {
    const { memory } = this
    if (memory === undefined) return undefined
    if (!keepsMessages(memory)) return { memory, nResults: MEMORIES }
    // A session that goes on knows the conversation already; without one, the memory says how much of it is told.
    return sessionId === undefined ? { memory, nResults: ALL } : undefined
  }

  /** After a turn that succeeded. */
  protected async finalize(question: Message | undefined, answer: Message, _turn: QueryResult): Promise<void> {
    if (this.memory !== undefined) await remember(this.memory, question, answer)
  }

  protected settings(): Turn['request'] {
    const { jsonMode, schema } = this.options
    return {
      settings: { ...settingsOf(this.options), temperature: this.temperature },
      tools: (this.recipe.tools ?? []).map(specOf),
      stream: true,
      ...optionsOf(this.recipe, ['toolChoice']),
      ...(jsonMode === true && schema !== undefined
        ? { responseFormat: { type: 'json' as const, schema: jsonSchemaOf(schema, 'jsonMode') } }
        : {}),
    }
  }

  /** The turn, with whatever this bot does after it. */
  protected async *run(
    input: MessageInput,
    ask: AskOptions,
    overrides: Partial<QueryOptions> = {},
  ): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
    const abortSignal = eitherOf(ask, 'abortSignal', 'signal')
    checkNames(`ask() of ${this.kind.name}`, ask, [...ASK_OPTIONS, ...(this.kind.asks ?? [])])
    const prompt = toMessages(input)
    const recorder = await this.#recorder(ask)
    const { settings, responseFormat } = this.settings()
    const model = await this.model()
    const { sessionId, userId, tags, span, steering } = ask
    const events = query({
      ...settings,
      ...(this.options.temperature === undefined ? { unasked: ['temperature'] } : {}),
      ...this.#passedOn(model),
      ...this.queryOptions(ask),
      ...overrides,
      model,
      system: this.options.systemPrompt ?? '',
      prompt,
      operation: this.kind.operation,
      bot: { kind: this.kind.name, ...defined({ name: this.name }) },
      // Also where it is none: a turn that a tool makes would otherwise be written down where that of the tool is.
      recorder,
      onQueryCompleted: (metrics) => {
        this.#lastTurn = metrics
        return this.options.onQueryCompleted?.(metrics)
      },
      ...defined({ responseFormat, abortSignal, sessionId, userId, tags, span, steering }),
    })
    let answer: Message | undefined
    for await (const event of events) {
      if (event.parent === undefined) {
        if (event.type === 'message') answer = event.message
        // Before its reader learns that the turn is complete, and after it is logged.
        if (event.type === 'complete') await this.#remember(prompt, answer, event)
      }
      yield event
      if (event.type === 'complete' && event.parent === undefined) return event.result
    }
    return undefined
  }

  /** The answer is complete and logged: a memory that fails must not take it away. */
  async #remember(prompt: readonly Message[], answer: Message | undefined, event: EventOf<'complete'>): Promise<void> {
    if (answer === undefined || event.result.finishReason === 'waiting') return
    try {
      const question = prompt.findLast(({ role }) => role === 'user')
      await this.finalize(question, answer, event.result)
    } catch (thrown) {
      const { message } = toCriaError(thrown)
      process.emitWarning(`The memory could not keep turn ${event.turnId}: ${message}`, 'CriaMemoryWarning')
    }
  }

  async #recorder({ sessionId }: AskOptions): Promise<Recorder | undefined> {
    if (this.options.recorder === false) return undefined
    const given = this.options.recorder ?? inheritedRecorder()
    // A session that goes on is read from the journal: without it the bot would have forgotten everything.
    return given ?? (sessionId === undefined ? await openJournalIfWritable() : await openJournal())
  }

  /** Options of the query: fallback models of the same provider get the key of the bot; a mock response asks no other model and spends no budget. */
  #passedOn({ ref }: LanguageModel): Partial<QueryOptions> {
    const { options } = this
    const isMock = options.mockResponse !== undefined
    const names = isMock ? PASSED_ON.filter((name) => !UNUSED_BY_MOCKS.has(name)) : PASSED_ON
    const given = optionsOf(options, names)
    if (isMock) return { ...given, switchModels: false }
    if (options.fallbackModels === undefined || this.#modelOptions.apiKey === undefined) return given
    this.#fallbacks ??= options.fallbackModels.map((model) => {
      const own = typeof model === 'string' ? resolveModel(model, this.#modelOptions) : undefined
      return own !== undefined && providerOf(own.ref) === providerOf(ref) ? own : model
    })
    return { ...given, fallbackModels: this.#fallbacks }
  }
}

function providerOf(ref: string): string {
  return ref.split('/', 1)[0] ?? ref
}

/** `SimpleBot` for servers: writes nothing to standard output, and has `streamAsync()`. */
export class AsyncSimpleBot extends SimpleBot {
  /** The operation is SimpleBot's; the row of the turn tells the bots apart. A server has nobody at its terminal. */
  protected override get kind(): BotKind {
    return { ...super.kind, name: 'AsyncSimpleBot', target: 'api' }
  }

  /** The text as it comes; returns the finished message. Leaving early cancels the request and records the turn as cancelled. */
  streamAsync(input: MessageInput, options: StreamOptions = {}): AnswerStream<string, BotAnswer> {
    return this.stream(input, options)
  }
}
