/**
 * The recorder tap. Everything a station yields passes here: it is stamped, stored, and only then handed to the reader. Deltas that are
 * ready in the same tick become one event and one row, so that writing first costs per batch, not per token.
 */

import type { Note, Station } from '../core/context.ts'
import { CriaError, isCriaError, toCriaError } from '../core/error.ts'
import type { ErrorInfo } from '../core/error.ts'
import { isTerminal } from '../core/event.ts'
import type { EventBody, QueryEvent, QueryResult, TerminalEvent } from '../core/event.ts'
import { EventFold } from '../core/fold.ts'
import type { JournalEntry, TurnClose } from '../core/recorder.ts'
import { currentModel } from '../model/chain.ts'
import { settled, unheard } from '../util/promise.ts'
import { inReadyGroups } from '../util/ready.ts'
import { Metrics } from './metrics.ts'
import { OpenCalls } from './open-calls.ts'
import { DEFAULT_SLOW_AFTER, openingOf } from './turn.ts'
import type { Turn } from './turn.ts'

/** The reader's side of a turn. Its return value is the result of a complete turn. */
export async function* recorded(
  source: Station<void>,
  turn: Turn,
): AsyncGenerator<QueryEvent, QueryResult | undefined, undefined> {
  const tap = new Tap(turn)
  let handingOut = false
  try {
    await tap.open()
    const bodies = tap.refusal === undefined ? source : refused(tap.refusal, turn)
    // Not returned with its reader: what tools have done by then is still wanted.
    const held = { next: () => bodies.next() }
    for await (const group of inReadyGroups(held, isDelta, () => {
      // After the terminal event nothing runs that could be ended.
      if (tap.terminal === undefined) turn.end(left())
    })) {
      const events = await tap.store(group)
      handingOut = true
      for (const event of events) yield event
      handingOut = false
      if (tap.terminal !== undefined) return tap.terminal.type === 'complete' ? tap.terminal.result : undefined
    }
    throw new CriaError('internal', 'The turn ended without a terminal event.')
  } catch (thrown) {
    turn.end(left())
    // The reader's way of leaving: it gets back what it threw.
    if (handingOut) throw thrown
    // Stations report their failures as events; what is thrown here is the journal's, or ours.
    const event = tap.unstored(isCriaError(thrown) ? thrown : toCriaError(thrown, 'journal_failed'))
    yield event
    return undefined
  } finally {
    await tap.awaitTools(source)
    await source.return()
    await tap.closeIfOpen()
    turn.span.end()
    tap.report()
  }
}

function left(): CriaError {
  return new CriaError('aborted', 'The reader of the turn left.')
}

/** The turn of a session that is busy: it is written down, and ends at once. */
async function* refused(error: CriaError, turn: Turn): Station<void> {
  yield { type: 'start', model: turn.options.model.ref }
  yield { type: 'error', error: error.toJSON() }
}

function isDelta(body: EventBody | Note): boolean {
  return body.type === 'text_delta' || body.type === 'thinking'
}

class Tap {
  readonly #turn: Turn
  readonly #fold = new EventFold()
  readonly #metrics = new Metrics()
  readonly #calls = new OpenCalls()
  #seq = 0
  #open = false
  terminal: (QueryEvent & TerminalEvent) | undefined
  refusal: CriaError | undefined

  constructor(turn: Turn) {
    this.#turn = turn
  }

  async open(): Promise<void> {
    const { recorder } = this.#turn
    try {
      await settled(recorder?.openTurn(openingOf(this.#turn, true)))
    } catch (error) {
      if (!isCriaError(error) || error.code !== 'session_busy') throw error
      this.refusal = error
      await settled(recorder?.openTurn(openingOf(this.#turn, false)))
    }
    this.#open = true
  }

  /** Stores what was yielded together and returns the events among it. */
  async store(group: readonly (EventBody | Note)[]): Promise<QueryEvent[]> {
    const first = this.#seq
    try {
      return await this.#store(group)
    } catch (error) {
      // What was not stored is not shown: the numbers go on where the reader stands.
      this.#seq = first
      throw error
    }
  }

  async #store(group: readonly (EventBody | Note)[]): Promise<QueryEvent[]> {
    const events: QueryEvent[] = []
    const entries: JournalEntry[] = []
    let terminal: TerminalEvent | undefined
    for (const body of merged(group)) {
      this.#calls.observe(body)
      if (body.type === 'note') {
        entries.push(body.entry)
      } else if (isTerminal(body)) {
        terminal = body
        break
      } else {
        const event = this.#stamp(body)
        events.push(event)
        entries.push({ type: 'event', event })
      }
    }
    if (terminal === undefined) await this.#write(entries)
    else events.push(...(await this.#end(terminal, entries)))
    return events
  }

  /** Ends the turn: calls without a result get one, then comes the terminal event. Returns what was stamped. */
  async #end(terminal: TerminalEvent, entries: JournalEntry[] = []): Promise<QueryEvent[]> {
    const results = this.#calls.unanswered().map((result) => this.#stamp({ type: 'tool_result', result }))
    await this.#write([...entries, ...results.map((event) => ({ type: 'event' as const, event }))])
    const last = this.#stamp(terminal)
    if (isTerminal(last)) await this.#close(last)
    return [...results, last]
  }

  async #write(entries: readonly JournalEntry[]): Promise<void> {
    if (entries.length > 0) await settled(this.#turn.recorder?.record(this.#turn.turnId, entries))
  }

  /** The reader left while tools were at work: they have been told to stop, and what they come to is written down. */
  async awaitTools(source: Station<void>): Promise<void> {
    try {
      while (this.terminal === undefined && this.#calls.running) {
        const next = await source.next()
        if (next.done === true || (next.value.type !== 'note' && isTerminal(next.value))) return
        await this.store([next.value])
      }
    } catch {
      // A journal that fails now keeps what it has.
    }
  }

  /**
   * Closes a turn that is still open: its reader left before the end, or the journal failed. That may have passed, and a turn that is left open keeps
   * its session busy until the lease runs out.
   */
  async closeIfOpen(): Promise<void> {
    if (!this.#open) return
    const { terminal } = this
    const closing =
      terminal === undefined ? this.#end({ type: 'cancelled', reason: 'The reader of the turn left.' }) : this.#close(terminal)
    await closing.catch(() => {})
  }

  /** The one event that may be shown without being stored. */
  unstored(error: CriaError): QueryEvent {
    const event = this.#stamp({ type: 'error', error: error.toJSON() })
    if (isTerminal(event)) this.terminal = event
    return event
  }

  report(): void {
    const { options, sessionId, turnId, startedAt, ledger } = this.#turn
    if (options.onQueryCompleted === undefined) return
    const endedAt = this.terminal?.at ?? this.#turn.clock.now()
    try {
      unheard(
        options.onQueryCompleted({
          type: 'query_completed',
          state: stateOf(this.terminal),
          ...(options.bot === undefined ? {} : { bot: options.bot }),
          ...this.#summary(endedAt),
          turnId,
          sessionId,
          model: currentModel(this.#turn.chain).ref,
          usage: ledger.usage,
          costUsd: ledger.costUsd,
          startedAt,
          endedAt,
        }),
      )
    } catch {
      // A sink that throws harms nothing.
    }
  }

  #stamp(body: EventBody): QueryEvent {
    const { sessionId, turnId, step, clock } = this.#turn
    const at = clock.now()
    const event = { ...body, sessionId, turnId, step, seq: this.#seq++, at }
    this.#fold.add(event)
    this.#metrics.observe(event)
    return event
  }

  async #close(event: QueryEvent & TerminalEvent): Promise<void> {
    const { recorder, turnId, ledger } = this.#turn
    this.terminal = event
    const close: TurnClose = {
      state: stateOf(event),
      event,
      endedAt: event.at,
      model: currentModel(this.#turn.chain).ref,
      text: this.#fold.state().text,
      usage: ledger.usage,
      costUsd: ledger.costUsd,
      finishReason: event.type === 'complete' ? event.result.finishReason : null,
      ...errorOf(event),
      metrics: this.#summary(event.at),
    }
    await settled(recorder?.closeTurn(turnId, close))
    this.#open = false
  }

  #summary(endedAt: number): TurnClose['metrics'] {
    const { startedAt, step, options } = this.#turn
    const cacheHit = this.terminal?.type === 'complete' && this.terminal.result.cacheHit
    const summary = this.#metrics.summary(startedAt, endedAt, step, cacheHit, options.slowAfter ?? DEFAULT_SLOW_AFTER)
    return { ...summary, models: this.#turn.ledger.models }
  }
}

/** A turn without an end was left by its reader. */
function stateOf(event: TerminalEvent | undefined): TurnClose['state'] {
  if (event === undefined) return 'cancelled'
  return event.type === 'complete' ? 'done' : event.type === 'cancelled' ? 'cancelled' : 'failed'
}

function errorOf(event: TerminalEvent): { error?: ErrorInfo } {
  return event.type === 'error' ? { error: event.error } : {}
}

/** Joins neighbouring deltas of one kind and attempt. */
function merged(group: readonly (EventBody | Note)[]): (EventBody | Note)[] {
  const bodies: (EventBody | Note)[] = []
  for (const body of group) {
    const last = bodies.at(-1)
    if (body.type === 'text_delta' && last?.type === 'text_delta' && last.attempt === body.attempt) {
      bodies[bodies.length - 1] = { ...last, text: last.text + body.text }
    } else if (body.type === 'thinking' && last?.type === 'thinking' && last.attempt === body.attempt) {
      bodies[bodies.length - 1] = { ...last, content: last.content + body.content }
    } else {
      bodies.push(body)
    }
  }
  return bodies
}
