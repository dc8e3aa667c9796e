/** Files and folders as documents, one at a time. */

import { ConfigurationError } from '../../core/error.ts'
import type { SourceDocument } from '../../core/store.ts'
import { checkOptionNames } from '../options.ts'
import type { LoadLimits } from './load-file.ts'
import type { SkippedFile } from './walk.ts'
import { realpath } from 'node:fs/promises'
import { namesOf } from '../../util/nearest.ts'

/** Options of `loadDocuments()`. */
export interface LoadOptions extends LoadLimits {
  /** Folder that paths and sources are relative to; default: the current one. */
  readonly base?: string
  /** Called for every file and folder that is left out. */
  readonly onSkip?: (skipped: SkippedFile) => void
  /** Called for every file of which something is worth telling: its encoding was guessed, some of its characters are broken. */
  readonly onNote?: (noted: { readonly path: string; readonly note: string }) => void
}

/** Documents that are read while they are taken; each pass reads the files again. */
export interface LoadedDocuments extends AsyncIterable<SourceDocument> {
  /** All of them at once. */
  toArray(): Promise<SourceDocument[]>
}

const OPTIONS = namesOf<LoadOptions>({ base: true, onSkip: true, onNote: true, maxFileBytes: true, timeout: true, signal: true })

/**
 * Finds the documents in files and folders: Markdown, text, HTML, PDF, DOCX, notebooks, source code, JSON, CSV, and whatever else is text.
 *
 *     await store.extend(await loadDocuments(['docs', 'README.md']))
 *
 * The promise resolves when the paths are known to exist; files are opened one by one while the result is iterated, so that a folder of any
 * size needs little memory. `.gitignore` and `.criaignore` count; hidden files and folders, `node_modules`, files that may hold secrets,
 * generated and binary files are left out, links are not followed. A file that is named itself is read whatever these rules say. Files
 * that are empty, broken, unreadable or larger than 50 MB are left out with a reason (`onSkip`) and stop nothing.
 *
 * @throws CriaError `not_found` when a path does not exist, `configuration` when there is none.
 */
export async function loadDocuments(paths: string | readonly string[], options: LoadOptions = {}): Promise<LoadedDocuments> {
  checkOptionNames('loadDocuments()', options, OPTIONS)
  const given = typeof paths === 'string' ? [paths] : paths
  if (!Array.isArray(given) || given.length === 0) throw new ConfigurationError('loadDocuments needs at least one path.')
  const base = await realpath(options.base ?? process.cwd())
  const [{ loadFile }, { resolveRoots, walk }] = await Promise.all([import('./load-file.ts'), import('./walk.ts')])
  const roots = await resolveRoots(given, base)
  async function* documents(): AsyncGenerator<SourceDocument> {
    for await (const found of walk(roots, base, options.signal)) {
      if ('skipped' in found) {
        options.onSkip?.(found.skipped)
        continue
      }
      const loaded = await loadFile(found.file, options)
      if ('skipped' in loaded) {
        options.onSkip?.({ path: found.file.source, reason: loaded.skipped })
        continue
      }
      if (loaded.note !== undefined) options.onNote?.({ path: found.file.source, note: loaded.note })
      yield loaded.document
    }
  }
  return {
    [Symbol.asyncIterator]: documents,
    toArray: () => Array.fromAsync(documents()),
  }
}
