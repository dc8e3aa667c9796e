/** A ToolBot for servers: hands out one call after the other. */

import { AnswerStream } from './answer-stream.ts'
import type { MessageInput } from '../core/message.ts'
import type { Tool } from '../core/tool.ts'
import { leavable } from './answer.ts'
import type { StreamTarget } from './options.ts'
import type { AskOptions } from './simple-bot.ts'
import { ToolBot } from './tool-bot.ts'

type CallOf<Tools extends readonly Tool[]> = Awaited<ReturnType<ToolBot<Tools>['ask']>>['toolCalls'][number]

/** `ToolBot` for servers: writes nothing to standard output, and has `streamAsync()`. */
export class AsyncToolBot<const Tools extends readonly Tool[] = readonly Tool[]> extends ToolBot<Tools> {
  /**
   * The calls that could be run, in the order of the model; returns the whole answer. The first one comes when the answer is complete:
   * a call of an answer that breaks off must not be used. @throws CriaError
   */
  streamAsync(
    input: MessageInput,
    options: AskOptions = {},
  ): AnswerStream<CallOf<Tools>, Awaited<ReturnType<ToolBot<Tools>['ask']>>> {
    const asked = (signal: AbortSignal): ReturnType<ToolBot<Tools>['ask']> => this.ask(input, { ...options, signal })
    const calls = leavable(async function* (
      signal,
    ): AsyncGenerator<CallOf<Tools>, Awaited<ReturnType<ToolBot<Tools>['ask']>>, undefined> {
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
