/** A bot that uses tools until it has an answer: the loop of the engine behind a bot's face. */

import type { QueryOptions } from '../app/query.ts'
import { ConfigurationError } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import { specOf } from '../engine/turn-request.ts'
import { checkBotNames } from './options.ts'
import type { BotOptions } from './options.ts'
import { SimpleBot } from './simple-bot.ts'
import type { AskOptions } from './simple-bot.ts'
import { toolsOf } from './tool-bot.ts'

type LoopOptions = Pick<QueryOptions, 'hasPermissionsToUseTool' | 'rules' | 'safeMode' | 'toolConcurrency' | 'toolChoice'>

export interface AgentBotOptions extends BotOptions, LoopOptions {
  /** At least one. What needs permission is refused when neither `hasPermissionsToUseTool` nor `rules` grant it. */
  readonly tools: readonly Tool[]
  /** Model calls at most; the answer then has `finishReason: 'max-steps'`. Default 50. */
  readonly maxIterations?: number
}

const OPTIONS = [
  'tools',
  'maxIterations',
  'hasPermissionsToUseTool',
  'rules',
  'safeMode',
  'toolConcurrency',
  'toolChoice',
] satisfies (keyof AgentBotOptions)[]

const ELSEWHERE = { maxSteps: 'maxIterations' }

export class AgentBot extends SimpleBot {
  readonly tools: readonly Tool[]
  readonly #loop: Partial<QueryOptions>

  /** @throws ConfigurationError when there are no tools, or one cannot work, and as SimpleBot. */
  constructor(options: AgentBotOptions) {
    checkBotNames('AgentBot', options, OPTIONS, ELSEWHERE)
    const { tools, maxIterations, hasPermissionsToUseTool, rules, safeMode, toolConcurrency, toolChoice, ...rest } = options
    super(rest)
    if (maxIterations !== undefined && !(maxIterations >= 1)) {
      throw new ConfigurationError(`\`maxIterations\` must be a number of at least 1, but is ${String(maxIterations)}.`)
    }
    this.tools = toolsOf({ tools }, 'AgentBot')
    this.#loop = {
      ...(maxIterations === undefined ? {} : { maxSteps: maxIterations }),
      ...(hasPermissionsToUseTool === undefined ? {} : { hasPermissionsToUseTool }),
      ...(rules === undefined ? {} : { rules }),
      ...(safeMode === undefined ? {} : { safeMode }),
      ...(toolConcurrency === undefined ? {} : { toolConcurrency }),
      ...(toolChoice === undefined ? {} : { toolChoice }),
    }
  }

  protected override get kind(): string {
    return 'AgentBot'
  }

  protected override recipe(options: AskOptions): Partial<QueryOptions> {
    return { ...super.recipe(options), ...this.#loop, tools: this.tools }
  }

  protected override settings(): ReturnType<SimpleBot['settings']> {
    const { toolChoice } = this.#loop
    return { ...super.settings(), ...(toolChoice === undefined ? {} : { toolChoice }), tools: this.tools.map(specOf) }
  }
}
