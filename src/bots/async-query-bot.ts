/** AsyncQueryBot: QueryBot for servers. In a file of its own: a command that asks once must not load threads and stores for it. */

import { offThread } from '../app/off-thread.ts'
import type { MessageInput } from '../core/message.ts'
import type { DocumentSource } from '../core/store.ts'
import type { AnswerStream, BotAnswer } from './answer.ts'
import { QueryBot } from './query-bot.ts'
import type { QueryAskOptions } from './query-bot.ts'
import type { BotKind, StreamOptions } from './simple-bot.ts'

/**
 * Finds, composes and answers as QueryBot does. A `SqliteDocumentStore` with a file is searched in a worker thread, one for each store,
 * which is started with the first question and ends when the store is closed. Any other store is asked where it is.
 */
export class AsyncQueryBot extends QueryBot {
  /** Whoever reads traces finds the same operation, wherever the search ran. A server has nobody at its terminal. */
  protected override get kind(): BotKind {
    return { ...super.kind, name: 'AsyncQueryBot', target: 'api' }
  }

  /**
   * The text as it comes; returns the finished message, when the turn is logged and remembered. Leaving early cancels the request and
   * records the turn as cancelled. @throws CriaError
   */
  streamAsync(input: MessageInput, options: QueryAskOptions & StreamOptions = {}): AnswerStream<string, BotAnswer> {
    return this.stream(input, options)
  }

  protected override searchable(store: DocumentSource): DocumentSource {
    return offThread(store)
  }
}
