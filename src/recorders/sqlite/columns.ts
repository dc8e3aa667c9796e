/** Writes and reads values of columns: texts, JSON and bots; names rows that cannot be read, so that the others are read. */

import type { BotIdentity } from '../../core/event.ts'
import { isCriaError } from '../../core/error.ts'
import { isDamaged } from '../../util/sqlite/failure.ts'

/** A column of text, in the list of a SELECT. `node:sqlite` of Node 22 reads text only to its first NUL, so it is read as bytes. */
export function textColumn(name: string): string {
  return `CAST(${name} AS BLOB) AS ${name}`
}

export function readText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * JSON of well-formed Unicode. The rule for text that is none: a surrogate without its other half becomes U+FFFD, in values and in
 * keys. Everything else, NUL included, is kept.
 */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value)
  // `JSON.stringify` escapes lone surrogates and leaves pairs as they are. An escaped backslash before `ud` looks the same, and costs
  // no more than a second look.
  return text.includes(String.raw`\ud`) ? JSON.stringify(repaired(value)) : text
}

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(repaired)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), repaired(member)]))
}

/** The bot of a turn out of its two columns. */
export function botOf(kind: string | null, name: string | null): BotIdentity | null {
  return kind === null ? null : { kind, ...(name === null ? {} : { name }) }
}

/** Collects what cannot be read, in words. */
export type Damage = string[]

/** What `read` gives; `undefined` where the row is damaged, which is then added to `damage`. */
export function readRow<T>(what: string, damage: Damage, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    // What was written here is JSON of known shape: when it cannot be taken apart, it has changed on the disk.
    const isBroken = error instanceof SyntaxError || error instanceof TypeError || (isCriaError(error) && isDamaged(error))
    if (!isBroken) throw error
    damage.push(`${what} cannot be read (${error.message})`)
    return undefined
  }
}
