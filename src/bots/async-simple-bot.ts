/** A bot for servers: tokens first, and nothing it does holds up the event loop. */

import type { MessageInput } from '../core/message.ts'
import type { AnswerStream } from './answer-stream.ts'
import type { BotAnswer } from './answer.ts'
import type { StreamTarget } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { StreamOptions } from './simple-bot.ts'

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
