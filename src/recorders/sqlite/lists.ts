/**
 * Lists turns and sessions, selected by conditions and by words. Search is literal: all input is treated as words, and nothing in it as an
 * operator.
 */

import type { SQLInputValue } from 'node:sqlite'
import { ConfigurationError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type {
  ListSessions,
  ListTurns,
  SessionSummary,
  TurnFilter,
  TurnList,
  TurnState,
  TurnSummary,
} from '../../core/recorder.ts'
import type { Usage } from '../../core/usage.ts'
import { patternFor } from '../../util/pattern.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { DEFAULT_LIMIT, limitOf, numberOf } from '../rules.ts'
import { botOf, columnsOf, readRow, readText, textColumn, USAGE, wellFormedJson } from './columns.ts'
import type { Damage, StoredBot } from './columns.ts'

/** Characters of a text that are indexed; the rest of a longer text is not searched. */
const MAX_INDEXED = 1_000_000
/** Distinct words of a query that are used; further words are ignored. */
const MAX_WORDS = 64
const LONGEST_TITLE = 500

/** Scripts without blanks between words; the tokenizer would treat a whole sentence as one word. */
const UNSPACED = patternFor(
  String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`,
  'gu',
)

/** Returns the text to be indexed: in scripts without blanks every character becomes a word. */
export function searchableText(text: string): string {
  return spaced(text.slice(0, MAX_INDEXED))
}

function spaced(text: string): string {
  return text.replace(UNSPACED(text), ' $& ')
}

/**
 * Returns an FTS5 query for texts that contain all the words of `query` (https://www.sqlite.org/fts5.html#full_text_query_syntax), `undefined`
 * for a query without words. Words joined without a blank, as in `multi-agent`, must be adjacent in the text.
 */
export function matchExpression(query: string): string | undefined {
  const words = wordsOf(query).map((word) => `"${spaced(word)}"`)
  return words.length === 0 ? undefined : words.join(' ')
}

function wordsOf(query: string): string[] {
  const words = query.toWellFormed().split(/[\s\0"]+/u)
  return [...new Set(words.filter((word) => /[\p{L}\p{N}\p{Co}]/u.test(word)))].slice(0, MAX_WORDS)
}

/** A condition of a WHERE and its parameters; it is left out where a parameter is `undefined`. */
type Condition = readonly [sql: string, ...values: readonly (SQLInputValue | undefined)[]]

export interface Where {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/** Joins all conditions that apply. */
export function allOf(conditions: readonly Condition[]): Where {
  const given = conditions.filter(([, ...values]) => !values.includes(undefined))
  return {
    sql: given.length === 0 ? 'TRUE' : given.map(([sql]) => sql).join(' AND '),
    values: given.flatMap(([, ...values]) => values as SQLInputValue[]),
  }
}

/** @throws ConfigurationError for `tags` that is not a list of texts: treated as no tags, it would select the turns of all users. */
export function conditionsOf({ userId, tags = [] }: TurnFilter): readonly Condition[] {
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === 'string'))
    throw new ConfigurationError('`tags` must be a list of texts.')
  return [
    ['session_id IN (SELECT session_id FROM sessions WHERE user_id = ?)', userId],
    ...tags.map((tag: string): Condition => ['turns.id IN (SELECT turn FROM turn_tags WHERE tag = ?)', tag]),
  ]
}

/**
 * Selects turns with all the words, in question and answer or in one tool call. No condition without a
 * query; `undefined` for a query without words.
 */
function foundIn(query: string | undefined): readonly Condition[] | undefined {
  if (query === undefined) return []
  const expression = matchExpression(query)
  if (expression === undefined) return undefined
  const words = wordsOf(query)
  const inCall = words.map(() => String.raw`name || ' ' || input LIKE ? ESCAPE '\'`).join(' AND ')
  const turns = `(SELECT rowid FROM turn_search WHERE turn_search MATCH ? UNION SELECT turn FROM tool_calls WHERE ${inCall})`
  const patterns = words.map((word) => `%${word.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`)
  return [[`id IN ${turns}`, expression, ...patterns]]
}

/** Excludes nested turns, whose first event names the tool call that started them. */
const NOT_NESTED = `NOT EXISTS (SELECT 1 FROM events WHERE turn = turns.id AND seq = 0 AND body ->> '$.calledBy' IS NOT NULL)`

export type StoredSummary = Omit<TurnSummary, 'bot' | 'question' | 'usage' | 'tags'> &
  StoredBot &
  Usage & {
    readonly id: number
    readonly question: Uint8Array
    /** JSON. */
    readonly tags: string
  }

/** The columns of `StoredSummary`, for a SELECT from `turns`. */
export const SUMMARY: string = `turns.id AS id, iif(EXISTS (SELECT 1 FROM waiting WHERE turn = turns.id), 'waiting', state) AS status,
  ${columnsOf('turnId sessionId model botKind botName startedAt latencyMs costUsd rating')}, ${columnsOf(USAGE.join(' '))},
  ${textColumn('question')}, (SELECT user_id FROM sessions WHERE sessions.session_id = turns.session_id) AS userId,
  (SELECT json_group_array(tag) FROM turn_tags WHERE turn = turns.id) AS tags`

export function toSummary(row: StoredSummary): TurnSummary {
  const { turnId, sessionId, status, model, startedAt, latencyMs, costUsd, rating, userId } = row
  const usage = USAGE.map((name) => [name, row[name]] as const)
  const known = usage.filter(([name, value]) => name !== 'cacheWrite1hTokens' || value !== null)
  return {
    turnId,
    sessionId,
    status,
    bot: botOf(row),
    model,
    question: readText(row.question),
    startedAt,
    latencyMs,
    usage: Object.fromEntries(known) as unknown as Usage,
    costUsd,
    rating,
    userId,
    tags: JSON.parse(row.tags) as string[],
  }
}

export function listTurns(connection: Connection, query: ListTurns): TurnList {
  const limit = limitOf(query.limit)
  const found = foundIn(query.search)
  if (found === undefined) return { turns: [], nextCursor: null }
  const where = allOf([
    ...found,
    ...inState(query.status),
    ['model = ?', query.model],
    ['session_id = ?', query.sessionId],
    ...conditionsOf(query),
    ['started_at >= ?', query.since],
    ['started_at < ?', query.until],
    ['? IN (bot_kind, bot_name)', query.bot],
    ['rating IS ?', query.rating],
    ['id IN (SELECT turn FROM tool_calls WHERE name = ?)', query.tool],
    [`metrics ->> '$.slow' = ?`, query.slow === true ? 1 : undefined],
    ...(query.nested === false ? [[NOT_NESTED] as const] : []),
    ['id < ?', query.cursor === undefined ? undefined : numberOf(query.cursor)],
  ])
  const damage: Damage = []
  const list = `SELECT ${SUMMARY} FROM turns WHERE ${where.sql} ORDER BY id DESC LIMIT ?`
  // One more row than requested shows whether there are further rows.
  const rows =
    readRow('', [], () => connection.all<StoredSummary>(list, [...where.values, limit + 1])) ??
    listOneByOne(connection, where, limit + 1, damage)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? String(last.id) : null
  return { turns: shown.map(toSummary), nextCursor, ...(damage.length === 0 ? {} : { damaged: damage }) }
}

function inState(status: TurnState | undefined): readonly Condition[] {
  if (status === 'waiting') return [['id IN (SELECT turn FROM waiting)']]
  if (status === 'done') return [['state = ? AND id NOT IN (SELECT turn FROM waiting)', status]]
  // The second condition matches that of the partial index.
  return [[`state = ? AND state <> 'done'`, status]]
}

/** Reads row by row where a page of the table is damaged: the keys come from an index on other pages. */
function listOneByOne(connection: Connection, { sql, values }: Where, most: number, damage: Damage): StoredSummary[] {
  const keys = connection.all<{ id: number }>(
    'SELECT id FROM turns INDEXED BY turns_by_start WHERE started_at IS NOT NULL ORDER BY id DESC',
  )
  const rows: StoredSummary[] = []
  for (const { id } of keys) {
    if (rows.length === most) break
    const row = readRow(`the turn in row ${id}`, damage, () =>
      connection.all<StoredSummary>(`SELECT ${SUMMARY} FROM turns WHERE ${sql} AND id = ?`, [...values, id]),
    )
    rows.push(...(row ?? []))
  }
  return rows
}

type StoredSession = Omit<SessionSummary, 'title' | 'settings'> & {
  readonly title: Uint8Array
  readonly settings: string | null
}

/** Lists sessions, newest turn first; leaves out sessions in which all turns were started by tools. */
export function readSessions(connection: Connection, query: ListSessions = {}): SessionSummary[] {
  const found = foundIn(query.search)
  if (found === undefined) return []
  const inTurns = found.map(([sql, ...values]): Condition => [
    `session_id IN (SELECT session_id FROM turns WHERE ${sql})`,
    ...values,
  ])
  const where = allOf([['session_id = ?', query.sessionId], ['folder = ?', query.folder], ...inTurns])
  const asked = `FROM turns WHERE turns.session_id = sessions.session_id AND ${NOT_NESTED}`
  const rows = connection.all<StoredSession>(
    `SELECT session_id AS sessionId, folder, settings, created_at AS startedAt, last_turn_at AS lastTurnAt,
       (SELECT CAST(substr(question, 1, ${LONGEST_TITLE}) AS BLOB) ${asked} ORDER BY id LIMIT 1) AS title,
       (SELECT model ${asked} ORDER BY id DESC LIMIT 1) AS model, (SELECT count(*) ${asked}) AS turns
     FROM sessions WHERE last_turn_at IS NOT NULL AND EXISTS (SELECT 1 ${asked}) AND ${where.sql}
     ORDER BY last_turn_at DESC, session_id LIMIT ?`,
    [...where.values, query.limit ?? DEFAULT_LIMIT],
  )
  return rows.map(({ title, settings, ...row }) => ({ ...row, title: readText(title), settings: settingsOf(settings) }))
}

export function keepSettings(connection: Connection, sessionId: string, settings: JsonObject): void {
  connection.run('UPDATE sessions SET settings = ? WHERE session_id = ?', [wellFormedJson(settings), sessionId])
}

/** Returns null for damaged settings, so that the session can continue. */
function settingsOf(text: string | null): JsonObject | null {
  const value = text === null ? null : readRow<unknown>('', [], () => JSON.parse(text))
  return typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject | null) : null
}
