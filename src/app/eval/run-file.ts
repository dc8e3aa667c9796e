/** Reads rankings in the format of TREC: `query Q0 document rank score tag`; the rank is ignored, as `trec_eval` does. */

import { mistakeIn, readLines } from './lines.ts'
import type { RankedDocument } from './metrics.ts'

export type Run = ReadonlyMap<string, readonly RankedDocument[]>

/** @throws CriaError `not_found`, or `invalid_request` that names the line. */
export async function readRun(file: string): Promise<Run> {
  const run = new Map<string, RankedDocument[]>()
  for await (const line of readLines(file, 'a run, as --run writes it')) {
    const [query, , id, , points] = line.content.trim().split(/\s+/)
    const score = Number(points)
    if (query === undefined || id === undefined || points === undefined || Number.isNaN(score)) {
      throw mistakeIn(line, 'expected query, Q0, document, rank, score and a tag.')
    }
    const known = run.get(query)
    if (known === undefined) run.set(query, [{ id, score }])
    else known.push({ id, score })
  }
  return run
}
