/** Bots for servers: they print nothing and can be read piece by piece; AsyncQueryBot searches in a thread of its own. */

import { offThread } from '../app/off-thread.ts'
import type { MessageInput } from '../core/message.ts'
import type { DocumentSource } from '../core/store.ts'
import type { BotAnswer } from './answer.ts'
import type { StreamTarget } from './options.ts'
import { QueryBot } from './query-bot.ts'
import type { QueryAskOptions } from './query-bot.ts'
import type { AskOptions, StreamOptions } from './simple-bot.ts'
import { SimpleBot } from './simple-bot.ts'
import { AnswerStream } from './answer-stream.ts'
import type { Tool } from '../core/tool.ts'
import { leavable } from './answer.ts'
import { ToolBot } from './tool-bot.ts'

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

/** `SimpleBot` for servers: writes nothing to standard output, and has `streamAsync()`. */
export class AsyncSimpleBot extends SimpleBot {
  /** The text as it comes; returns the finished message. Leaving early cancels the request and records the turn as cancelled. */
  streamAsync(input: MessageInput, options: StreamOptions = {}): AnswerStream<string, BotAnswer> {
    return this.stream(input, options)
  }

  protected override get kind(): string {
    return 'AsyncSimpleBot'
  }

  /** The operation is SimpleBot's; the row of the turn tells the bots apart. */
  protected override get operation(): string {
    return 'simplebot.ask'
  }

  /** A server has nobody at its terminal. */
  protected override get defaultTarget(): StreamTarget {
    return 'api'
  }
}

type AnswerOf<Tools extends readonly Tool[]> = Awaited<ReturnType<ToolBot<Tools>['ask']>>
type CallOf<Tools extends readonly Tool[]> = AnswerOf<Tools>['toolCalls'][number]

/** `ToolBot` for servers: writes nothing to standard output, and has `streamAsync()`. */
export class AsyncToolBot<const Tools extends readonly Tool[] = readonly Tool[]> extends ToolBot<Tools> {
  /**
   * The calls that could be run, in the order of the model; returns the whole answer. The first one comes when the answer is complete:
   * a call of an answer that breaks off must not be used. @throws CriaError
   */
  streamAsync(input: MessageInput, options: AskOptions = {}): AnswerStream<CallOf<Tools>, AnswerOf<Tools>> {
    const asked = (signal: AbortSignal): Promise<AnswerOf<Tools>> => this.ask(input, { ...options, signal })
    const calls = leavable(async function* (signal): AsyncGenerator<CallOf<Tools>, AnswerOf<Tools>, undefined> {
      const answer = await asked(signal)
      yield* answer.toolCalls
      return answer
    }, options.signal)
    return new AnswerStream(calls)
  }

  protected override get kind(): string {
    return 'AsyncToolBot'
  }

  protected override get defaultTarget(): StreamTarget {
    return 'api'
  }
}
