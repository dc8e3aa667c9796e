/**
 * Manages the leases of open turns: the process that holds a turn, whether it still runs, when the lease runs out, and how a turn without a holder
 * is ended.
 */

import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { elapsed } from '../../util/clock.ts'
import { endLostTurn } from '../unfinished.ts'
import { lostTurn } from '../rules.ts'
import { botOf, columnsOf, insertInto } from './columns.ts'
import type { StoredBot } from './columns.ts'
import { endTurn, finishCall } from './entries.ts'
import { insertEvents, readEvents } from './events.ts'
import { isFailed } from './journal.ts'
import type { Journal, OpenTurn, Owner } from './journal.ts'
import { countLostTurn } from './usage.ts'

/** Value of `until` for a lease that was given up: the turn is unheld even if its process lives. */
const GIVEN_UP = 0

export function takeLease({ connection, now, leaseMs, holder, owner }: Journal, turn: number): void {
  const { host, machine, pid, started } = owner
  insertInto(connection, 'leases', { turn, until: now() + leaseMs, holder, host, machine, pid, started })
}

/**
 * Extends the lease once less than two thirds of it are left: updating the row with every batch would write a page of the log each time.
 *
 * @throws CriaError `turn_lost` when the lease had run out and another process has ended the turn.
 */
export function renewLease(journal: Journal, turn: OpenTurn): void {
  const { connection, holder, leaseMs } = journal
  const lease = connection.get<{ until: number }>('SELECT until FROM leases WHERE turn = ? AND holder = ?', [turn.key, holder])
  if (lease === undefined) throw lostTurn(turn.turnId)
  const now = journal.now()
  if (lease.until - now < (leaseMs * 2) / 3) {
    connection.run('UPDATE leases SET until = ? WHERE turn = ?', [now + leaseMs, turn.key])
  }
}

/** Deletes the lease of a turn that ends. @throws CriaError as `renewLease`. */
export function dropLease({ connection, holder }: Journal, { key, turnId }: OpenTurn): void {
  const dropped = connection.run('DELETE FROM leases WHERE turn = ? AND holder = ?', [key, holder])
  if (dropped === 0) throw lostTurn(turnId)
}

/**
 * Renews the leases of this recorder, except those of turns whose writes fail: these run out and are marked as given up, or the turns would
 * count as held while the process lives. Forgets turns that another process has ended.
 */
export function renewLeases({ connection, holder, leaseMs, now, open }: Journal): void {
  const held = connection.all<{ turn: number }>('SELECT turn FROM leases WHERE holder = ?', [holder])
  const keys = new Set(held.map(({ turn }) => turn))
  connection.write(() => {
    for (const turn of open.values()) {
      if (turn.failing) connection.run('UPDATE leases SET until = ? WHERE turn = ? AND until <= ?', [GIVEN_UP, turn.key, now()])
      else connection.run('UPDATE leases SET until = ? WHERE turn = ?', [now() + leaseMs, turn.key])
    }
  })
  for (const turn of open.values()) if (!keys.has(turn.key)) open.delete(turn.turnId)
}

/** Gives up all leases of this recorder. */
export function giveUpLeases({ connection, holder }: Journal): void {
  connection.run('UPDATE leases SET until = ? WHERE holder = ?', [GIVEN_UP, holder])
}

export interface Which {
  readonly turnId?: string
  readonly sessionId?: string
  /** Keys of turns to treat as unheld although their lease has not run out. */
  readonly givenUp?: ReadonlySet<number>
}

interface Lease extends Owner, StoredBot {
  readonly turn: number
  readonly turnId: string
  readonly sessionId: string
  readonly model: string
  readonly startedAt: number
  readonly until: number
}

const LEASE = columnsOf('turn until host machine pid started turnId sessionId model botKind botName startedAt')

/**
 * Ends unheld turns as lost; returns their number. Takes the lock only when there are such turns, and checks them again under the
 * lock, so that of two processes only one ends a turn.
 */
export function endUnheldTurns(journal: Journal, which: Which = {}): number {
  if (journal.connection.readOnly || unheld(journal, which).length === 0) return 0
  return journal.connection.write(() => {
    const leases = unheld(journal, which)
    for (const lease of leases) endAsLost(journal, lease)
    return leases.length
  })
}

/** Ends unheld turns before a read, if the file can be written: reading must also work on a full disk. */
export function noticeLost(journal: Journal, which?: Which): void {
  try {
    endUnheldTurns(journal, which)
  } catch (error) {
    if (!isFailed(error)) throw error
  }
}

function unheld({ connection, now, owner }: Journal, { turnId, sessionId, givenUp }: Which): Lease[] {
  const leases = connection.all<Lease>(
    `SELECT ${LEASE} FROM leases CROSS JOIN turns ON turns.id = leases.turn
     WHERE coalesce(turn_id = ?, TRUE) AND coalesce(session_id = ?, TRUE)`,
    [turnId ?? null, sessionId ?? null],
  )
  const at = now()
  return leases.filter((lease) => givenUp?.has(lease.turn) === true || !isHeld(lease, at, owner))
}

/**
 * Returns whether the lease still holds its turn. A process known to be alive keeps its turns, however long it is silent: it may be stopped, or
 * the machine suspended.
 */
function isHeld(lease: Lease, now: number, here: Owner): boolean {
  if (lease.until === GIVEN_UP) return false
  const liveness = livenessOf(lease, here)
  return liveness === 'alive' || (liveness === 'unknown' && lease.until > now)
}

function endAsLost({ connection, now }: Journal, lease: Lease): void {
  const { turn: key, turnId, sessionId, model, startedAt, pid, host } = lease
  const turn = { key, turnId, sessionId }
  const started = connection.all<{ callId: string; idempotencyKey: string }>(
    `SELECT ${columnsOf('callId idempotencyKey')} FROM tool_calls WHERE turn = ? AND state = 'started'`,
    [key],
  )
  const startedCalls = new Map(started.map(({ callId, idempotencyKey }) => [callId, idempotencyKey]))
  const ending = endLostTurn(
    { turnId, sessionId, model, bot: botOf(lease), startedAt, owner: `${pid} on ${host}`, startedCalls },
    readEvents(connection, turn),
    now(),
  )
  const { events, endedAt, text, error } = ending
  const counted = countLostTurn(connection, turn, ending)
  connection.run('DELETE FROM leases WHERE turn = ?', [key])
  insertEvents(connection, key, events)
  for (const event of events) {
    if (event.type === 'tool_result') finishCall(connection, key, event.result.id, 'unknown', event.seq)
  }
  const latencyMs = elapsed(startedAt, endedAt)
  endTurn(connection, turn, { state: 'lost', endedAt, latencyMs, text, ...counted, finishReason: null, error })
}

export function thisOwner(): Owner {
  const host = hostname()
  const boot = ifReadable(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
  const namespace = ifReadable(() => readlinkSync('/proc/self/ns/pid')) ?? ''
  return {
    host,
    machine: boot === undefined ? host : `${boot.trim()} ${namespace}`,
    pid: process.pid,
    started: statusOf(process.pid)?.started ?? '',
  }
}

/**
 * Reports whether the process is alive or has ended; `unknown` for another machine, and where the system does not report when a process
 * started, so that another process may have its id. The lease decides then.
 */
export function livenessOf(owner: Owner, here: Owner): 'alive' | 'dead' | 'unknown' {
  if (owner.machine !== here.machine) return 'unknown'
  try {
    // Signal 0 is not delivered; it only tests whether the process exists.
    process.kill(owner.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'dead'
  }
  const status = statusOf(owner.pid)
  if (status === undefined || owner.started === '') return 'unknown'
  return status.ended || status.started !== owner.started ? 'dead' : 'alive'
}

/** Reads https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html; `undefined` on other systems. */
function statusOf(pid: number): { readonly started: string; readonly ended: boolean } | undefined {
  const stat = ifReadable(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // The second field is the program's name in parentheses; it may contain any characters, including parentheses and blanks.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields?.[0], fields?.[19]]
  if (state === undefined || started === undefined) return undefined
  return { started, ended: state === 'Z' || state === 'X' }
}

function ifReadable(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
