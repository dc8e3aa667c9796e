/** Indexes files and shows how far it is, on standard error. */

import type { HomePaths } from '../app/paths.ts'
import type { StoreChoice } from '../app/store-choice.ts'
import { indexPaths } from '../app/stores.ts'
import type { EmbeddingChoice, IndexOptions, IndexReport } from '../app/stores.ts'
import { plural, shorten } from './format.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'
import { reportProgress } from './terminal/progress.ts'
import type { Progress, ProgressReporter } from './terminal/progress.ts'
import { defined } from '../util/check.ts'

const MOST_SKIPPED = 20
const MOST_GONE = 5
const AGAIN_MS = 500

interface Indexing {
  readonly dryRun: boolean
  readonly home: HomePaths
  readonly pages?: IndexOptions['pages']
  readonly embeddings: Omit<EmbeddingChoice, 'onProgress'>
}

export async function indexWithProgress(
  choice: StoreChoice,
  paths: readonly string[],
  { dryRun, home, pages, embeddings }: Indexing,
  io: Io,
): Promise<IndexReport> {
  const { stderr, signal, cwd } = io
  const progress = reportProgress(stderr)
  let embedding: ProgressReporter | undefined
  // One large file may take long: meanwhile the bar stays, and a log goes on.
  let latest: Progress | undefined
  const again = setInterval(() => {
    if (latest !== undefined) progress.show(latest)
  }, AGAIN_MS)
  const show = (shown: Progress): void => {
    latest = shown
    progress.show(shown)
  }
  try {
    return await indexPaths(choice, paths, {
      home,
      cwd,
      dryRun,
      ...(pages === undefined ? {} : { pages }),
      signal,
      onProgress: ({ done, total, current, share }) =>
        show({
          label: total === undefined ? 'Looking' : 'Indexing',
          done,
          unit: 'files',
          ...defined({ total, current, part: share }),
        }),
      embeddings: {
        ...embeddings,
        onProgress: ({ done, total }) => {
          latest = undefined
          progress.clear()
          embedding ??= reportProgress(stderr)
          embedding.show({ label: 'Embedding', done, total, unit: 'chunks' })
        },
      },
    })
  } finally {
    clearInterval(again)
    progress.clear()
    embedding?.clear()
    if (signal.aborted && !dryRun) await note(io, interruptedAt(latest))
  }
}

/** A file is indexed as a whole, so that no answer comes from half of it. */
function interruptedAt({ part = 0, current }: Partial<Progress> = {}): string {
  const kept = 'interrupted. What is indexed is kept; the same command goes on from there'
  return part > 0 && current !== undefined ? `${kept}, and begins ${shorten(current, 200)} anew.` : `${kept}.`
}

/** Says what has changed, when anything has, and why there is nothing, when there is nothing. */
export async function tellChanges(report: IndexReport, io: Io): Promise<void> {
  const { files, added, changed, moved, removed } = report
  if (added + changed + moved + removed > 0) await note(io, `indexed ${summary(report)}.`)
  if (files > 0) await tellSkipped({ ...report, skipped: [] }, io)
  if (report.embeddings !== undefined && 'error' in report.embeddings) {
    await note(io, `no vectors were made, words find the documents: ${report.embeddings.error.message}`)
  }
  if (files > 0) return
  await tellSkipped(report, io)
  await note(io, 'there are no documents in what --docs names.')
}

/** Which files were left out, and what is worth telling of those that were read. */
export async function tellSkipped({ skipped, notes = [] }: IndexReport, io: Io): Promise<void> {
  for (const { path, note: noted } of notes.slice(0, MOST_SKIPPED)) await note(io, `${shorten(path, 200)}: ${noted}`)
  if (notes.length > MOST_SKIPPED) await note(io, `${notes.length - MOST_SKIPPED} more notes; --json lists them all.`)
  for (const { path, reason } of skipped.slice(0, MOST_SKIPPED)) {
    await note(io, `skipped ${shorten(path, 200)}: ${reason}`)
  }
  if (skipped.length > MOST_SKIPPED) await note(io, `skipped ${skipped.length - MOST_SKIPPED} more; --json lists them all.`)
}

/** What left the store because a path that was named is not there any more: it may be a mistake, such as a drive that is not mounted. */
export async function tellGone({ gone = [] }: IndexReport, dryRun: boolean, io: Io): Promise<void> {
  for (const { path, removed } of gone) {
    if (removed.length === 0) continue
    const named = removed.slice(0, MOST_GONE).map((source) => shorten(source, 200))
    const more = removed.length > MOST_GONE ? ` and ${removed.length - MOST_GONE} more` : ''
    const what = `${plural(removed.length, 'file')} (${named.join(', ')}${more})`
    await note(
      io,
      `${shorten(path, 200)} is not there any more: what the store has of it ${dryRun ? 'would be' : 'is'} removed, ${what}.`,
    )
  }
}

/** What was embedded, when anything was. */
export function embeddingSummary({ embeddings }: IndexReport): string | undefined {
  if (embeddings === undefined || 'error' in embeddings) return undefined
  const { model, embedded, skipped, cut } = embeddings
  if (embedded + skipped === 0) return undefined
  const parts = [`${plural(embedded, 'vector')} of ${model}`]
  if (skipped > 0) parts.push(`${skipped} without`)
  if (cut > 0) parts.push(`${cut} of the beginning of a long text`)
  return parts.join(', ')
}

export function summary({ files, chunks, added, changed, moved, removed, unchanged, skipped }: IndexReport): string {
  const parts = [`${added} added`, `${changed} changed`, `${removed} removed`, `${unchanged} unchanged`]
  if (moved > 0) parts.push(`${moved} moved`)
  if (skipped.length > 0) parts.push(`${skipped.length} skipped`)
  return `${plural(files, 'file')}, ${plural(chunks, 'chunk')}: ${parts.join(', ')}`
}
