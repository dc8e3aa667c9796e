/** Builds the built-in tools for a folder, with readers for web pages and documents, and default tools that need no folder. */

import { basename, dirname } from 'node:path'
import { CriaError } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import { checkList, checkNames, checkNumber } from '../engine/checks/values.ts'
import { builtinTools as toolsOf } from '../tools/builtin/builtin-tools.ts'
import type { BuiltinToolOptions } from '../tools/builtin/builtin-tools.ts'
import { returnObjectTool, runCodeTool as codeTool } from '../tools/builtin/run-code.ts'
import type { RunCodeOptions } from '../tools/builtin/run-code.ts'
import { defineTool } from '../tools/define-tool.ts'
import { sandboxOptions } from '../tools/sandbox/sandbox.ts'
import type { SandboxOptions } from '../tools/sandbox/sandbox.ts'
import { environment } from '../util/environment.ts'
import { namesOf } from '../util/nearest.ts'
import { homePaths } from './paths.ts'
import { takeProviderKeys } from './provider-keys.ts'

export { Edits } from '../tools/builtin/edits.ts'
export type { EditState } from '../tools/builtin/edits.ts'
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
    description: 'Tells day, date and time.',
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
