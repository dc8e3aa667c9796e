/** AgentBot: uses tools until it has an answer. */

import type { QueryOptions } from '../app/query.ts'
import type { Tool } from '../core/tool.ts'
import type { Json } from '../core/json.ts'
import type { MessageInput } from '../core/message.ts'
import { checkNumber, eitherOf } from '../engine/checks/values.ts'
import { specOf } from '../engine/turn.ts'
import { objectReturned } from '../app/builtin-tools.ts'
import type { AnswerStream } from './answer-stream.ts'
import type { BotAnswer } from './answer.ts'
import { checkBotNames, LOOP_OPTIONS, loopOf, withoutLoop } from './options.ts'
import type { BotOptions, LoopOptions } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions, StreamOptions } from './simple-bot.ts'
import { checkToolsOf } from './tool-bot.ts'
import { defined } from '../util/check.ts'

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

/** Answers after it has run tools: a loop of steps until the model calls none. */
export class AgentBot extends SimpleBot {
  /** The tools that the model may call. */
  readonly tools: readonly Tool[]
  readonly #loop: Partial<QueryOptions>

  /** @throws ConfigurationError when there are no tools, or one cannot work, and as SimpleBot. */
  constructor(options: AgentBotOptions) {
    checkBotNames('AgentBot', options, ['tools', 'maxSteps', 'maxIterations', 'retrieve', 'verify', ...LOOP_OPTIONS])
    const { tools, maxSteps: _, maxIterations: __, retrieve, verify, ...rest } = options
    super(withoutLoop(rest))
    const maxSteps = eitherOf(options, 'maxSteps', 'maxIterations')
    for (const name of ['maxSteps', 'maxIterations'] as const) checkNumber(name, options[name], 1)
    checkToolsOf(tools, 'AgentBot')
    this.tools = tools
    this.#loop = {
      ...defined({ maxSteps, retrieve, verify }),
      ...loopOf(rest),
    }
  }

  /** Asks, runs tools until there is an answer, and resolves to it. @throws CriaError */
  override async ask(input: MessageInput, options: AskOptions = {}): Promise<AgentBotAnswer> {
    return this.#withObject(await super.ask(input, options))
  }

  /** As `ask`, with the text as it comes. @throws CriaError */
  override stream(input: MessageInput, options: StreamOptions = {}): AnswerStream<string, AgentBotAnswer> {
    return this.streamed(input, options, (answer) => this.#withObject(answer))
  }

  #withObject(answer: BotAnswer): AgentBotAnswer {
    return { ...answer, ...objectReturned(this.tools, answer.turnId) }
  }

  protected override get kind(): string {
    return 'AgentBot'
  }

  protected override recipe(options: AskOptions): Partial<QueryOptions> {
    const { retrieve, ...recipe } = super.recipe(options)
    const both = { ...retrieve, ...this.#loop.retrieve }
    return { ...recipe, ...this.#loop, tools: this.tools, ...(Object.keys(both).length === 0 ? {} : { retrieve: both }) }
  }

  protected override settings(): ReturnType<SimpleBot['settings']> {
    const { toolChoice } = this.#loop
    return { ...super.settings(), ...(toolChoice === undefined ? {} : { toolChoice }), tools: this.tools.map(specOf) }
  }
}
