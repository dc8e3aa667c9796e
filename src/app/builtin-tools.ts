/** The built-in tools, with the readers of pages and files that documents have too. */

import { basename, dirname } from 'node:path'
import { CriaError } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import { checkList, checkNames } from '../engine/checks/values.ts'
import { builtinTools as toolsOf } from '../tools/builtin/builtin-tools.ts'
import type { BuiltinToolOptions } from '../tools/builtin/builtin-tools.ts'
import { homePaths } from './paths.ts'
import { takeProviderKeys } from './provider-keys.ts'
import { sandboxOptions } from '../tools/sandbox/sandbox.ts'
import { environment } from '../util/environment.ts'
import { namesOf } from '../util/nearest.ts'

export { Edits } from '../tools/builtin/edits.ts'
export type { EditState } from '../tools/builtin/edits.ts'
export type { ToolOptions as BuiltinToolOptions }

interface ToolOptions extends BuiltinToolOptions {
  /**
   * Leave the keys of providers in `process.env`. Default false: they are taken out, so that no program finds them in its own environment or in
   * that of this process.
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
 * Tools for one folder: `read_file`, `write_file`, `edit_file`, `list_files`, `search_files`, `run_command`, `ask_user`, `todo`; with
 * `stores` also `search_documents`, with `fetch` also `fetch_url`. Make them once for a session: they remember which files were read.
 *
 * @throws ConfigurationError when the root cannot be found.
 */
export function builtinTools(options: ToolOptions): readonly Tool[] {
  checkNames('builtinTools()', options, OPTIONS)
  checkList('stores', options.stores ?? [], 'document stores')
  const { fetch = false } = options
  const { env = environment(), keepKeys = false, ...given } = options
  if (!keepKeys) takeProviderKeys(options.secretVariables)
  // Keys, questions and answers lie there.
  const { home } = homePaths({ env, cwd: process.cwd() })
  const sandbox = sandboxOptions(options.sandbox)
  return toolsOf({
    readDocument,
    ...given,
    env,
    sandbox: { ...sandbox, hidden: [...(sandbox.hidden ?? []), home] },
    fetch: fetch === false ? false : { readHtml, ...(fetch === true ? {} : fetch) },
  })
}

/** @throws CriaError `tool_failure` that says why a document cannot be read. */
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
  // A store keeps the title beside the text; whoever reads the page here has nothing else to tell what it is.
  return title === undefined ? text : `${title}\n\n${text}`
}
