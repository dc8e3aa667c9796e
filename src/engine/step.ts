/** Computes the settings of a step, and calls `prepareStep` and `stopWhen`. */

import type { Station } from '../core/context.ts'
import { CriaError, isCriaError, toCriaError } from '../core/error.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { Message } from '../core/message.ts'
import type { RequestMessage } from '../core/model.ts'
import type { Tool } from '../core/tool.ts'
import { currentModel } from '../model/chain.ts'
import type { ModelChain } from '../model/chain.ts'
import type { RequestOptions } from '../prepare/conversation.ts'
import type { ToolsContext } from '../tools/call.ts'
import { defined } from '../util/check.ts'
import { orAborted } from '../util/promise.ts'
import { checkModel, checkNames } from './checks/values.ts'
import { checkToolChoice, checkTools } from './checks/options.ts'
import type { StepState } from './options.ts'
import { inCallOf } from './parent.ts'
import { requestOfStep, specOf } from './turn.ts'
import type { Turn } from './turn.ts'

/** The settings of a step. */
export interface StepSettings {
  readonly chain: ModelChain
  readonly request: RequestOptions
  readonly tools: readonly Tool[]
  /** Replaces the system prompt; `undefined`: unchanged. */
  readonly system: string | undefined
}

const DEFAULT_TOOL_CONCURRENCY = 5

const CHANGES = ['model', 'tools', 'toolChoice', 'system']

/** @throws CriaError if `prepareStep` throws or returns invalid changes. */
export async function* settingsOfStep(turn: Turn): Station<StepSettings> {
  const { options, chain, step } = turn
  const request = requestOfStep(turn.request, step)
  const unchanged: StepSettings = { chain, request, tools: options.tools ?? [], system: undefined }
  if (options.prepareStep === undefined) return unchanged
  const changes = await called('prepareStep', turn, () => options.prepareStep?.(stateOf(turn)))
  if (changes === undefined || changes === null) return unchanged
  checkNames('The return value of `prepareStep`', changes, CHANGES)
  const { model, tools = unchanged.tools, toolChoice = request.toolChoice, system } = changes
  if (model !== undefined) checkModel('prepareStep().model', model)
  if (changes.tools !== undefined) checkTools(tools)
  checkToolChoice({ toolChoice, tools })
  if (Object.keys(changes).length > 0) {
    const shown = { model: model?.ref, tools: changes.tools?.map(({ name }) => name), toolChoice: changes.toolChoice, system }
    yield { type: 'prepare_step', ...defined(shown) }
  }
  const { toolChoice: _, ...rest } = request
  return {
    chain: model === undefined ? chain : { models: [model, ...chain.models.slice(chain.current)], current: 0 },
    request: {
      ...rest,
      tools: changes.tools === undefined ? request.tools : specsOf(tools),
      ...(toolChoice === undefined ? {} : { toolChoice }),
    },
    tools,
    system,
  }
}

/** Calls `stopWhen` after a step: `true` ends the turn. @throws CriaError if it throws. */
export async function isToStop(turn: Turn, message: Message, results: readonly Message[]): Promise<boolean> {
  const { stopWhen } = turn.options
  if (stopWhen === undefined) return false
  const toolResults = results.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.type !== 'tool-result') return []
      const { id, name, content, isError } = part
      return [{ id, name, content, isError }]
    }),
  )
  const { usage, costUsd } = turn.ledger
  return called('stopWhen', turn, () => stopWhen({ ...stateOf(turn), message, toolResults, usage, costUsd }))
}

function stateOf({ step, conversation, input, chain }: Turn): StepState {
  return { step, messages: conversation?.said ?? [...input.history, ...input.messages], model: currentModel(chain).ref }
}

/** Calls a callback that decides about the turn; if it throws, the turn fails. */
async function called<T>(name: string, { ctx }: Turn, work: () => MaybePromise<T>): Promise<T> {
  try {
    return await orAborted(Promise.resolve(work()), ctx.signal)
  } catch (thrown) {
    ctx.signal.throwIfAborted()
    if (isCriaError(thrown)) throw thrown
    throw new CriaError('configuration', `\`${name}\` threw: ${toCriaError(thrown).message}`, { cause: thrown })
  }
}

const specs = new WeakMap<readonly Tool[], RequestOptions['tools']>()

/** Cached by list, so that its tokens are counted only once. */
function specsOf(tools: readonly Tool[]): RequestOptions['tools'] {
  const known = specs.get(tools) ?? tools.map(specOf)
  specs.set(tools, known)
  return known
}

/** Replaces the system prompt; additions by retrieval and trusted instructions are kept. */
export function withSystem(messages: readonly RequestMessage[], from: string, to: string): readonly RequestMessage[] {
  const [first, ...rest] = messages
  const added = first?.role === 'system' && first.content.startsWith(from) ? first.content.slice(from.length) : undefined
  const text = [to, added?.trim() ?? ''].filter((part) => part !== '').join('\n\n')
  const others = added === undefined ? messages : rest
  return text === '' ? others : [{ role: 'system', content: text, parts: [{ type: 'text', text }] }, ...others]
}

/** The context of the tools station in the present step. */
export function toolsContext(turn: Turn, settings: StepSettings, decided?: ToolsContext['decided']): ToolsContext {
  const { ctx, options, step, tools } = turn
  return {
    ...ctx,
    step,
    state: tools,
    tools: settings.tools,
    permit: options.hasPermissionsToUseTool,
    ...(decided === undefined ? {} : { decided }),
    cannotWait: whyNotWait(turn),
    hooks: options.hooks,
    repair: options.repairToolCall,
    safeMode: options.safeMode ?? false,
    concurrency: options.toolConcurrency ?? DEFAULT_TOOL_CONCURRENCY,
    inCall: inCallOf(turn),
  }
}

/** Returns why calls cannot wait for a later decision; `undefined`: they can. */
function whyNotWait({ caller, recorder }: Turn): string | undefined {
  if (caller !== undefined) return 'A turn started by a tool cannot wait for a decision.'
  if (recorder === undefined) return 'Without a journal it cannot wait for a decision.'
  return recorder.keepsWaiting === true ? undefined : 'This journal does not support turns that wait for a decision.'
}
