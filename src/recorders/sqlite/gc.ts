/** Keeps the journal within its limits: what is too old goes, then the oldest until the rest fits. */

import type { GcOptions, GcReport } from '../../core/recorder.ts'
import { forgetOldAnswers } from './cache.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { Journal } from './journal.ts'

/** Limits that hold unless others are given: a year, and a gigabyte. */
const DEFAULT_LIMITS: Required<Omit<GcOptions, 'dryRun'>> = { maxAgeMs: 365 * 86_400_000, maxBytes: 2 ** 30 }

/** Turns that one transaction removes: few enough that nobody has to wait for the lock. */
const BATCH = 100
/** Pages that one transaction gives back to the disk. */
const VACUUM_PAGES = 2000

export interface Candidate {
  readonly id: number
  readonly turnId: string
  readonly sessionId: string
  readonly traceId: string
  readonly startedAt: number
  /** About what its rows take; compares turns with each other. */
  readonly weight: number
}

export function collectGarbage(journal: Journal, options: GcOptions): GcReport {
  const { connection } = journal
  const { maxAgeMs, maxBytes } = { ...DEFAULT_LIMITS, ...options }
  const before = usedBytes(connection)
  const candidates = findCandidates(connection)
  const bytesPerWeight = before / Math.max(1, sumOf(candidates))
  const oldest = journal.now() - maxAgeMs
  const chosen = chooseVictims(candidates, { oldest, weight: (before - maxBytes) / bytesPerWeight })
  if (options.dryRun === true) {
    const kept = new Set(allSessions(connection, chosen))
    const sessions = new Set(chosen.map((turn) => turn.sessionId).filter((id) => !kept.has(id)))
    return report(chosen, sessions.size, sumOf(chosen) * bytesPerWeight, true)
  }

  forgetOldAnswers(connection, journal.now())
  const removed: Candidate[] = []
  let sessions = 0
  for (let victims = chosen; victims.length > 0;) {
    removeTurns(connection, victims)
    sessions += removeLeftovers(connection, oldest)
    removed.push(...victims)
    // Weights only compare, and messages are shared: look again until the rest fits.
    const weight = (usedBytes(connection) - maxBytes) / bytesPerWeight
    victims = weight > 0 ? chooseVictims(candidates.slice(removed.length), { oldest, weight }) : []
  }
  giveBackToDisk(connection)
  return report(removed, sessions, before - usedBytes(connection), false)
}

/** The first of `candidates`, oldest first: all that started before `oldest`, and more until `weight` is reached. */
export function chooseVictims(
  candidates: readonly Candidate[],
  limits: { readonly oldest: number; readonly weight: number },
): Candidate[] {
  let weight = 0
  const end = candidates.findIndex((candidate) => {
    if (candidate.startedAt >= limits.oldest && weight >= limits.weight) return true
    weight += candidate.weight
    return false
  })
  return candidates.slice(0, end === -1 ? candidates.length : end)
}

function findCandidates(connection: Connection): Candidate[] {
  return connection.all<Candidate>(
    `SELECT id, turn_id AS turnId, session_id AS sessionId, trace_id AS traceId, started_at AS startedAt,
       200 + octet_length(question) + octet_length(text)
         + (SELECT coalesce(sum(20 + octet_length(body)), 0) FROM events WHERE turn = turns.id)
         + (SELECT coalesce(sum(20 + octet_length(body)), 0)
            FROM turn_messages JOIN messages ON messages.id = message WHERE turn = turns.id) AS weight
     FROM turns WHERE state <> 'open' ORDER BY started_at, id`,
  )
}

function removeTurns(connection: Connection, victims: readonly Candidate[]): void {
  for (let start = 0; start < victims.length; start += BATCH) {
    connection.write(() => {
      for (const { id, turnId, traceId } of victims.slice(start, start + BATCH)) {
        connection.run('DELETE FROM turn_search WHERE rowid = ?', [id])
        connection.run('DELETE FROM spans WHERE trace_id = ? AND turn_id = ?', [traceId, turnId])
        // Takes messages, events and tool calls of the turn with it.
        connection.run('DELETE FROM turns WHERE id = ?', [id])
      }
    })
  }
}

/** Removes what no turn refers to any more; returns how many sessions went. */
function removeLeftovers(connection: Connection, oldest: number): number {
  return connection.write(() => {
    connection.run(
      'DELETE FROM messages WHERE id NOT IN (SELECT message FROM turn_messages UNION SELECT message FROM compacted_messages)',
    )
    const first = connection.get<{ at: number | null }>('SELECT min(started_at) AS at FROM turns')?.at ?? oldest
    connection.run('DELETE FROM spans WHERE turn_id IS NULL AND ended_at < ?', [first])
    connection.run('DELETE FROM feedback WHERE at < ?', [first])
    // The newest version of a bot's prompt stays, so that the count goes on.
    connection.run(
      `DELETE FROM prompts WHERE hash NOT IN (SELECT prompt_hash FROM turns WHERE prompt_hash IS NOT NULL)
         AND (bot, version) NOT IN (SELECT bot, max(version) FROM prompts GROUP BY bot)`,
    )
    connection.run(`DELETE FROM spending WHERE scope = 'day' AND name < strftime('%Y-%m-%d', ? / 1000, 'unixepoch')`, [first])
    connection.run(`DELETE FROM spending WHERE scope = 'session' AND name NOT IN (SELECT session_id FROM turns)`)
    return connection.run('DELETE FROM sessions WHERE session_id NOT IN (SELECT session_id FROM turns)')
  })
}

function giveBackToDisk(connection: Connection): void {
  while (pragma(connection, 'freelist_count') > 0) {
    const before = pragma(connection, 'freelist_count')
    connection.execute(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`)
    if (pragma(connection, 'freelist_count') >= before) break
  }
  connection.execute('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** Sessions that have turns beside the chosen ones. */
function allSessions(connection: Connection, chosen: readonly Candidate[]): string[] {
  const left = new Map<string, number>()
  for (const { sessionId, turns } of connection.all<{ sessionId: string; turns: number }>(
    'SELECT session_id AS sessionId, count(*) AS turns FROM turns GROUP BY session_id',
  )) {
    left.set(sessionId, turns)
  }
  for (const { sessionId } of chosen) left.set(sessionId, (left.get(sessionId) ?? 0) - 1)
  return [...left].flatMap(([sessionId, turns]) => (turns > 0 ? [sessionId] : []))
}

function usedBytes(connection: Connection): number {
  return (pragma(connection, 'page_count') - pragma(connection, 'freelist_count')) * pragma(connection, 'page_size')
}

function pragma(connection: Connection, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return connection.get<Record<string, number>>(`PRAGMA ${name}`)?.[name] ?? 0
}

function sumOf(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, candidate) => sum + candidate.weight, 0)
}

function report(turns: readonly Candidate[], sessions: number, bytes: number, dryRun: boolean): GcReport {
  return {
    turns: turns.length,
    sessions,
    oldest: turns.at(0)?.startedAt ?? null,
    newest: turns.at(-1)?.startedAt ?? null,
    bytes: Math.max(0, Math.round(bytes)),
    dryRun,
  }
}
