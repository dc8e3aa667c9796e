/** Bots with tools: ToolBot returns the calls that the model requests, AgentBot runs them until the model answers. */

import { objectReturned, RETURN_OBJECT } from '../app/agent-tools.ts'
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
  /** Tools that the model may call; at least one. */
  readonly tools: Tools
  /** Constrains the tool calls; default: the model decides whether to call a tool. */
  readonly toolChoice?: ToolChoice
}

/** A call whose `input` was parsed by the schema of its tool, with defaults filled in. */
export type ParsedCall<Input = Json> = ToolCallPart & {
  /** The arguments, as parsed by the schema. */
  readonly input: Input
}

/** The input types of the tools as a union; `Json` if they are unknown. */
type InputOf<Tools extends readonly Tool[]> =
  Tools[number] extends Tool<infer Input> ? ([Input] extends [never] ? Json : Input) : Json

/** A bot's answer with the calls that the model requested. */
export interface ToolBotAnswer<Input = Json> extends BotAnswer {
  /** Calls of known tools with valid arguments, in the order of the model; empty when there are none. */
  readonly toolCalls: readonly ParsedCall<Input>[]
  /** All other calls, as the model wrote them; `invalid` holds the reason. */
  readonly invalidCalls: readonly ToolCallPart[]
  /** The value of the last call of `return_object_to_user`; absent without such a call. */
  readonly object?: Json
}

/** Lets a model choose tool calls and returns them, without running any. */
export class ToolBot<const Tools extends readonly Tool[] = readonly Tool[]> extends SimpleBot<ToolBotAnswer<InputOf<Tools>>> {
  /** The tools that the model chooses from. */
  readonly tools: Tools

  /** @throws ConfigurationError without tools, for an invalid tool, and for invalid options of SimpleBot. */
  constructor(options: ToolBotOptions<Tools>) {
    super(sharedOptions('ToolBot', options, ['tools', 'toolChoice']))
    checkToolsOf(options.tools, 'ToolBot')
    this.tools = options.tools
    this.recipe = { ...optionsOf(options, ['toolChoice']), tools: this.tools, executeTools: false }
  }

  /** Prints no text: text beside the calls is part of the answer. */
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
   * Yields the valid calls in the order of the model; returns the whole answer. Yields nothing before the answer is complete, because
   * calls of an answer that breaks off must not be used. @throws CriaError
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

/** Options of `new AgentBot()`: those of every bot, tools, and permissions. */
export interface AgentBotOptions extends BotOptions, LoopOptions {
  /** At least one tool. Calls that need permission are refused unless `hasPermissionsToUseTool` or `rules` grant it. */
  readonly tools: readonly Tool[]
  /** Maximum model calls, as `maxSteps` of `query()`; at the limit the answer has `finishReason: 'max-steps'`. Default 50. */
  readonly maxSteps?: number
  /** Another name of `maxSteps`. */
  readonly maxIterations?: number
  /** Documents to search for the prompt, in addition to tools; the `memory` of the bot is searched with them. */
  readonly retrieve?: QueryOptions['retrieve']
  /** How citations of those documents are checked; as `verify` of `query()`. */
  readonly verify?: QueryOptions['verify']
}

/** A bot's answer with the object that its tools returned to the user. */
export interface AgentBotAnswer extends BotAnswer {
  /** The object returned by `return_object_to_user`, or by `run_code` with `returnToUser`; absent without such a call. */
  readonly object?: Json
}

const AGENT_OPTIONS = ['tools', 'maxSteps', 'maxIterations', 'retrieve', 'verify', ...LOOP_OPTIONS] as const

/** Runs tools in a loop until the model answers without calling any. */
export class AgentBot extends SimpleBot<AgentBotAnswer> {
  /** The tools that the model may call. */
  readonly tools: readonly Tool[]

  /** @throws ConfigurationError without tools, for an invalid tool, and for invalid options of SimpleBot. */
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

/** @throws ConfigurationError without tools, and for an invalid tool. */
function checkToolsOf(tools: readonly Tool[] | null | undefined, bot: string): void {
  // JavaScript callers may pass null.
  if ((tools ?? []).length === 0) {
    throw new ConfigurationError(`${bot} needs \`tools\`: a list with at least one, as defineTool() makes them.`)
  }
  checkTools(tools ?? [])
}
