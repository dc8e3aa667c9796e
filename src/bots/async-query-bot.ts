/** A QueryBot for servers: documents are searched in a thread of their own, and the event loop stays free. */

import { offThread } from '../app/off-thread.ts'
import type { MessageInput } from '../core/message.ts'
import type { DocumentSource } from '../core/store.ts'
import type { AnswerStream } from './answer-stream.ts'
import type { BotAnswer } from './answer.ts'
import type { StreamTarget } from './options.ts'
import { QueryBot } from './query-bot.ts'
import type { QueryAskOptions } from './query-bot.ts'
import type { StreamOptions } from './simple-bot.ts'

/**
 * Finds, composes and answers as QueryBot does. A `SqliteDocumentStore` with a file is searched in a worker thread, one for each store,
 * which is started with the first question and ends when the store is closed. Any other store is asked where it is.
 */
export class AsyncQueryBot extends QueryBot {
  /**
   * The text as it comes; returns the finished message, when the turn is logged and remembered. Leaving early cancels the request and
   * records the turn as cancelled. @throws CriaError
   */
  streamAsync(input: MessageInput, options: QueryAskOptions & StreamOptions = {}): AnswerStream<string, BotAnswer> {
    return this.stream(input, options)
  }

  protected override get kind(): string {
    return 'AsyncQueryBot'
  }

  /** Whoever reads traces finds the same operation, wherever the search ran. */
  protected override get operation(): string {
    return 'querybot.ask'
  }

  /** A server has nobody at its terminal. */
  protected override get defaultTarget(): StreamTarget {
    return 'api'
  }

  protected override searchable(store: DocumentSource): DocumentSource {
    return offThread(store)
  }
}
