/** A bot that uses tools until it has an answer: the loop of the engine behind a bot's face. */

import type { QueryOptions } from '../app/query.ts'
import { ConfigurationError } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import { specOf } from '../engine/turn-request.ts'
import { checkBotNames, LOOP_OPTIONS, loopOf, withoutLoop } from './options.ts'
import type { BotOptions, LoopOptions } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions } from './simple-bot.ts'
import { toolsOf } from './tool-bot.ts'

/** Options of `new AgentBot()`: those of every bot, tools, and what they may do. */
export interface AgentBotOptions extends BotOptions, LoopOptions {
  /** At least one. What needs permission is refused when neither `hasPermissionsToUseTool` nor `rules` grant it. */
  readonly tools: readonly Tool[]
  /** Model calls at most; the answer then has `finishReason: 'max-steps'`. Default 50. */
  readonly maxIterations?: number
  /** Documents that the prompt is answered from beside the tools; the `memory` of the bot goes with them. */
  readonly retrieve?: QueryOptions['retrieve']
  /** How citations of those documents are checked; as `verify` of `query()`. */
  readonly verify?: QueryOptions['verify']
}

const ELSEWHERE = { maxSteps: 'maxIterations' }

/** Answers after it has run tools: a loop of steps until the model calls none. */
export class AgentBot extends SimpleBot {
  /** The tools that the model may call. */
  readonly tools: readonly Tool[]
  readonly #loop: Partial<QueryOptions>

  /** @throws ConfigurationError when there are no tools, or one cannot work, and as SimpleBot. */
  constructor(options: AgentBotOptions) {
    checkBotNames('AgentBot', options, ['tools', 'maxIterations', 'retrieve', 'verify', ...LOOP_OPTIONS], ELSEWHERE)
    const { tools, maxIterations, retrieve, verify, ...rest } = options
    super(withoutLoop(rest))
    if (maxIterations !== undefined && !(maxIterations >= 1)) {
      throw new ConfigurationError(`\`maxIterations\` must be a number of at least 1, but is ${String(maxIterations)}.`)
    }
    this.tools = toolsOf({ tools }, 'AgentBot')
    this.#loop = {
      ...(maxIterations === undefined ? {} : { maxSteps: maxIterations }),
      ...(retrieve === undefined ? {} : { retrieve }),
      ...(verify === undefined ? {} : { verify }),
      ...loopOf(rest),
    }
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
