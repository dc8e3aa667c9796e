/** Loads files and folders as documents, one at a time. */

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
  /** Called for every skipped file and folder. */
  readonly onSkip?: (skipped: SkippedFile) => void
  /** Called for every loaded file with a note: its encoding was guessed, or some of its characters are broken. */
  readonly onNote?: (noted: { readonly path: string; readonly note: string }) => void
}

/** Documents that are read during iteration; each iteration reads the files again. */
export interface LoadedDocuments extends AsyncIterable<SourceDocument> {
  /** Reads all documents into an array. */
  toArray(): Promise<SourceDocument[]>
}

const OPTIONS = namesOf<LoadOptions>({ base: true, onSkip: true, onNote: true, maxFileBytes: true, timeout: true, signal: true })

/**
 * Loads the documents in files and folders: Markdown, text, HTML, PDF, DOCX, notebooks, source code, JSON, CSV, and any other text.
 *
 *     await store.extend(await loadDocuments(['docs', 'README.md']))
 *
 * The promise resolves when all paths are known to exist. Files are opened one by one during iteration, so that a folder of any size needs little
 * memory. Skipped are: files excluded by `.gitignore` or `.criaignore`, hidden files and folders, `node_modules`, files that may hold secrets,
 * generated and binary files, and links. A file named in `paths` is read despite these rules. Empty, broken and unreadable files, and files
 * larger than 50 MB, are skipped with a reason (`onSkip`) and do not stop the run.
 *
 * @throws CriaError `not_found` when a path does not exist, `configuration` when no path is given.
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
