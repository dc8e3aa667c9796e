/** Reads rankings in the format of TREC: `query Q0 document rank score tag`; the rank is ignored, as `trec_eval` does. */

import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { CriaError } from '../../core/error.ts'
import type { RankedDocument } from './metrics.ts'

export type Run = ReadonlyMap<string, readonly RankedDocument[]>

/** @throws CriaError `not_found`, or `invalid_request` that names the line. */
export async function readRun(file: string): Promise<Run> {
  await access(file).catch((cause: unknown) => {
    throw new CriaError('not_found', `${file} does not exist: expected a run, as --run writes it.`, { cause })
  })
  const run = new Map<string, RankedDocument[]>()
  let number = 0
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++
    if (line.trim() === '') continue
    const [query, , id, , points] = line.trim().split(/\s+/)
    const score = Number(points)
    if (query === undefined || id === undefined || points === undefined || Number.isNaN(score)) {
      throw new CriaError('invalid_request', `${file}, line ${number}: expected query, Q0, document, rank, score and a tag.`)
    }
    const known = run.get(query)
    if (known === undefined) run.set(query, [{ id, score }])
    else known.push({ id, score })
  }
  return run
}
