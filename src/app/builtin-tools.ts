/** The built-in tools, with the reader of pages that documents have too. */

import type { Tool } from '../core/tool.ts'
import { builtinTools as toolsOf } from '../tools/builtin/builtin-tools.ts'
import type { BuiltinToolOptions } from '../tools/builtin/builtin-tools.ts'

export type { BuiltinToolOptions }

/**
 * Tools for one folder: `read_file`, `write_file`, `edit_file`, `list_files`, `search_files`, `run_command`, `ask_user`, `todo`; with
 * `stores` also `search_documents`, with `fetch` also `fetch_url`. Make them once for a session: they remember which files were read.
 *
 * @throws ConfigurationError when the root cannot be found.
 */
export function builtinTools(options: BuiltinToolOptions): readonly Tool[] {
  const { fetch } = options
  if (fetch === undefined || fetch === false) return toolsOf(options)
  return toolsOf({ ...options, fetch: { readHtml, ...(fetch === true ? {} : fetch) } })
}

async function readHtml(bytes: Uint8Array): Promise<string> {
  const [{ declaredCharset, extractHtml }, { decodeText }] = await Promise.all([
    import('../stores/load/extract-html.ts'),
    import('../stores/load/decode.ts'),
  ])
  const html = decodeText(bytes, declaredCharset(bytes)) ?? ''
  return (await extractHtml(html)).text
}
