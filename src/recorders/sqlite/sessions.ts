/** Sessions as a person looks for them: by folder and by what was said; and what they go on with. */

import type { SQLInputValue } from 'node:sqlite'
import type { JsonObject } from '../../core/json.ts'
import type { ListSessions, SessionSummary } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import { readText, wellFormedJson } from './columns.ts'
import { NOT_NESTED } from './read.ts'
import { foundBy } from './search.ts'

const DEFAULT_LIMIT = 50
const LONGEST_TITLE = 500

interface StoredSession extends Omit<SessionSummary, 'title' | 'settings'> {
  readonly title: Uint8Array
  readonly settings: string | null
}

/** The session with the newest turn first; one whose turns were all made by tools is nobody's. */
export function readSessions(connection: Connection, query: ListSessions = {}): SessionSummary[] {
  const conditions: string[] = []
  const values: SQLInputValue[] = []
  if (query.sessionId !== undefined) {
    conditions.push('session_id = ?')
    values.push(query.sessionId)
  }
  if (query.folder !== undefined) {
    conditions.push('folder = ?')
    values.push(query.folder)
  }
  if (query.search !== undefined) {
    const found = foundBy(query.search)
    if (found === undefined) return []
    conditions.push(`session_id IN (SELECT session_id FROM turns WHERE id IN ${found.turns})`)
    values.push(...found.values)
  }
  const asked = `FROM turns WHERE turns.session_id = sessions.session_id AND ${NOT_NESTED}`
  const rows = connection.all<StoredSession>(
    `SELECT session_id AS sessionId, folder, settings, created_at AS startedAt, last_turn_at AS lastTurnAt,
       (SELECT CAST(substr(question, 1, ${LONGEST_TITLE}) AS BLOB) ${asked} ORDER BY id LIMIT 1) AS title,
       (SELECT model ${asked} ORDER BY id DESC LIMIT 1) AS model, (SELECT count(*) ${asked}) AS turns
     FROM sessions WHERE ${['last_turn_at IS NOT NULL', `EXISTS (SELECT 1 ${asked})`, ...conditions].join(' AND ')}
     ORDER BY last_turn_at DESC, session_id LIMIT ?`,
    [...values, query.limit ?? DEFAULT_LIMIT],
  )
  return rows.map(({ title, settings, ...row }) => ({ ...row, title: readText(title), settings: settingsOf(settings) }))
}

export function keepSettings(connection: Connection, sessionId: string, settings: JsonObject): void {
  connection.run('UPDATE sessions SET settings = ? WHERE session_id = ?', [wellFormedJson(settings), sessionId])
}

/** A session goes on without what is damaged. */
function settingsOf(text: string | null): JsonObject | null {
  try {
    const value: unknown = text === null ? null : JSON.parse(text)
    return typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject | null) : null
  } catch {
    return null
  }
}
