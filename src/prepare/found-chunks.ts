/** The border to document stores: what one of them returns is checked once, here, since users bring their own. */

import { CriaError } from '../core/error.ts'
import type { FoundChunks, ScoredChunk } from '../core/store.ts'
import { describe, isRecord } from '../util/check.ts'

/** @throws CriaError `store_failed` that names the store and what is wrong with what it returned. */
export function foundChunks(value: unknown, store: string): FoundChunks {
  if (!Array.isArray(value)) throw mistaken(store, `a list of chunks, but is ${describe(value)}`)
  for (const [index, chunk] of value.entries()) checkChunk(chunk, index, store)
  return value as FoundChunks
}

const MEMBERS = {
  id: 'string',
  text: 'string',
  source: 'string',
  start: 'number',
  end: 'number',
  score: 'number',
} as const satisfies Partial<Record<keyof ScoredChunk, string>>

function checkChunk(chunk: unknown, index: number, store: string): void {
  if (typeof chunk !== 'object' || chunk === null)
    throw mistaken(store, `a list of chunks, but its number ${index} is ${describe(chunk)}`)
  for (const [member, type] of Object.entries(MEMBERS)) {
    const value: unknown = Reflect.get(chunk, member)
    if (typeof value === type && !Number.isNaN(value)) continue
    throw mistaken(store, `a list of chunks, but \`${member}\` of its number ${index} is ${describe(value)}, not a ${type}`)
  }
  const metadata: unknown = Reflect.get(chunk, 'metadata')
  if (isRecord(metadata) && isJson(metadata)) return
  throw mistaken(
    store,
    `a list of chunks, but \`metadata\` of its number ${index} is ${describe(metadata)}, not an object of JSON`,
  )
}

function isJson(value: object): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

function mistaken(store: string, what: string): CriaError {
  return new CriaError('store_failed', `What \`retrieve()\` of the store ${JSON.stringify(store)} returns must be ${what}.`, {
    hint: 'Mend this store, or leave it out; `documentStoreSuite` of cria/testing tells whether a store does what is asked of it.',
  })
}
