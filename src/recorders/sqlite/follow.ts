/** Follows a turn: yields the stored events, then new events of this or another process, until the turn ends. */

import { ConfigurationError, CriaError } from '../../core/error.ts'
import { isTerminal } from '../../core/event.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { FollowOptions, TurnState } from '../../core/recorder.ts'
import type { Connection } from '../../util/sqlite/connection.ts'
import type { SqliteJournalReader } from './read.ts'

/** Milliseconds between two checks for writes of another process. */
const LOOK_EVERY_MS = 25
/** Number of checks after which followers read in any case: a process that has died writes nothing. */
const READ_EVERY = 40

/** Notifies waiting followers when the journal may have changed. All share one timer, which runs only while they wait. */
export class Pulse {
  readonly #connection: Connection
  readonly #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #version: number | undefined
  #looks = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Notifies all followers: this recorder has written, or was closed. */
  beat(): void {
    for (const notify of this.#waiting) notify()
    this.#waiting.clear()
  }

  /** Resolves when the journal may have changed; immediately when the signal is aborted. */
  async next(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS)
    const { promise, resolve: notify } = Promise.withResolvers<void>()
    this.#waiting.add(notify)
    const onAbort = (): void => notify()
    signal.addEventListener('abort', onAbort)
    await promise
    signal.removeEventListener('abort', onAbort)
    this.#waiting.delete(notify)
  }

  #look(): void {
    if (this.#waiting.size === 0 || !this.#connection.isOpen) {
      clearInterval(this.#timer)
      this.#timer = undefined
      this.#version = undefined
      this.beat()
      return
    }
    const version = this.#connection.get<{ data_version: number }>('PRAGMA data_version')?.data_version
    this.#looks += 1
    if (version === this.#version && this.#looks < READ_EVERY) return
    this.#version = version
    this.#looks = 0
    this.beat()
  }
}

/** @throws CriaError `not_found` at once for an unknown turn; ConfigurationError for an `after` that is not the number of an event. */
export function follow(
  connection: Connection,
  reader: SqliteJournalReader,
  pulse: Pulse,
  turnId: string,
  { after = -1, signal }: FollowOptions = {},
): AsyncGenerator<QueryEvent, void, undefined> {
  if (!Number.isSafeInteger(after) || after < -1)
    throw new ConfigurationError(`\`after\` must be the \`seq\` of an event, or -1 for all of them, but is ${String(after)}.`)
  stateOf(connection, turnId)
  const left = new AbortController()
  const events = read(AbortSignal.any([left.signal, ...(signal === undefined ? [] : [signal])]))
  return {
    next: () => events.next(),
    // A generator that waits notices return() only when it resumes.
    return: (value) => {
      left.abort()
      return events.return(value)
    },
    throw: (thrown) => {
      left.abort()
      return events.throw(thrown)
    },
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await this.return()
    },
  }

  async function* read(stop: AbortSignal): AsyncGenerator<QueryEvent, void, undefined> {
    for (let last = after; !stop.aborted; await pulse.next(stop)) {
      // Reads the state first: events written in between are read the next time.
      const state = stateOf(connection, turnId)
      for (const event of reader.events(turnId, last)) {
        last = event.seq
        yield event
        if (isTerminal(event) || stop.aborted) return
      }
      if (state !== 'open') return
    }
  }
}

function stateOf(connection: Connection, turnId: string): TurnState {
  if (!connection.isOpen) throw new CriaError('aborted', `The journal was closed while turn ${turnId} was followed.`)
  const row = connection.get<{ state: TurnState }>('SELECT state FROM turns WHERE turn_id = ?', [turnId])
  if (row === undefined) throw new CriaError('not_found', `There is no turn ${turnId} in ${connection.path}.`)
  return row.state
}
