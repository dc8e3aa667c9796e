/** Bots with tools: ToolBot returns the calls that the model made, AgentBot runs them until there is an answer. */

import { objectReturned, RETURN_OBJECT } from '../app/builtin-tools.ts'
import type { QueryOptions } from '../app/query.ts'
import { ConfigurationError } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { MessageInput } from '../core/message.ts'
import type { ToolChoice } from '../core/model.ts'
import type { ToolCallPart } from '../core/part.ts'
import type { Tool } from '../core/tool.ts'
import { checkTools } from '../engine/checks/options.ts'
import { checkedCalls } from '../engine/completion.ts'
import { defined } from '../util/check.ts'
import { leavable } from './answer.ts'
import type { AnswerStream, BotAnswer } from './answer.ts'
import { countOf, LOOP_OPTIONS, optionsOf, sharedOptions } from './options.ts'
import type { BotOptions, LoopOptions } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions, BotKind } from './simple-bot.ts'

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
export class ToolBot<const Tools extends readonly Tool[] = readonly Tool[]> extends SimpleBot<ToolBotAnswer<InputOf<Tools>>> {
  /** The tools that the model chooses from. */
  readonly tools: Tools

  /** @throws ConfigurationError when there are no tools, or one cannot work, and as SimpleBot. */
  constructor(options: ToolBotOptions<Tools>) {
    super(sharedOptions('ToolBot', options, ['tools', 'toolChoice']))
    checkToolsOf(options.tools, 'ToolBot')
    this.tools = options.tools
    this.recipe = { ...optionsOf(options, ['toolChoice']), tools: this.tools, executeTools: false }
  }

  /** The text beside the calls is for whoever reads the answer. */
  protected override get kind(): BotKind {
    return { name: 'ToolBot', operation: 'toolbot.ask', target: 'none' }
  }

  protected override async finish(answer: BotAnswer): Promise<ToolBotAnswer<InputOf<Tools>>> {
    const { fitting, misfits } = await checkedCalls(answer.toolCalls ?? [], this.tools)
    const returned = fitting.findLast(({ name }) => name === RETURN_OBJECT)?.input as { readonly value: Json } | undefined
    return {
      ...answer,
      toolCalls: fitting as readonly ParsedCall<InputOf<Tools>>[],
      invalidCalls: misfits,
      ...(returned === undefined ? {} : { object: returned.value }),
    }
  }
}

/** `ToolBot` for servers: writes nothing to standard output, and has `streamAsync()`. */
export class AsyncToolBot<const Tools extends readonly Tool[] = readonly Tool[]> extends ToolBot<Tools> {
  protected override get kind(): BotKind {
    return { name: 'AsyncToolBot', operation: 'asynctoolbot.ask', target: 'api' }
  }

  /**
   * The calls that could be run, in the order of the model; returns the whole answer. The first one comes when the answer is complete:
   * a call of an answer that breaks off must not be used. @throws CriaError
   */
  streamAsync(
    input: MessageInput,
    options: AskOptions = {},
  ): AnswerStream<ParsedCall<InputOf<Tools>>, ToolBotAnswer<InputOf<Tools>>> {
    return leavable(options, (own) => this.#calls(input, own))
  }

  async *#calls(
    input: MessageInput,
    options: AskOptions,
  ): AsyncGenerator<ParsedCall<InputOf<Tools>>, ToolBotAnswer<InputOf<Tools>>, undefined> {
    const answer = await this.ask(input, options)
    yield* answer.toolCalls
    return answer
  }
}

/** Options of `new AgentBot()`: those of every bot, tools, and what they may do. */
export interface AgentBotOptions extends BotOptions, LoopOptions {
  /** At least one. What needs permission is refused when neither `hasPermissionsToUseTool` nor `rules` grant it. */
  readonly tools: readonly Tool[]
  /** Model calls at most, as `maxSteps` of `query()`; the answer then has `finishReason: 'max-steps'`. Default 50. */
  readonly maxSteps?: number
  /** Another name of `maxSteps`. */
  readonly maxIterations?: number
  /** Documents that the prompt is answered from beside the tools; the `memory` of the bot goes with them. */
  readonly retrieve?: QueryOptions['retrieve']
  /** How citations of those documents are checked; as `verify` of `query()`. */
  readonly verify?: QueryOptions['verify']
}

/** A bot's answer with what its tools have handed to the user. */
export interface AgentBotAnswer extends BotAnswer {
  /** What a tool has handed to the user: `return_object_to_user`, or `run_code` with `returnToUser`. Absent where none did. */
  readonly object?: Json
}

const AGENT_OPTIONS = ['tools', 'maxSteps', 'maxIterations', 'retrieve', 'verify', ...LOOP_OPTIONS] as const

/** Answers after it has run tools: a loop of steps until the model calls none. */
export class AgentBot extends SimpleBot<AgentBotAnswer> {
  /** The tools that the model may call. */
  readonly tools: readonly Tool[]

  /** @throws ConfigurationError when there are no tools, or one cannot work, and as SimpleBot. */
  constructor(options: AgentBotOptions) {
    super(sharedOptions('AgentBot', options, AGENT_OPTIONS))
    const maxSteps = countOf(options, 'maxSteps', 'maxIterations')
    checkToolsOf(options.tools, 'AgentBot')
    this.tools = options.tools
    this.recipe = { ...optionsOf(options, ['tools', 'retrieve', 'verify', ...LOOP_OPTIONS]), ...defined({ maxSteps }) }
  }

  protected override get kind(): BotKind {
    return { name: 'AgentBot', operation: 'agentbot.ask', target: 'stdout' }
  }

  protected override finish(answer: BotAnswer): AgentBotAnswer {
    return { ...answer, ...objectReturned(this.tools, answer.turnId) }
  }
}

/** @throws ConfigurationError when there are none, or one cannot work. */
function checkToolsOf(tools: readonly Tool[] | null | undefined, bot: string): void {
  // Called from JavaScript it may be null.
  if ((tools ?? []).length === 0) {
    throw new ConfigurationError(`${bot} needs \`tools\`: a list with at least one, as defineTool() makes them.`)
  }
  checkTools(tools ?? [])
}
