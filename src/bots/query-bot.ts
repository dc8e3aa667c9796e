/** A bot that answers from documents. */

import { resolveVerify } from '../app/query.ts'
import type { QueryOptions } from '../app/query.ts'
import { resolveRetrieval } from '../app/retrieval.ts'
import type { RetrieveOptions } from '../app/retrieval.ts'
import { ConfigurationError } from '../core/error.ts'
import type { QueryResult } from '../core/event.ts'
import { toMessages } from '../core/message.ts'
import type { Message, MessageInput } from '../core/message.ts'
import type { Span } from '../core/span.ts'
import type { ChunkFilter, DocumentStore } from '../core/store.ts'
import { checkRetrieval, checkVerify } from '../engine/check-options.ts'
import { checkPort } from '../engine/check-values.ts'
import { composeForRag, DEFAULT_RESULTS } from '../engine/compose.ts'
import type { RagComposition } from '../engine/compose.ts'
import { rememberAnswer } from './memory.ts'
import { checkBotNames } from './options.ts'
import type { BotOptions } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions } from './simple-bot.ts'

/** Options of `new QueryBot()`. */
export interface QueryBotOptions extends BotOptions {
  /** Answers come from here. */
  readonly docstore: DocumentStore
  /** A second store: it is searched after the documents, and gets each answer. Labelled as memory. */
  readonly memory?: DocumentStore
  /** What is searched, and how what is found reaches the model; as `retrieve` of `query()`. */
  readonly retrieve?: Omit<RetrieveOptions, 'docstore' | 'memory' | 'nResults'>
  /** How citations are checked; as `verify` of `query()`. */
  readonly verify?: NonNullable<QueryOptions['verify']>
}

/** Options of one question to a `QueryBot`. */
export interface QueryAskOptions extends AskOptions {
  /** Chunks from each store at most; default 20. */
  readonly nResults?: number
  /** Only documents that pass it, and the filter of the bot, are found: of a field that both name, that of the bot counts. */
  readonly filter?: ChunkFilter
}

const ELSEWHERE = {
  store: 'docstore',
  nResults: 'ask(question, { nResults })',
  filter: 'retrieve: { filter }',
}

/** Answers from a document store, with citations. */
export class QueryBot extends SimpleBot {
  /** The documents that are searched. */
  readonly docstore: DocumentStore
  readonly #retrieve: NonNullable<QueryBotOptions['retrieve']>
  readonly #verify: QueryBotOptions['verify']

  /** @throws ConfigurationError when there is no document store, and as SimpleBot. */
  constructor(options: QueryBotOptions) {
    checkBotNames('QueryBot', options, ['docstore', 'retrieve', 'verify'], ELSEWHERE)
    const { docstore, retrieve, verify, ...rest } = options
    super(rest)
    if (docstore === undefined || docstore === null)
      throw new ConfigurationError('QueryBot needs a `docstore`: any document store, such as one of SqliteDocumentStore.open().')
    checkPort('docstore', docstore, 'retrieve', 'SqliteDocumentStore.open()')
    this.docstore = docstore
    this.#retrieve = retrieve ?? {}
    this.#verify = verify
    if (verify !== undefined) checkVerify(resolveVerify(verify))
    checkRetrieval(resolveRetrieval(this.#retrieve))
  }

  /**
   * Searches both stores once and composes the request: system prompt, document passages best first, memories, question.
   * `messages` is what is logged, `processedMessages` what is sent.
   */
  composeRagMessages(query: MessageInput, nResults: number = DEFAULT_RESULTS, span?: Span): Promise<RagComposition> {
    const retrieve = resolveRetrieval(this.#retrieve)
    return composeForRag({
      ...retrieve,
      system: this.systemPrompt,
      messages: toMessages(query),
      ...this.#stores(),
      nResults,
      span,
    })
  }

  protected override get askOptions(): readonly string[] {
    return [...super.askOptions, 'nResults', 'filter']
  }

  protected override get kind(): string {
    return 'QueryBot'
  }

  protected override recipe({ nResults, filter }: QueryAskOptions): Partial<QueryOptions> {
    const { docstore, memory } = this.#stores()
    const both = { ...filter, ...this.#retrieve.filter }
    return {
      ...(this.#verify === undefined ? {} : { verify: this.#verify }),
      retrieve: {
        ...this.#retrieve,
        docstore,
        ...(memory === undefined ? {} : { memory }),
        ...(nResults === undefined ? {} : { nResults }),
        ...(Object.keys(both).length === 0 ? {} : { filter: both }),
      },
    }
  }

  /** What is asked when `store` is to be searched. */
  protected searchable(store: DocumentStore): DocumentStore {
    return store
  }

  protected override async finalize(question: Message | undefined, answer: Message, result: QueryResult): Promise<void> {
    if (this.memory !== undefined) await rememberAnswer(this.memory, question, answer, result)
  }

  override ask(input: MessageInput, options: QueryAskOptions = {}): ReturnType<SimpleBot['ask']> {
    return super.ask(input, options)
  }

  override stream(input: MessageInput, options: QueryAskOptions = {}): ReturnType<SimpleBot['stream']> {
    return super.stream(input, options)
  }

  override events(input: MessageInput, options: QueryAskOptions = {}): ReturnType<SimpleBot['events']> {
    return super.events(input, options)
  }

  #stores(): { readonly docstore: DocumentStore; readonly memory: DocumentStore | undefined } {
    const { docstore, memory } = this
    return { docstore: this.searchable(docstore), memory: memory === undefined ? undefined : this.searchable(memory) }
  }
}
