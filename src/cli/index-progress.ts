/** Indexes files and shows how far it is, on standard error. */

import type { StoreChoice } from '../app/store-choice.ts'
import { indexPaths } from '../app/stores.ts'
import type { IndexReport } from '../app/stores.ts'
import { shorten, plural } from './format.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'
import { reportProgress } from './terminal/progress.ts'

const MOST_SKIPPED = 20

export async function indexWithProgress(
  choice: StoreChoice,
  paths: readonly string[],
  { dryRun }: { readonly dryRun: boolean },
  io: Io,
): Promise<IndexReport> {
  const { stderr, signal } = io
  const progress = reportProgress({
    write: (text) => void stderr.writeRaw(text),
    columns: stderr.columns,
    live: stderr.live,
    now: () => performance.now(),
  })
  try {
    return await indexPaths(choice, paths, {
      cwd: io.cwd,
      dryRun,
      signal,
      onProgress: ({ done, total, current }) =>
        progress.show({
          label: 'Indexing',
          done,
          ...(total === undefined ? {} : { total }),
          unit: 'files',
          ...(current === undefined ? {} : { current }),
        }),
    })
  } finally {
    progress.clear()
  }
}

/** Says what has changed, when anything has, and what was skipped. */
export async function tellChanges(report: IndexReport, io: Io): Promise<void> {
  const { added, changed, removed } = report
  if (added + changed + removed > 0) await note(io, `${summary(report)}.`)
  await tellSkipped(report, io)
}

export async function tellSkipped({ skipped }: IndexReport, io: Io): Promise<void> {
  for (const { path, reason } of skipped.slice(0, MOST_SKIPPED)) {
    await note(io, `skipped ${shorten(path, 200)}: ${reason}`)
  }
  if (skipped.length > MOST_SKIPPED)
    await note(io, `and ${skipped.length - MOST_SKIPPED} more were skipped; --json lists them all.`)
}

export function summary({ files, chunks, added, changed, removed, unchanged, skipped }: IndexReport): string {
  const parts = [`${added} added`, `${changed} changed`, `${removed} removed`, `${unchanged} unchanged`]
  if (skipped.length > 0) parts.push(`${skipped.length} skipped`)
  return `${plural(files, 'file')}, ${plural(chunks, 'chunk')}: ${parts.join(', ')}`
}
