/** AsyncQueryBot: QueryBot for servers. In a file of its own, so that commands do not load worker threads and stores. */

import { offThread } from '../app/off-thread.ts'
import type { MessageInput } from '../core/message.ts'
import type { DocumentSource } from '../core/store.ts'
import type { AnswerStream, BotAnswer } from './answer.ts'
import { QueryBot } from './query-bot.ts'
import type { QueryAskOptions } from './query-bot.ts'
import type { BotKind, StreamOptions } from './simple-bot.ts'

/**
 * Searches, composes and answers like QueryBot. A `SqliteDocumentStore` with a file is searched in a worker thread, one per store,
 * which starts with the first question and ends when the store is closed. Any other store is searched in this thread.
 */
export class AsyncQueryBot extends QueryBot {
  /** Keeps the operation of QueryBot, so that traces are comparable. Servers have no terminal to print to, so the target is `api`. */
  protected override get kind(): BotKind {
    return { ...super.kind, name: 'AsyncQueryBot', target: 'api' }
  }

  /**
   * Yields the text as it arrives; returns the finished message after the turn is logged and remembered. Leaving early cancels the request
   * and records the turn as cancelled. @throws CriaError
   */
  streamAsync(input: MessageInput, options: QueryAskOptions & StreamOptions = {}): AnswerStream<string, BotAnswer> {
    return this.stream(input, options)
  }

  protected override searchable(store: DocumentSource): DocumentSource {
    return offThread(store)
  }
}
