/** A ToolBot for servers: hands out one call after the other. */

import { AnswerStream } from './answer-stream.ts'
import type { MessageInput } from '../core/message.ts'
import type { ToolCallPart } from '../core/part.ts'
import { leavable } from './answer.ts'
import type { StreamTarget } from './options.ts'
import type { AskOptions } from './simple-bot.ts'
import { ToolBot } from './tool-bot.ts'
import type { ToolBotAnswer } from './tool-bot.ts'

export class AsyncToolBot extends ToolBot {
  /**
   * The calls that could be run, in the order of the model; returns the whole answer. The first one comes when the answer is complete:
   * a call of an answer that breaks off must not be used. @throws CriaError
   */
  streamAsync(input: MessageInput, options: AskOptions = {}): AnswerStream<ToolCallPart, ToolBotAnswer> {
    const asked = (signal: AbortSignal): Promise<ToolBotAnswer> => this.ask(input, { ...options, signal })
    const calls = leavable(async function* (signal): AsyncGenerator<ToolCallPart, ToolBotAnswer, undefined> {
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
