/** Implements a journal on any storage with ordered keys and transactions. */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '../../core/clock.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { JournalRows, JournalStorage } from '../../core/storage.ts'
import type { Message } from '../../core/message.ts'
import type { JournalEntry, JournalKeeper, PromptRef, Recorder, TurnClose, TurnOpen } from '../../core/recorder.ts'
import { elapsed } from '../../util/clock.ts'
import {
  busySession,
  checkEvents,
  checkRating,
  DEFAULT_LEASE_MS,
  foreignSession,
  notHeld,
  notWaiting,
  promptsMadeWith,
} from '../rules.ts'
import { endLostTurn } from '../unfinished.ts'
import {
  counted,
  eventsOf,
  get,
  KEY,
  listFrom,
  listTurns,
  readHistory,
  readTurn,
  sessionOf,
  set,
  setSession,
  setTurn,
  spansOf,
  turnOf,
} from './rows.ts'
import type { StoredSession, StoredTurn } from './rows.ts'

/** Options of `recorderOn()`. */
export interface StorageRecorderOptions {
  /** Milliseconds without a sign of life after which a turn counts as lost; default 60,000. */
  readonly leaseMs?: number
  /** For tests; default the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

/**
 * Makes a recorder that keeps its journal in `storage`, for `recorder` of `query()` and of bots. It has no search, statistics, clean-up, shared
 * budgets or cache. Several recorders, of one or of several processes, may share a storage.
 */
export function recorderOn(
  storage: JournalStorage,
  { leaseMs = DEFAULT_LEASE_MS, clock = Date }: StorageRecorderOptions = {},
): Recorder & Pick<JournalKeeper, 'sweep'> {
  if (typeof storage?.transaction !== 'function')
    throw new ConfigurationError('recorderOn() takes a storage: an object with a method `transaction`, such as memoryStorage().')
  const holder = randomBytes(16).toString('hex')
  const owner = `process ${process.pid} on ${hostname()}`
  /** Ids of the turns that this recorder holds. */
  const held = new Set<string>()
  let renewal: NodeJS.Timeout | undefined
  let isClosed = false

  /** @throws CriaError `journal_failed` for what the storage throws. */
  const run = async <Result>(work: (rows: JournalRows) => Promise<Result>): Promise<Result> => {
    let failure: CriaError | undefined
    try {
      return await storage.transaction(async (rows) => {
        try {
          return await work(rows)
        } catch (thrown) {
          if (thrown instanceof CriaError) failure = thrown
          throw thrown
        }
      })
    } catch (thrown) {
      if (thrown === failure && failure !== undefined) throw failure
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      throw new CriaError('journal_failed', `The storage of the journal failed: ${message}`, { cause: thrown })
    }
  }
  /** Ends turns whose lease has run out before it reads. */
  const seen = <Result>(work: (rows: JournalRows) => Promise<Result>): Promise<Result> =>
    run(async (rows) => {
      await endUnheld(rows, clock.now())
      return await work(rows)
    })
  const mine = async (rows: JournalRows, turnId: string): Promise<StoredTurn> => {
    const turn = await turnOf(rows, turnId)
    if (turn?.state === 'open' && turn.holder === holder) return turn
    held.delete(turnId)
    throw notHeld(turnId, turn?.state)
  }
  const renew = (until: number): Promise<void> =>
    run(async (rows) => {
      for (const turnId of held) {
        const turn = await turnOf(rows, turnId)
        if (turn?.state === 'open' && turn.holder === holder) await setTurn(rows, { ...turn, until })
      }
    })

  return {
    keepsWaiting: true,
    read: {
      turns: (query = {}) => seen((rows) => listTurns(rows, query)),
      turn: (turnId) => seen((rows) => readTurn(rows, turnId)),
      events: (turnId, after) => seen((rows) => eventsOf(rows, turnId, after)),
      history: (sessionId) => seen((rows) => readHistory(rows, sessionId)),
      spans: (traceId) => run((rows) => spansOf(rows, traceId)),
      feedback: () => run((rows) => listFrom(rows, KEY.feedback(0))),
    },
    openTurn: async (open) => {
      await run(async (rows) => {
        if (open.exclusive) await endUnheld(rows, clock.now())
        await openTurn(rows, open, { holder, owner, until: clock.now() + leaseMs })
      })
      held.add(open.turnId)
      renewal ??= setInterval(() => {
        // The next write meets the same failure and reports it.
        if (held.size > 0) renew(clock.now() + leaseMs).catch(() => {})
      }, leaseMs / 3).unref()
    },
    record: (turnId, entries) =>
      run(async (rows) => {
        const turn = await mine(rows, turnId)
        await writeEntries(rows, { ...turn, until: clock.now() + leaseMs }, entries)
      }),
    closeTurn: async (turnId, close) => {
      await run(async (rows) => closeTurn(rows, await mine(rows, turnId), close))
      held.delete(turnId)
    },
    span: (span) => run(async (rows) => set(rows, KEY.span(span.traceId, await counted(rows, 'spans')), span)),
    feedback: (feedback) => run(async (rows) => set(rows, KEY.feedback(await counted(rows, 'feedback')), feedback)),
    rate: async (turnId, rating, comment) => {
      checkRating(rating)
      await run(async (rows) => {
        const turn = await turnOf(rows, turnId)
        if (turn === undefined) throw new CriaError('not_found', `There is no turn ${turnId} in this journal.`)
        const { rating: _, ...unrated } = turn
        await setTurn(rows, rating === null ? unrated : { ...turn, rating: { rating, comment: comment ?? null } })
      })
    },
    sweep: () => run((rows) => endUnheld(rows, clock.now())),
    close: async () => {
      if (isClosed) return
      isClosed = true
      clearInterval(renewal)
      await renew(0).catch(() => {})
      await storage.close?.()
    },
  }
}

async function openTurn(rows: JournalRows, open: TurnOpen, lease: Pick<StoredTurn, 'holder' | 'owner' | 'until'>): Promise<void> {
  const { turnId, sessionId, exclusive, decides } = open
  const session = await sessionOf(rows, sessionId)
  const { head, running, waiting } = session
  const userId = session.userId ?? open.userId
  if (open.userId !== undefined && open.userId !== userId) throw foreignSession(sessionId, open.userId)
  if (exclusive && running !== null) throw busySession(sessionId, running)
  if (decides !== undefined && decides !== waiting) throw notWaiting(sessionId, decides)
  const decided = decides === undefined ? undefined : await turnOf(rows, decides)
  const number = await counted(rows, 'turns')
  await setTurn(rows, {
    number,
    open: { ...open, question: decided?.open.question ?? open.question, ...(userId === undefined ? {} : { userId }) },
    parent: head,
    prompts: await versionsOf(rows, open),
    state: 'open',
    ...lease,
    nextSeq: 0,
    messages: 0,
    assembled: [],
    started: {},
  })
  await set(rows, KEY.number(number), turnId)
  await set(rows, KEY.open(turnId), turnId)
  const changed = { ...session, userId: userId ?? null, running: exclusive ? turnId : running }
  // The session continues: a waiting turn of it ends, unless this turn decides it.
  const goesOn = exclusive && decides === undefined
  await setSession(rows, sessionId, goesOn ? await withoutWaiting(rows, changed) : changed)
}

async function writeEntries(rows: JournalRows, turn: StoredTurn, entries: readonly JournalEntry[]): Promise<void> {
  const { turnId, sessionId, decides } = turn.open
  if (decides !== undefined && turn.messages === 0 && entries.some(({ type }) => type === 'messages'))
    await setSession(rows, sessionId, await withoutWaiting(rows, await sessionOf(rows, sessionId)))
  let { nextSeq, messages, compacted } = turn
  const assembled = new Set(turn.assembled)
  // Ids come from models and may be `constructor`.
  const started = new Map(Object.entries(turn.started))
  const add = (message: Message): Promise<void> => set(rows, KEY.message(turnId, messages++), message)
  for (const entry of entries) {
    if (entry.type === 'compaction') compacted = { position: messages, messages: entry.messages }
    else if (entry.type === 'tool_start') {
      if (!started.has(entry.callId)) started.set(entry.callId, entry.idempotencyKey)
    } else if (entry.type === 'messages') {
      for (const message of entry.messages) if (!assembled.has(message.id)) await add(message)
    } else {
      const { event } = entry
      checkEvents(turn.open, nextSeq++, [event])
      await set(rows, KEY.event(turnId, event.seq), event)
      if (event.type === 'tool_result') started.delete(event.result.id)
      if (event.type !== 'message') continue
      assembled.add(event.message.id)
      await add(event.message)
    }
  }
  const changed = { ...turn, nextSeq, messages, assembled: [...assembled], started: Object.fromEntries(started) }
  await setTurn(rows, compacted === undefined ? changed : { ...changed, compacted })
}

async function closeTurn(rows: JournalRows, turn: StoredTurn, close: TurnClose): Promise<void> {
  const { event, endedAt, text, usage, costUsd, finishReason, model, metrics, error } = close
  checkEvents(turn.open, turn.nextSeq, [event], close)
  await set(rows, KEY.event(turn.open.turnId, event.seq), event)
  const end = { endedAt, text, usage, costUsd, finishReason, model, metrics, latencyMs: metrics.durationMs }
  const state = finishReason === 'waiting' ? 'waiting' : close.state
  await endTurn(rows, { ...turn, state, end: error === undefined ? end : { ...end, error } })
}

/** Makes the turn the predecessor of the session's next turn. */
async function endTurn(rows: JournalRows, turn: StoredTurn): Promise<void> {
  const { turnId, sessionId, exclusive } = turn.open
  await setTurn(rows, turn)
  await rows.delete(KEY.open(turnId))
  const session = await sessionOf(rows, sessionId)
  const waiting = turn.state === 'waiting' ? turnId : session.waiting
  if (exclusive) await setSession(rows, sessionId, { ...session, head: turnId, running: null, waiting })
}

/** Returns the session after ending its waiting turn, if any. */
async function withoutWaiting(rows: JournalRows, session: StoredSession): Promise<StoredSession> {
  const turn = session.waiting === null ? undefined : await turnOf(rows, session.waiting)
  if (turn !== undefined) await setTurn(rows, { ...turn, state: 'done' })
  return { ...session, waiting: null }
}

/** Numbers versions from 1 within a name, in the order of first use. */
async function versionsOf(rows: JournalRows, open: TurnOpen): Promise<StoredTurn['prompts']> {
  const found: PromptRef[] = []
  for (const { name, hash } of promptsMadeWith(open)) {
    const key = KEY.prompt(name, hash)
    const known = await get<number>(rows, key)
    const version = known ?? 1 + (await listFrom<number>(rows, KEY.prompt(name, ''))).length
    if (known === undefined) await set(rows, key, version)
    found.push({ name, hash, version })
  }
  return found.toSorted((a, b) => (a.name === b.name ? a.version - b.version : a.name < b.name ? -1 : 1))
}

/** Ends turns whose lease has run out as lost; returns their number. */
async function endUnheld(rows: JournalRows, now: number): Promise<number> {
  let ended = 0
  for (const turnId of await listFrom<string>(rows, KEY.open(''))) {
    const turn = await turnOf(rows, turnId)
    if (turn === undefined || turn.until > now) continue
    await endAsLost(rows, turn, now)
    ended++
  }
  return ended
}

async function endAsLost(rows: JournalRows, turn: StoredTurn, now: number): Promise<void> {
  const { turnId, sessionId, model, bot = null, startedAt } = turn.open
  const ending = endLostTurn(
    { turnId, sessionId, model, bot, startedAt, owner: turn.owner, startedCalls: new Map(Object.entries(turn.started)) },
    await eventsOf(rows, turnId),
    now,
  )
  const { events, endedAt } = ending
  for (const event of events) await set(rows, KEY.event(turnId, event.seq), event)
  const { text, usage, costUsd, error } = ending
  const latencyMs = elapsed(startedAt, endedAt)
  const end = { endedAt, text, usage, costUsd, error, latencyMs, finishReason: null, model, metrics: null }
  await endTurn(rows, { ...turn, state: 'lost', end })
}
