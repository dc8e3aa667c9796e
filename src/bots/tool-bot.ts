/** A bot that chooses tools: one turn, the calls that the model made, none of them run. */

import type { QueryOptions } from '../app/query.ts'
import { ConfigurationError } from '../core/error.ts'
import type { MessageInput } from '../core/message.ts'
import type { ToolChoice } from '../core/model.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { Tool } from '../core/tool.ts'
import { checkTools } from '../engine/check-options.ts'
import { checkedCalls } from '../engine/tool-calls.ts'
import { specOf } from '../engine/turn-request.ts'
import type { BotAnswer } from './answer.ts'
import { checkBotNames } from './options.ts'
import type { BotOptions, StreamTarget } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions } from './simple-bot.ts'

/** Options of `new ToolBot()`. */
export interface ToolBotOptions extends BotOptions {
  /** What the model may choose from; at least one. */
  readonly tools: readonly Tool[]
  /** Default: the model decides whether it calls any. */
  readonly toolChoice?: ToolChoice
}

/** A bot's answer with the calls that the model chose. */
export interface ToolBotAnswer extends BotAnswer {
  /**
   * Calls of tools that exist, with arguments that fit, in the order of the model; empty when it chose none. `input` is as the model wrote it:
   * whoever runs the call parses it with the schema, which fills in defaults.
   */
  readonly toolCalls: readonly ToolCallPart[]
  /** The other calls; `invalid` says what is wrong with each. */
  readonly invalidCalls: readonly ToolCallPart[]
}

/** Lets a model choose tool calls and returns them, without running any. */
export class ToolBot extends SimpleBot {
  /** The tools that the model chooses from. */
  readonly tools: readonly Tool[]
  readonly #choice: Pick<QueryOptions, 'toolChoice'>

  /** @throws ConfigurationError when there are no tools, or one cannot work, and as SimpleBot. */
  constructor(options: ToolBotOptions) {
    checkBotNames('ToolBot', options, ['tools', 'toolChoice'])
    const { tools, toolChoice, ...rest } = options
    super(rest)
    this.tools = toolsOf({ tools }, 'ToolBot')
    this.#choice = toolChoice === undefined ? {} : { toolChoice }
  }

  /** Asks once and resolves to the answer with its checked calls. @throws CriaError */
  override async ask(input: MessageInput, options: AskOptions = {}): Promise<ToolBotAnswer> {
    const answer = await super.ask(input, options)
    const { fitting, misfits } = await checkedCalls(answer.toolCalls ?? [], this.tools)
    return { ...answer, toolCalls: fitting, invalidCalls: misfits }
  }

  protected override get kind(): string {
    return 'ToolBot'
  }

  /** What is wanted is the calls; text beside them is for whoever reads the answer. */
  protected override get defaultTarget(): StreamTarget {
    return 'none'
  }

  protected override recipe(options: AskOptions): Partial<QueryOptions> {
    return { ...super.recipe(options), ...this.#choice, tools: this.tools, executeTools: false }
  }

  protected override settings(): ReturnType<SimpleBot['settings']> {
    return { ...super.settings(), ...this.#choice, tools: this.tools.map(specOf) }
  }
}

/** @throws ConfigurationError when there are none, or one cannot work. */
export function toolsOf({ tools }: { readonly tools?: readonly Tool[] }, bot: string): readonly Tool[] {
  // Called from JavaScript it may be null.
  const given = tools ?? []
  if (given.length === 0) {
    throw new ConfigurationError(`${bot} needs \`tools\`: a list with at least one, as defineTool() makes them.`)
  }
  checkTools(given)
  return given
}
