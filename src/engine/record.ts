/**
 * The recorder tap. Stamps and stores everything that stations yield before the reader receives it. Events that are ready together are
 * stored in one transaction, and deltas in quick succession become one event, so that the cost of storing is per group, not
 * per token.
 */

import { ATTRIBUTE } from '../core/span.ts'
import type { Station, Yielded } from '../core/context.ts'
import { CriaError, isCriaError, toCriaError } from '../core/error.ts'
import { isTerminal } from '../core/event.ts'
import type { EventBody, EventStamp, QueryEvent, QueryResult, TerminalEvent } from '../core/event.ts'
import { EventFold } from '../core/fold.ts'
import type { JournalEntry } from '../core/recorder.ts'
import { currentModel } from '../model/chain.ts'
import { cancelledBy, errorInfo, withMore } from '../model/error-info.ts'
import { ignoreRejection, isPromise, settledInTime } from '../util/promise.ts'
import { inReadyGroups } from '../util/ready.ts'
import { groupingOf, joinDeltas, withoutSecrets } from './journal-entries.ts'
import { Metrics, OpenCalls } from './tallies.ts'
import { closeOf, report } from './turn-end.ts'
import type { LastEvent } from './turn-end.ts'
import { openingOf, startOf, temperatureOf } from './turn.ts'
import type { Turn } from './turn.ts'

/** Minimum milliseconds between groups of deltas: less than a screen frame. A delta after a longer pause is shown at once. */
const SPACING_MS = 10

/** Milliseconds for which an aborted turn waits for a lock of its journal. */
const LOCK_GRACE_MS = 500

/** Yields the stored events of a turn to its reader, and returns the result of a complete turn. */
export async function* recorded(
  source: Station<void>,
  turn: Turn,
): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
  const tap = new Tap(turn)
  let isWithReader = false
  try {
    const refusal = await tap.open()
    const bodies = refusal === undefined ? source : refused(refusal, turn)
    const groups = inReadyGroups(keptOpen(bodies), {
      groupingOf: (body) => groupingOf(body, turn.step),
      spacingMs: SPACING_MS,
      leave: () => tap.abandon(),
    })
    for await (const group of groups) {
      for (const event of await tap.store(group)) {
        isWithReader = true
        yield event
        isWithReader = false
      }
      const { terminal } = tap
      if (terminal !== undefined) return terminal.type === 'complete' ? terminal.result : undefined
    }
    throw new CriaError('internal', 'The turn ended without a terminal event.')
  } catch (thrown) {
    turn.end(readerLeft())
    // An error that the reader throws into the generator is rethrown to the reader.
    if (isWithReader) throw thrown
    // Stations report failures as events: an error thrown here comes from the journal or is a bug.
    if (!tap.hasBegun) yield tap.unstoredStart()
    yield tap.unstored(toCriaError(thrown, 'journal_failed'))
    return undefined
  } finally {
    await tap.awaitTools(source)
    await source.return()
    await tap.closeIfOpen()
    const last = currentModel(turn.chain)
    if (last !== turn.options.model)
      turn.span.set({ [ATTRIBUTE.model]: last.ref, [ATTRIBUTE.temperature]: temperatureOf(turn.request, last) })
    turn.span.end()
    report(turn, tap.terminal, tap.metrics)
  }
}

/** Keeps running when the reader leaves: results of tools that have started must still be recorded. */
function keptOpen(bodies: Station<void>): AsyncIterator<Yielded, void> {
  return { next: () => bodies.next() }
}

/** Records a turn of a session that is busy, and ends it at once. */
async function* refused(error: CriaError, turn: Turn): Station<void> {
  yield startOf(turn)
  yield { type: 'error', error: errorInfo(error) }
}

export function readerLeft(): CriaError {
  return new CriaError('aborted', 'The reader of the turn left.')
}

/** Adds usage and cost to the end of a turn without an answer, and the text so far to a failure. */
function withOutcome(terminal: TerminalEvent, text: string, { usage, costUsd }: Turn['ledger']): TerminalEvent {
  if (terminal.type === 'cancelled') return { ...terminal, usage, costUsd }
  if (terminal.type === 'complete') return terminal
  return { type: 'error', error: withMore(terminal.error, { usage, costUsd, ...(text === '' ? {} : { details: { text } }) }) }
}

type EventEntry = Extract<JournalEntry, { type: 'event' }>

class Tap {
  readonly metrics = new Metrics()
  readonly #turn: Turn
  readonly #fold = new EventFold()
  readonly #calls = new OpenCalls()
  #seq = 0
  /** Number of events in the journal; more than shown if they were stored too late. */
  #stored = 0
  #isOpen = false
  /** The `start` event, shown although the journal failed. */
  #unstored: EventEntry | undefined
  /** The last event, set as soon as the turn is being closed. */
  terminal: LastEvent | undefined
  /** Settles when the journal has finished work that the turn no longer waits for. */
  #late: Promise<void> | undefined

  constructor(turn: Turn) {
    this.#turn = turn
  }

  /** Writes the row of the turn. @returns the error with which to end it at once, if its session is busy. */
  async open(): Promise<CriaError | undefined> {
    const { recorder } = this.#turn
    let refusal: CriaError | undefined
    const opened = (): void => {
      this.#isOpen = true
    }
    try {
      await this.#journaled(recorder?.openTurn(openingOf(this.#turn, true)), opened)
    } catch (error) {
      if (!isCriaError(error) || error.code !== 'session_busy') throw error
      refusal = error
      await this.#journaled(recorder?.openTurn(openingOf(this.#turn, false)), opened)
    }
    return refusal
  }

  /** Stores bodies that were yielded together and returns the events among them. */
  async store(bodies: readonly Yielded[]): Promise<QueryEvent[]> {
    const first = this.#seq
    try {
      return await this.#store(joinDeltas(bodies))
    } catch (error) {
      // Events that were not stored are not shown, and their numbers are used again.
      this.#seq = first
      throw error
    }
  }

  async #store(bodies: readonly Yielded[]): Promise<QueryEvent[]> {
    const entries: JournalEntry[] = []
    const shown: QueryEvent[] = []
    for (const body of bodies) {
      this.#calls.observe(body)
      if (body.type === 'note') {
        entries.push(withoutSecrets(body.entry))
        this.metrics.note(body)
      } else if (body.type === 'nested') {
        // Its own turn has stored it.
        shown.push(body.event)
      } else if (isTerminal(body)) {
        return [...shown, ...(await this.#end(body, entries))]
      } else {
        const entry = this.#entryOf(body)
        entries.push(entry)
        shown.push(entry.event)
      }
    }
    await this.#write(entries)
    return shown
  }

  /** Ends the turn: adds results for calls without one, then the terminal event. */
  async #end(terminal: TerminalEvent, before: readonly JournalEntry[] = []): Promise<QueryEvent[]> {
    const results = this.#calls.unanswered().map((result) => this.#entryOf({ type: 'tool_result', result }))
    await this.#write([...before, ...results])
    const outcome = withOutcome(terminal, this.#fold.state().text, this.#turn.ledger)
    const last = cancelledBy(this.#stamp(outcome), this.#turn.options.abortSignal)
    await this.#close(last)
    return [...results.map(({ event }) => event), last]
  }

  /** Ends the turn because its reader left; does nothing after the terminal event. */
  abandon(): void {
    if (this.terminal === undefined) this.#turn.end(readerLeft())
  }

  /** Records the results of tools that were running when the reader left; their signal has been aborted. */
  async awaitTools(source: Station<void>): Promise<void> {
    try {
      while (this.terminal === undefined && this.#calls.running) {
        const next = await source.next()
        if (next.done === true || (next.value.type !== 'note' && next.value.type !== 'nested' && isTerminal(next.value))) return
        await this.store([next.value])
      }
    } catch {
      // The journal failed: keep what it holds.
    }
  }

  /**
   * Closes a turn that is still open because its reader left or the journal failed. The failure may have been temporary, and an open turn
   * keeps its session busy until its lease runs out.
   */
  async closeIfOpen(): Promise<void> {
    if (this.#late !== undefined) {
      // Not awaited: the lock may be held for long.
      const late = this.#late
      this.#late = undefined
      ignoreRejection(late.then(() => this.closeIfOpen()))
      return
    }
    if (!this.#isOpen) return
    const { terminal } = this
    if (this.#unstored !== undefined) await this.#write([this.#unstored]).catch(() => {})
    const closing =
      terminal === undefined
        ? this.#end({ type: 'cancelled', reason: 'The reader of the turn left.' })
        : this.#close({ ...terminal, seq: this.#stored })
    await closing.catch(() => {})
  }

  get hasBegun(): boolean {
    return this.#seq > 0
  }

  /** Returns a `start` event for a turn whose journal cannot be opened, so that its reader receives one before the end. */
  unstoredStart(): QueryEvent {
    this.#unstored = { type: 'event', event: this.#stamp(startOf(this.#turn)) }
    return this.#unstored.event
  }

  /** Returns the terminal event after a failure of the journal. Only this event and `unstoredStart` are shown without being stored. */
  unstored(error: CriaError): QueryEvent {
    const { abortSignal } = this.#turn.options
    const isCancelled = this.#late !== undefined && abortSignal?.aborted === true
    const ended: TerminalEvent = isCancelled
      ? { type: 'cancelled', reason: error.message }
      : { type: 'error', error: errorInfo(error) }
    this.terminal = cancelledBy(this.#stamp(withOutcome(ended, '', this.#turn.ledger)), abortSignal)
    return this.terminal
  }

  async #write(entries: readonly JournalEntry[]): Promise<void> {
    if (entries.length === 0) return
    const next = this.#seq
    await this.#journaled(this.#turn.recorder?.record(this.#turn.turnId, entries), () => {
      this.#stored = next
    })
  }

  async #close(event: LastEvent): Promise<void> {
    const { recorder, turnId } = this.#turn
    this.terminal = event
    await this.#journaled(recorder?.closeTurn(turnId, closeOf(this.#turn, event, this.#fold.state().text, this.metrics)), () => {
      this.#isOpen = false
    })
  }

  /**
   * Waits for the journal, which may wait for a lock of another process; an aborted turn waits at most `LOCK_GRACE_MS`.
   * `done` is called when the journal has finished, however late.
   *
   * @throws the error of the journal; CriaError `journal_failed` when the turn stops waiting.
   */
  async #journaled(work: unknown, done: () => void): Promise<void> {
    if (!isPromise(work)) {
      done()
      return
    }
    const stored = (async () => {
      await work
      done()
    })()
    if (await settledInTime(stored, this.#turn.ctx.signal, LOCK_GRACE_MS)) return
    this.#late = stored.catch(() => {})
    throw new CriaError('journal_failed', 'The turn was aborted while another process held the lock of the journal.', {
      hint: 'End the process that holds it, or wait until it has finished.',
      retryable: true,
    })
  }

  #entryOf(body: EventBody): EventEntry {
    return withoutSecrets({ type: 'event', event: this.#stamp(body) })
  }

  #stamp<Body extends EventBody>(body: Body): Body & EventStamp {
    const { sessionId, turnId, step, clock } = this.#turn
    const event = { ...body, sessionId, turnId, step, seq: this.#seq++, at: clock.now() }
    this.#fold.add(event)
    this.metrics.observe(event)
    return event
  }
}
