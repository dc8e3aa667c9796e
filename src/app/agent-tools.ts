/** Makes tools for agents: those for a folder, with readers for web pages and documents, those that need no folder, and the sub-agent. */

import { basename, dirname } from 'node:path'
import { ConfigurationError, CriaError, toCriaError } from '../core/error.ts'
import type { Tool, ToolContext } from '../core/tool.ts'
import { checkList, checkNames, checkNumber, checkType } from '../engine/checks/values.ts'
import { inheritedModels } from '../engine/parent.ts'
import { builtinTools as toolsOf } from '../tools/builtin/builtin-tools.ts'
import type { BuiltinToolOptions } from '../tools/builtin/builtin-tools.ts'
import { returnObjectTool, runCodeTool as codeTool } from '../tools/builtin/run-code.ts'
import type { RunCodeOptions } from '../tools/builtin/run-code.ts'
import { defineTool } from '../tools/define-tool.ts'
import { sandboxOptions } from '../tools/sandbox/sandbox.ts'
import type { SandboxOptions } from '../tools/sandbox/sandbox.ts'
import { environment } from '../util/environment.ts'
import { namesOf } from '../util/nearest.ts'
import { resultOf } from './event-stream.ts'
import type { ModelInput } from './models.ts'
import { resolveModel, userConfig } from './open-model.ts'
import { homePaths } from './paths.ts'
import { takeProviderKeys } from './provider-keys.ts'
import { query } from './query.ts'
import type { QueryOptions } from './query.ts'

export { Edits } from '../tools/builtin/edits.ts'
export type { EditState } from '../tools/builtin/edits.ts'
export { parseRule } from '../tools/permissions/rule.ts'
export { objectReturned, RETURN_OBJECT } from '../tools/builtin/run-code.ts'
export type { RunCodeOptions, ToolOptions as BuiltinToolOptions }

interface ToolOptions extends BuiltinToolOptions {
  /**
   * Leaves the keys of providers in `process.env`. Default false: they are removed, so that a program finds them neither in its own environment
   * nor in that of this process.
   */
  readonly keepKeys?: boolean
}

const OPTIONS = namesOf<ToolOptions>({
  keepKeys: true,
  root: true,
  stores: true,
  fetch: true,
  askUser: true,
  env: true,
  secretVariables: true,
  keptVariables: true,
  sandbox: true,
  readDocument: true,
  todos: true,
  edits: true,
})

/**
 * Makes the tools for one folder: `read_file`, `write_file`, `edit_file`, `list_files`, `search_files`, `run_command`, `ask_user`, `todo`; with
 * `stores` also `search_documents`, with `fetch` also `fetch_url`. Make them once per session: they remember which files were read.
 *
 * @throws ConfigurationError when the root cannot be found.
 */
export function builtinTools(options: ToolOptions): readonly Tool[] {
  checkNames('builtinTools()', options, OPTIONS)
  checkList('stores', options.stores ?? [], 'document stores')
  const { fetch = false } = options
  const { env = environment(), keepKeys = false, ...given } = options
  if (!keepKeys) takeProviderKeys(options.secretVariables)
  return toolsOf({
    readDocument,
    ...given,
    env,
    sandbox: withoutHome(options.sandbox, env),
    fetch: fetch === false ? false : { readHtml, ...(fetch === true ? {} : fetch) },
  })
}

/** Hides the home from the sandbox, because it holds keys, questions and answers. @throws ConfigurationError for a wrong `sandbox`. */
function withoutHome(given: ToolOptions['sandbox'], env: NonNullable<ToolOptions['env']>): SandboxOptions {
  const sandbox = sandboxOptions(given)
  return { ...sandbox, hidden: [...(sandbox.hidden ?? []), homePaths({ env, cwd: process.cwd() }).home] }
}

/** @throws CriaError `tool_failure` with the reason why a document cannot be read. */
async function readDocument(path: string, signal: AbortSignal): Promise<string | undefined> {
  const { loadDocuments } = await import('../stores/load/load-documents.ts')
  const skipped: string[] = []
  const documents = await loadDocuments(path, { base: dirname(path), signal, onSkip: ({ reason }) => skipped.push(reason) })
  for await (const { text } of documents) return text
  throw new CriaError('tool_failure', `${basename(path)} cannot be read: ${skipped.join(', ')}.`)
}

export async function readHtml(bytes: Uint8Array): Promise<string> {
  const [{ declaredCharset, extractHtml }, { decodeText }] = await Promise.all([
    import('../stores/load/extract-html.ts'),
    import('../stores/load/decode.ts'),
  ])
  const html = decodeText(bytes, declaredCharset(bytes))?.text ?? ''
  const { title, text } = await extractHtml(html)
  // A store keeps the title beside the text; a tool result has only the text.
  return title === undefined ? text : `${title}\n\n${text}`
}

const CODE_OPTIONS = namesOf<RunCodeOptions>({ timeout: true, memory: true, python: true, sandbox: true })

/**
 * Makes the tool `run_code`: JavaScript in a process of its own, without files, network, timers and imports, 10 s and 128 MB at most. It needs no
 * permission. With `python` also Python, which needs permission and runs only inside the sandbox of the operating system.
 *
 * @throws ConfigurationError for options that cannot work.
 */
export function runCodeTool(options: RunCodeOptions = {}): Tool {
  checkNames('runCodeTool()', options, CODE_OPTIONS)
  checkNumber('timeout', options.timeout, 1)
  checkNumber('memory', options.memory, 16)
  return codeTool({ ...options, sandbox: withoutHome(options.sandbox, environment()) })
}

/**
 * Makes tools that change nothing and need no permission: `current_time`, `run_code` and `return_object_to_user`. Add your own tools, and
 * `builtinTools()` for a folder. Make them once per bot.
 *
 * @param options those of `runCodeTool()`.
 * @throws ConfigurationError for options that cannot work.
 */
export function defaultTools(options: RunCodeOptions = {}): readonly Tool[] {
  return [currentTime(), runCodeTool(options), returnObjectTool()]
}

function currentTime(): Tool<{ readonly timeZone?: string }> {
  return defineTool<{ readonly timeZone?: string }>({
    name: 'current_time',
    description: 'Returns the day, the date and the time.',
    inputSchema: {
      type: 'object',
      properties: { timeZone: { type: 'string', description: 'Like Europe/Zurich; default that of this machine.' } },
      additionalProperties: false,
    },
    isReadOnly: true,
    needsPermission: false,
    call({ timeZone }) {
      const now = new Date()
      try {
        const zone = timeZone === undefined ? {} : { timeZone }
        return `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', ...zone }).format(now)} (${now.toISOString()})`
      } catch {
        return { content: `There is no time zone ${JSON.stringify(timeZone)}. Use a name like Europe/Zurich.`, isError: true }
      }
    },
  })
}

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

const AGENT_OPTIONS = namesOf<AgentToolOptions>({
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

const AGENT_DESCRIPTION = `Does a task in a conversation of its own and returns its final answer. Use it for work that takes many steps whose details you
do not need, such as searching through many files, and for tasks that can be done side by side. It knows nothing of this conversation: say what
is wanted, where to look, and what to answer with.`

/**
 * Makes a tool whose sub-agent shares the signal, budget, journal and permission checker of the calling turn.
 *
 * @throws ConfigurationError for wrong options.
 */
export function agentTool(options: AgentToolOptions): Tool {
  checkNames('agentTool()', options, AGENT_OPTIONS)
  const { tools, model, system, maxSteps = DEFAULT_MAX_STEPS, name = 'agent', description = AGENT_DESCRIPTION } = options
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

function taskModels(): Pick<QueryOptions, 'model' | 'fallbackModels'> {
  return userConfig().models?.task === undefined ? (inheritedModels() ?? {}) : { model: 'task' }
}
