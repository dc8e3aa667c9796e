/** Reads and writes which models made the vectors of a store. */

import type { EmbeddingModel } from '../../core/embedding.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { addToFact } from './facts.ts'

export interface Embedder {
  readonly id: number
  readonly model: string
  readonly dimensions: number
  readonly rule: number
  readonly probe: Uint8Array
  /** It has been through all chunks once; until then it is being made. */
  readonly isCurrent: boolean
  readonly through: number
}

interface Row extends Omit<Embedder, 'isCurrent'> {
  readonly current: number
}

/** The one whose vectors are searched. */
export function currentEmbedder(connection: Connection): Embedder | undefined {
  return embedders(connection).find(({ isCurrent }) => isCurrent)
}

/** The current one first. */
export function embedders(connection: Connection): Embedder[] {
  return connection
    .all<Row>('SELECT id, model, dimensions, rule, probe, current, through FROM embedders ORDER BY current DESC, id DESC')
    .map(({ current, ...row }) => ({ ...row, isCurrent: current === 1 }))
}

/** Inside a transaction; returns its id. */
export function addEmbedder(
  connection: Connection,
  { model, dimensions, rule, probe }: Pick<Embedder, 'model' | 'dimensions' | 'rule' | 'probe'>,
): number {
  return connection.insert('INSERT INTO embedders (model, dimensions, rule, probe, current, through) VALUES (?, ?, ?, ?, 0, 0)', [
    model,
    dimensions,
    rule,
    probe,
  ])
}

/** All chunks up to `through` have their vector: it is the current one from now on, and what others have made goes. Inside a transaction. */
export function finish(connection: Connection, { id, isCurrent }: Embedder, through: number): void {
  connection.run('UPDATE embedders SET current = 1, through = ? WHERE id = ?', [through, id])
  if (!isCurrent) removeOthers(connection, [id])
}

/** Removes all embedders but these, and their vectors. Inside a transaction. */
export function removeOthers(connection: Connection, kept: readonly number[]): void {
  const ids = JSON.stringify(kept)
  for (const table of ['vectors', 'codes']) {
    connection.run(`DELETE FROM ${table} WHERE embedder NOT IN (SELECT value FROM json_each(?))`, [ids])
  }
  connection.run('DELETE FROM embedders WHERE id NOT IN (SELECT value FROM json_each(?))', [ids])
  addToFact(connection, 'vector_changes', 1)
}

/** Whether vectors of the model may stand beside those of the embedder. */
export function isMadeBy(
  embedder: Pick<Embedder, 'model' | 'dimensions' | 'rule'>,
  model: EmbeddingModel,
  rule: number,
): boolean {
  return (
    embedder.model === model.ref &&
    embedder.rule === rule &&
    (model.dimensions === undefined || model.dimensions === embedder.dimensions)
  )
}

/** @param why what differs, as a sentence. */
export function mismatch(
  why: string,
  held: Pick<Embedder, 'model' | 'dimensions'>,
  model: EmbeddingModel,
  store: string,
): ConfigurationError {
  const given = { model: model.ref, ...(model.dimensions === undefined ? {} : { dimensions: model.dimensions }) }
  return new ConfigurationError(
    `The store ${JSON.stringify(store)} holds vectors that ${model.ref} cannot be compared with: ${why}`,
    {
      hint: `Make its vectors again with: cria index --embed ${model.ref} --store ${store} (in code: replaceEmbeddings). Or use ${held.model}.`,
      details: { held: { model: held.model, dimensions: held.dimensions }, given },
    },
  )
}
