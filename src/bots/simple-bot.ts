/** SimpleBot: answers with a system prompt and an optional memory. A bot is `query()` with fixed options, its recipe. */

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
  /** ID of the user of the turn, as `userId` of `query()`; default none. */
  readonly userId?: string | undefined
  /** Labels of the turn, as `tags` of `query()`; default none. */
  readonly tags?: readonly string[] | undefined
  /** The parent span of this turn; default: the current span. */
  readonly span?: Span | undefined
  /** Accepts user messages while the turn runs. */
  readonly steering?: Steering | undefined
}

/** How to recover from an attempt that breaks off after its first token. */
const RECOVERIES = ['before-first-token', 'replay'] as const

/** Options of `stream()`. */
export interface StreamOptions extends AskOptions {
  /**
   * `before-first-token`, the default: an attempt that breaks off after its first token ends the stream with its error. `replay`: holds text
   * back until its attempt succeeds, so that only that attempt is yielded. Excludes `onReset`.
   */
  readonly recover?: (typeof RECOVERIES)[number] | undefined
  /** Called when an attempt breaks off after its first token: discard its text; the text of the next attempt follows. */
  readonly onReset?: (() => void) | undefined
}

/** Maximum memories retrieved for a question. */
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

/** The names of a kind of bot, and its differences from other bots. */
export interface BotKind {
  /** The kind of the bot in the journal. */
  readonly name: string
  /** Name of the outermost span of a turn; the same for a bot and its variant for servers. */
  readonly operation: string
  /** Default stream target. */
  readonly target: StreamTarget
  /** Further option names of `ask`, beside those of every bot. */
  readonly asks?: readonly string[]
}

/**
 * Answers with text; `query()` with a fixed recipe.
 *
 * @typeParam Answer type that `ask()` resolves to.
 */
export class SimpleBot<Answer extends BotAnswer = BotAnswer> {
  /** Name of this bot in the journal, if any. */
  readonly name: string | undefined
  /** Instructions to the model; default empty. */
  readonly systemPrompt: string
  /** Sampling temperature; default 0. */
  readonly temperature: number
  /** The memory of the bot, if it has one. */
  readonly memory: MemoryStore | undefined
  /** Options that this bot adds to every query. */
  protected recipe: Partial<QueryOptions> = {}
  /** Options without the key, so that printing a bot does not print its key. */
  protected readonly options: Omit<BotOptions, 'apiKey'>
  readonly #modelOptions: ModelOptions
  readonly #given: LanguageModel | undefined
  #default: Promise<LanguageModel> | undefined
  #lastTurn: QueryMetrics | undefined
  #fallbacks: readonly ModelInput[] | undefined

  /** @throws ConfigurationError for invalid options, before any request is sent. */
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
   * Metrics of the turn of this bot that ended last, even if it failed or was cancelled: ids, state, model, usage, cost and times.
   * `undefined` before the first turn.
   */
  get lastTurn(): QueryMetrics | undefined {
    return this.#lastTurn
  }

  /** Where text is shown; `none` for a model that cannot stream. */
  get streamTarget(): StreamTarget {
    return this.#given?.facts.streaming === false ? 'none' : (this.options.streamTarget ?? this.kind.target)
  }

  protected get kind(): BotKind {
    return { name: 'SimpleBot', operation: 'simplebot.ask', target: 'stdout' }
  }

  /** Asks the model, shows the answer on the stream target and resolves to the finished message. @throws CriaError */
  async ask(input: MessageInput, options: AskOptions = {}): Promise<Answer> {
    return await this.finish(await this.asked(input, options))
  }

  /** Like `ask`, with query options set by the subclass. */
  protected async asked(input: MessageInput, options: AskOptions, overrides: Partial<QueryOptions> = {}): Promise<BotAnswer> {
    const target = this.streamTarget
    const events = this.run(input, options, { ...overrides, stream: target !== 'none' })
    return await answerFrom(shown(events, target, this.options.output ?? process.stdout))
  }

  /** Converts the answer of a turn to the answer type of this bot. */
  protected finish(answer: BotAnswer): Answer | Promise<Answer> {
    return answer as Answer
  }

  /**
   * Asks the model and yields the text as it arrives; `answer` of the stream resolves to the finished message. The request is sent when the
   * stream is first read or its answer awaited. Leaving early cancels the turn, even before the first token.
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
    // Options of the call override those of the bot.
    const overrides: Partial<QueryOptions> = { retry: { ...retry, afterOutput: takesBack ? 'retry' : 'error' } }
    return leavable(ask, (own) => this.#deltas(recover === 'replay' ? 'hold' : onReset, input, own, overrides))
  }

  /** Starts the turn when it is first read, so that wrong input is reported there. */
  async *#deltas(
    onReset: Parameters<typeof deltasOf>[1],
    ...turn: [MessageInput, AskOptions, Partial<QueryOptions>]
  ): AsyncGenerator<string, Answer, undefined> {
    return await this.finish(yield* deltasOf(this.run(...turn), onReset))
  }

  /** Asks the model and yields every event of the turn. Leaving early cancels the turn. */
  events(input: MessageInput, options: AskOptions = {}): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
    return leavable(options, (ask) => this.run(input, ask))
  }

  /** Returns the messages of a request: system prompt, memories, input. */
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

  /** Returns the provider request for these messages. */
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

  /** Resolves to the model that answers. */
  async model(): Promise<LanguageModel> {
    if (this.#given !== undefined) return this.#given
    this.#default ??= defaultModel(this.#modelOptions)
    try {
      return await this.#default
    } catch (error) {
      // The next question tries again: the missing configuration may be available by then.
      this.#default = undefined
      throw error
    }
  }

  /** Returns the query options that this bot adds for a question. */
  protected queryOptions({ sessionId }: AskOptions): Partial<QueryOptions> {
    const retrieve = { ...this.#remembered(sessionId), ...this.recipe.retrieve }
    return { ...this.recipe, ...(Object.keys(retrieve).length === 0 ? {} : { retrieve }) }
  }

  #remembered(sessionId: string | undefined): QueryOptions['retrieve'] {
    const { memory } = this
    if (memory === undefined) return undefined
    if (!keepsMessages(memory)) return { memory, nResults: MEMORIES }
    // A continued session already holds the conversation; without one, the memory decides how much of it is sent.
    return sessionId === undefined ? { memory, nResults: ALL } : undefined
  }

  /** Runs after a turn that succeeded: saves it in the memory. */
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

  /** Runs a turn and saves it in the memory when it is complete. */
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
      // Also set when `undefined`: a nested turn would otherwise inherit the recorder of the turn around it.
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
        // Saved after the turn is logged and before its reader receives the `complete` event.
        if (event.type === 'complete') await this.#remember(prompt, answer, event)
      }
      yield event
      if (event.type === 'complete' && event.parent === undefined) return event.result
    }
    return undefined
  }

  /** Saves the turn in the memory. A failure only emits a warning: the answer is complete and logged. */
  async #remember(prompt: readonly Message[], answer: Message | undefined, event: EventOf<'complete'>): Promise<void> {
    if (answer === undefined || event.result.finishReason === 'waiting') return
    try {
      const question = prompt.findLast(({ role }) => role === 'user')
      await this.finalize(question, answer, event.result)
    } catch (thrown) {
      const { message } = toCriaError(thrown)
      process.emitWarning(`The memory could not save turn ${event.turnId}: ${message}`, 'CriaMemoryWarning')
    }
  }

  async #recorder({ sessionId }: AskOptions): Promise<Recorder | undefined> {
    if (this.options.recorder === false) return undefined
    const given = this.options.recorder ?? inheritedRecorder()
    // A continued session is read from the journal, so the journal must open; otherwise it is optional.
    return given ?? (sessionId === undefined ? await openJournalIfWritable() : await openJournal())
  }

  /** Returns the options passed on to the query. Fallback models of the same provider use the bot's key; a mock response drops models and budgets. */
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
  /** Keeps the operation of SimpleBot; `name` distinguishes the bots in the journal. Servers have no terminal to print to. */
  protected override get kind(): BotKind {
    return { ...super.kind, name: 'AsyncSimpleBot', target: 'api' }
  }

  /** Yields the text as it arrives; returns the finished message. Leaving early cancels the request and records the turn as cancelled. */
  streamAsync(input: MessageInput, options: StreamOptions = {}): AnswerStream<string, BotAnswer> {
    return this.stream(input, options)
  }
}
