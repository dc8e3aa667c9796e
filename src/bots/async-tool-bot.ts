/** A ToolBot for servers: hands out one call after the other. */

import type { MessageInput } from '../core/message.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { StreamTarget } from './options.ts'
import type { AskOptions } from './simple-bot.ts'
import { ToolBot } from './tool-bot.ts'
import type { ToolBotAnswer } from './tool-bot.ts'

/** `ToolBot` for servers: writes nothing to standard output, and has `streamAsync()`. */
export class AsyncToolBot extends ToolBot {
  /**
   * The calls that could be run, in the order of the model; returns the whole answer. The first one comes when the answer is complete:
   * a call of an answer that breaks off must not be used. @throws CriaError
   */
  async *streamAsync(input: MessageInput, options: AskOptions = {}): AsyncGenerator<ToolCallPart, ToolBotAnswer, undefined> {
    const answer = await this.ask(input, options)
    yield* answer.toolCalls
    return answer
  }

  protected override get kind(): string {
    return 'AsyncToolBot'
  }

  protected override get defaultTarget(): StreamTarget {
    return 'api'
  }
}
