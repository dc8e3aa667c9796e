/** ToolBot: one turn that returns the calls which the model made, without running them. */

import type { QueryOptions } from '../app/query.ts'
import { RETURN_OBJECT } from '../app/builtin-tools.ts'
import { ConfigurationError } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { MessageInput } from '../core/message.ts'
import type { ToolChoice } from '../core/model.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { Tool } from '../core/tool.ts'
import { checkTools } from '../engine/checks/options.ts'
import { checkedCalls } from '../engine/completion.ts'
import { specOf } from '../engine/turn.ts'
import type { AnswerStream } from './answer-stream.ts'
import type { BotAnswer } from './answer.ts'
import { checkBotNames } from './options.ts'
import type { BotOptions, StreamTarget } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions, StreamOptions } from './simple-bot.ts'

/** Options of `new ToolBot()`. */
export interface ToolBotOptions<Tools extends readonly Tool[] = readonly Tool[]> extends BotOptions {
  /** What the model may choose from; at least one. */
  readonly tools: Tools
  /** Default: the model decides whether it calls any. */
  readonly toolChoice?: ToolChoice
}

/** A call whose `input` is what the schema of its tool gives back: parsed, with defaults filled in. */
export type ParsedCall<Input = Json> = ToolCallPart & {
  /** The arguments, as the schema gives them back. */
  readonly input: Input
}

/** The input types of the tools as a union; any JSON where they are not known. */
type InputOf<Tools extends readonly Tool[]> =
  Tools[number] extends Tool<infer Input> ? ([Input] extends [never] ? Json : Input) : Json

/** A bot's answer with the calls that the model chose. */
export interface ToolBotAnswer<Input = Json> extends BotAnswer {
  /** Calls of tools that exist, with arguments that fit, in the order of the model; empty when it chose none. */
  readonly toolCalls: readonly ParsedCall<Input>[]
  /** The other calls, as the model wrote them; `invalid` says what is wrong with each. */
  readonly invalidCalls: readonly ToolCallPart[]
  /** The value of the last call of `return_object_to_user`; absent where there is none. */
  readonly object?: Json
}

/** Lets a model choose tool calls and returns them, without running any. */
export class ToolBot<const Tools extends readonly Tool[] = readonly Tool[]> extends SimpleBot {
  /** The tools that the model chooses from. */
  readonly tools: Tools
  readonly #choice: Pick<QueryOptions, 'toolChoice'>

  /** @throws ConfigurationError when there are no tools, or one cannot work, and as SimpleBot. */
  constructor(options: ToolBotOptions<Tools>) {
    checkBotNames('ToolBot', options, ['tools', 'toolChoice'])
    const { tools, toolChoice, ...rest } = options
    super(rest)
    checkToolsOf(tools, 'ToolBot')
    this.tools = tools
    this.#choice = toolChoice === undefined ? {} : { toolChoice }
  }

  /** Asks once and resolves to the answer with its checked calls. @throws CriaError */
  override async ask(input: MessageInput, options: AskOptions = {}): Promise<ToolBotAnswer<InputOf<Tools>>> {
    return await this.#checked(await super.ask(input, options))
  }

  /** As `ask`, with the text beside the calls as it comes. @throws CriaError */
  override stream(input: MessageInput, options: StreamOptions = {}): AnswerStream<string, ToolBotAnswer<InputOf<Tools>>> {
    return this.streamed(input, options, (answer) => this.#checked(answer))
  }

  async #checked(answer: BotAnswer): Promise<ToolBotAnswer<InputOf<Tools>>> {
    const { fitting, misfits } = await checkedCalls(answer.toolCalls ?? [], this.tools)
    const returned = fitting.findLast(({ name }) => name === RETURN_OBJECT)?.input as { readonly value: Json } | undefined
    return {
      ...answer,
      toolCalls: fitting as readonly ParsedCall<InputOf<Tools>>[],
      invalidCalls: misfits,
      ...(returned === undefined ? {} : { object: returned.value }),
    }
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
export function checkToolsOf(tools: readonly Tool[] | null | undefined, bot: string): void {
  // Called from JavaScript it may be null.
  if ((tools ?? []).length === 0) {
    throw new ConfigurationError(`${bot} needs \`tools\`: a list with at least one, as defineTool() makes them.`)
  }
  checkTools(tools ?? [])
}
