/**
 * Writes and reads rows. Columns have the names of object members in snake case. Texts and JSON are stored unchanged. Damaged rows
 * are reported by name, so that the others can be read.
 */

import type { SQLInputValue } from 'node:sqlite'
import type { BotIdentity } from '../../core/event.ts'
import { isCriaError } from '../../core/error.ts'
import type { Usage } from '../../core/usage.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { isDamaged } from '../../util/sqlite/file-kind.ts'

/** Column values by member: `startedAt` is the column `started_at`. Names come from our code, never from a caller. */
export type Row = Readonly<Record<string, SQLInputValue>>

interface Insertion {
  readonly members: readonly string[]
  readonly sql: string
}

/** The last INSERT statement of each table: rows of one table nearly always have the same members. */
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

/** Returns the column list of a SELECT for these members, separated by blanks: `turn_id AS turnId`. */
export function columnsOf(members: string): string {
  const names = members.split(' ')
  return names.map((name) => `${columnOf(name)} AS ${name}`).join(', ')
}

/** Converts a member to its column: `cacheWrite1hTokens` to `cache_write_1h_tokens`. */
export function columnOf(name: string): string {
  return name.replaceAll(/[A-Z]|\d+/g, (start) => `_${start.toLowerCase()}`)
}

/** Returns a text column for a SELECT, cast to bytes: `node:sqlite` of Node 22 reads text only up to its first NUL. */
export function textColumn(name: string): string {
  return `CAST(${columnOf(name)} AS BLOB) AS ${name}`
}

export function readText(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Returns JSON of well-formed Unicode: replaces each lone surrogate by U+FFFD, in values and in
 * keys. Keeps everything else, NUL included.
 */
export function wellFormedJson(value: unknown): string {
  const text = JSON.stringify(value)
  // `JSON.stringify` escapes lone surrogates and leaves pairs unchanged. An escaped backslash before `ud` looks the same, and only
  // causes an unneeded repair.
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

/** Columns for the bot of a turn. */
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

/** Descriptions of rows that cannot be read. */
export type Damage = string[]

/** Returns the result of `read`; `undefined` where the row is damaged, which is then added to `damage`. */
export function readRow<T>(what: string, damage: Damage, read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    // Rows contain JSON of a known shape: a row that cannot be parsed was changed on the disk.
    const isBroken = error instanceof SyntaxError || error instanceof TypeError || (isCriaError(error) && isDamaged(error))
    if (!isBroken) throw error
    damage.push(`${what} cannot be read (${error.message})`)
    return undefined
  }
}

/** Returns the results of `read` for the readable rows; adds the names of the others to `damage`. */
export function readRows<Stored, T>(
  rows: readonly Stored[],
  damage: Damage,
  nameOf: (row: Stored) => string,
  read: (row: Stored) => T,
): T[] {
  return rows.flatMap((row) => readRow(nameOf(row), damage, () => [read(row)]) ?? [])
}
