/** Defines the tool that delegates a task to a sub-agent: a nested turn with its own tools, model and conversation. Only the answer is returned. */

import { ConfigurationError, CriaError, toCriaError } from '../core/error.ts'
import type { LanguageModel } from '../core/model.ts'
import type { Tool, ToolContext } from '../core/tool.ts'
import { checkNames, checkNumber, checkType } from '../engine/checks/values.ts'
import { inheritedModels } from '../engine/parent.ts'
import { namesOf } from '../util/nearest.ts'
import { resultOf } from './event-stream.ts'
import type { ModelInput } from './models.ts'
import { query } from './query.ts'
import { resolveModel, userConfig } from './open-model.ts'

/** Options of `agentTool()`. */
export interface AgentToolOptions {
  /** The tools of the sub-agent, read at each call. The `agent` tool itself is left out. */
  readonly tools: readonly Tool[] | (() => readonly Tool[])
  /** Default: the model of the pointer `task` where that is set, else the models of the calling turn. */
  readonly model?: ModelInput
  /** System prompt of the sub-agent; default none. */
  readonly system?: string
  /** Steps of the sub-agent at most; default 30. */
  readonly maxSteps?: number
  /** Name of the tool; default `agent`. */
  readonly name?: string
  /** Description of the tool for the calling model; default says what the tool does and what the task must contain. */
  readonly description?: string
}

const OPTIONS = namesOf<AgentToolOptions>({
  tools: true,
  model: true,
  system: true,
  maxSteps: true,
  name: true,
  description: true,
})
const DEFAULT_MAX_STEPS = 30
/** Milliseconds: a task of many steps takes longer than other tools. */
const TIMEOUT = 1_800_000

const DESCRIPTION = `Does a task in a conversation of its own and returns its final answer. Use it for work that takes many steps whose details you
do not need, such as searching through many files, and for tasks that can be done side by side. It knows nothing of this conversation: say what
is wanted, where to look, and what to answer with.`

/**
 * Makes a tool whose sub-agent shares the signal, budget, journal and permission checker of the calling turn.
 *
 * @throws ConfigurationError for wrong options.
 */
export function agentTool(options: AgentToolOptions): Tool {
  checkNames('agentTool()', options, OPTIONS)
  const { tools, model, system, maxSteps = DEFAULT_MAX_STEPS, name = 'agent', description = DESCRIPTION } = options
  if (typeof tools !== 'function' && !Array.isArray(tools))
    throw new ConfigurationError('agentTool() needs `tools`: a list, or a function that returns a list.')
  for (const member of ['system', 'name', 'description'] as const) checkType(member, options[member], 'string')
  checkNumber('maxSteps', maxSteps, 1)
  const own = model === undefined ? undefined : resolveModel(model)

  const call = async ({ task }: { task: string }, ctx: ToolContext): Promise<string> => {
    const models = own === undefined ? taskModels() : { model: own }
    const given: readonly Tool[] = typeof tools === 'function' ? tools() : tools
    const events = query({
      ...models,
      prompt: task,
      ...(system === undefined ? {} : { system }),
      tools: given.filter((each) => each.name !== name),
      maxSteps,
      abortSignal: ctx.signal,
      bot: { kind: 'AgentBot', name },
      operation: name,
    })
    const result = await resultOf(events).catch((thrown: unknown) => {
      const { code, message } = toCriaError(thrown)
      if (code === 'aborted') throw thrown
      throw new CriaError('tool_failure', `The agent ended with ${code}: ${message}`)
    })
    const text = result?.text.trim() ?? ''
    const unfinished =
      result?.finishReason === 'max-steps' ? `\n[The agent stopped after ${maxSteps} steps and may not be done.]` : ''
    return `${text === '' ? 'The agent gave no answer.' : text}${unfinished}`
  }
  const tool: Tool<{ task: string }> = {
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: { task: { type: 'string', description: 'The whole task, with everything that has to be known.' } },
      required: ['task'],
      additionalProperties: false,
    },
    // The tools of the sub-agent ask for permission one by one.
    needsPermission: false,
    resources: () => ({}),
    timeout: TIMEOUT,
    call,
  }
  return tool
}

function taskModels(): { readonly model?: LanguageModel; readonly fallbackModels?: readonly LanguageModel[] } {
  return userConfig().models?.task === undefined ? (inheritedModels() ?? {}) : { model: resolveModel('task') }
}
