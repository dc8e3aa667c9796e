/** QueryBot: answers questions from documents. */

import { resolveRetrieval, resolveVerify } from '../app/query.ts'
import type { QueryOptions, RetrieveOptions } from '../app/query.ts'
import { ConfigurationError } from '../core/error.ts'
import type { QueryResult } from '../core/event.ts'
import { toMessages, user } from '../core/message.ts'
import type { Message, MessageInput } from '../core/message.ts'
import type { Span } from '../core/span.ts'
import type { ChunkFilter, DocumentSource, MemoryStore } from '../core/store.ts'
import { checkRetrieval, checkVerify } from '../engine/checks/options.ts'
import { checkPort } from '../engine/checks/values.ts'
import { previewRag, DEFAULT_RESULTS } from '../engine/preview.ts'
import type { RagComposition } from '../engine/preview.ts'
import { currentSpan } from '../engine/span.ts'
import { rememberAnswer } from './memory.ts'
import { optionsOf, sharedOptions } from './options.ts'
import type { BotOptions } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions, BotKind, StreamOptions } from './simple-bot.ts'
import { defined } from '../util/check.ts'

/** Options of `new QueryBot()`. */
export interface QueryBotOptions extends BotOptions {
  /** The documents to answer from. */
  readonly docstore: DocumentSource
  /** A second store, searched after the documents and labelled as memory; each answer is saved in it. */
  readonly memory?: MemoryStore
  /** Search options, and how passages are sent to the model; as `retrieve` of `query()`. */
  readonly retrieve?: Omit<RetrieveOptions, 'docstore' | 'memory' | 'nResults'>
  /** How citations are checked; as `verify` of `query()`. */
  readonly verify?: NonNullable<QueryOptions['verify']>
}

/** Options of one question to a `QueryBot`. */
export interface QueryAskOptions extends AskOptions {
  /** Maximum chunks from each store; default 20. */
  readonly nResults?: number | undefined
  /** Restricts the search, in addition to the filter of the bot, which takes precedence for fields that both name. */
  readonly filter?: ChunkFilter | undefined
}

const ELSEWHERE = {
  store: 'docstore',
  nResults: 'ask(question, { nResults })',
  filter: 'retrieve: { filter }',
}

/**
 * Converts the input to messages with a question: without a user message, the last message with text becomes a user message.
 *
 * @throws ConfigurationError for input that is not a message.
 */
function asQuestion(input: MessageInput): readonly Message[] {
  const messages = toMessages(input)
  if (messages.some(({ role }) => role === 'user')) return messages
  const last = messages.findLastIndex(({ content }) => content.trim() !== '')
  return messages.map((message, at) => (at === last ? user(message.content) : message))
}

/** Answers from a document store, with citations. */
export class QueryBot extends SimpleBot {
  /** The searched documents. */
  readonly docstore: DocumentSource
  readonly #retrieve: NonNullable<QueryBotOptions['retrieve']>

  /** @throws ConfigurationError without a document store, and for invalid options of SimpleBot. */
  constructor(options: QueryBotOptions) {
    super(sharedOptions('QueryBot', options, ['docstore', 'retrieve', 'verify'], ELSEWHERE))
    const { docstore, verify } = options
    // Callers in JavaScript write `null` for "none".
    const retrieve = options.retrieve ?? {}
    if (docstore === undefined || docstore === null)
      throw new ConfigurationError('QueryBot needs a `docstore`: any document store, such as SqliteDocumentStore.open() returns.')
    checkPort('docstore', docstore, 'retrieve', 'SqliteDocumentStore.open()')
    this.docstore = docstore
    this.#retrieve = retrieve
    this.recipe = optionsOf(options, ['verify'])
    if (verify !== undefined) checkVerify(resolveVerify(verify))
    checkRetrieval({ ...resolveRetrieval(retrieve), docstore })
  }

  /**
   * Searches both stores once and composes the request: system prompt, document passages best first, memories, question.
   * `messages` are logged, `processedMessages` are sent.
   */
  async composeRagMessages(query: MessageInput, nResults: number = DEFAULT_RESULTS, span?: Span): Promise<RagComposition> {
    const messages = asQuestion(query)
    // Read before the first await, after which the current span may differ.
    const around = span ?? currentSpan()
    const { docstore, memory } = this.#stores()
    return await previewRag({
      system: this.systemPrompt,
      messages,
      retrieve: { ...resolveRetrieval(this.#retrieve), docstore, nResults, ...(memory === undefined ? {} : { memory }) },
      span: around,
      model: await this.model(),
      request: this.settings(),
      compaction: this.options.context?.compaction ?? {},
    })
  }

  protected override run(input: MessageInput, ...rest: [QueryAskOptions, Partial<QueryOptions>?]): ReturnType<SimpleBot['run']> {
    return super.run(asQuestion(input), ...rest)
  }

  protected override get kind(): BotKind {
    return { name: 'QueryBot', operation: 'querybot.ask', target: 'stdout', asks: ['nResults', 'filter'] }
  }

  protected override queryOptions({ nResults, filter }: QueryAskOptions): Partial<QueryOptions> {
    const both = { ...filter, ...this.#retrieve.filter }
    const found = defined({ ...this.#stores(), nResults, filter: Object.keys(both).length === 0 ? undefined : both })
    return { ...this.recipe, retrieve: { ...this.#retrieve, ...found } }
  }

  /** Returns the source to search for a store; overridden to search in a worker thread. */
  protected searchable(store: DocumentSource): DocumentSource {
    return store
  }

  protected override async finalize(question: Message | undefined, answer: Message, result: QueryResult): Promise<void> {
    if (this.memory !== undefined) await rememberAnswer(this.memory, question, answer, result)
  }

  override ask(input: MessageInput, options: QueryAskOptions = {}): ReturnType<SimpleBot['ask']> {
    return super.ask(input, options)
  }

  override stream(input: MessageInput, options: QueryAskOptions & StreamOptions = {}): ReturnType<SimpleBot['stream']> {
    return super.stream(input, options)
  }

  override events(input: MessageInput, options: QueryAskOptions = {}): ReturnType<SimpleBot['events']> {
    return super.events(input, options)
  }

  #stores(): { readonly docstore: DocumentSource; readonly memory: DocumentSource | undefined } {
    const { docstore, memory } = this
    return { docstore: this.searchable(docstore), memory: memory === undefined ? undefined : this.searchable(memory) }
  }
}
