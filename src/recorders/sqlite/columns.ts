/**
 * Writes and reads rows: columns are named as the members of objects are, in snake case. Texts and JSON are kept as they are given, and rows that
 * cannot be read are named, so that the others are read.
 */

import type { SQLInputValue } from 'node:sqlite'
import type { BotIdentity } from '../../core/event.ts'
import { isCriaError } from '../../core/error.ts'
import type { Usage } from '../../core/usage.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { isDamaged } from '../../util/sqlite/failure.ts'

/** Values of columns by member: `startedAt` is the column `started_at`. Names are ours, never a caller's. */
export type Row = Readonly<Record<string, SQLInputValue>>

interface Insertion {
  readonly members: readonly string[]
  readonly sql: string
}

/** The last statement of each table: rows of one table have the same members nearly always. */
const insertions = new Map<string, Insertion>()

/** Inserts a row and returns its integer key. */
export function insertInto(connection: Connection, table: string, row: Row): number {
  const members = Object.keys(row)
  let insertion = insertions.get(table)
  if (insertion?.members.length !== members.length || members.some((member, at) => member !== insertion?.members[at])) {
    const columns = members.map(columnOf).join(', ')
    insertion = { members, sql: `INSERT INTO ${table} (${columns}) VALUES (${members.map(() => '?').join(', ')})` }
    insertions.set(table, insertion)
  }
  return connection.insert(insertion.sql, Object.values(row))
}

/** The list of a SELECT that reads these members, which blanks separate: `turn_id AS turnId`. */
export function columnsOf(members: string): string {
  const names = members.split(' ')
  return names.map((name) => `${columnOf(name)} AS ${name}`).join(', ')
}

/** `cacheWrite1hTokens` is `cache_write_1h_tokens`. */
export function columnOf(name: string): string {
  return name.replaceAll(/[A-Z]|\d+/g, (start) => `_${start.toLowerCase()}`)
}

/** A column of text, in the list of a SELECT. `node:sqlite` of Node 22 reads text only to its first NUL, so it is read as bytes. */
export function textColumn(name: string): string {
  return `CAST(${columnOf(name)} AS BLOB) AS ${name}`
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

export function jsonOrNull(value: object | undefined): string | null {
  return value === undefined ? null : wellFormedJson(value)
}

function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(repaired)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), repaired(member)]))
}

/** Columns of the bot of a turn. */
export interface StoredBot {
  readonly botKind: string | null
  readonly botName: string | null
}

export function botOf({ botKind: kind, botName: name }: StoredBot): BotIdentity | null {
  return kind === null ? null : { kind, ...(name === null ? {} : { name }) }
}

/** Members of `Usage`; each is a column of the table of turns. */
export const USAGE: readonly (keyof Usage)[] = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'reasoningTokens',
  'exactness',
]

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

/** What `read` gives of each of the rows that can be read; the others are added to `damage` by their names. */
export function readRows<Stored, T>(
  rows: readonly Stored[],
  damage: Damage,
  nameOf: (row: Stored) => string,
  read: (row: Stored) => T,
): T[] {
  return rows.flatMap((row) => readRow(nameOf(row), damage, () => [read(row)]) ?? [])
}
