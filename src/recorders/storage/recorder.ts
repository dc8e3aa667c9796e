/** A journal on any storage that has ordered keys and transactions. */

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '../../core/clock.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { JournalRows, JournalStorage } from '../../core/journal-storage.ts'
import type { Message } from '../../core/message.ts'
import type {
  FeedbackRecord,
  JournalEntry,
  JournalKeeper,
  JournalReader,
  ListTurns,
  PromptRef,
  Recorder,
  TurnClose,
  TurnDetail,
  TurnList,
  TurnOpen,
} from '../../core/recorder.ts'
import type { SpanRecord } from '../../core/span.ts'
import { elapsed } from '../../util/clock.ts'
import { compactedTo, spokenIn } from '../unfinished.ts'
import { endLostTurn } from '../unfinished.ts'
import {
  busySession,
  checkEvents,
  checkRating,
  DEFAULT_LEASE_MS,
  foreignSession,
  limitOf,
  notHeld,
  notWaiting,
  numberOf,
  promptsMadeWith,
} from '../rules.ts'
import { counted, eventsOf, get, KEY, listFrom, messagesOf, NEW_SESSION, set, toTurnRow } from './rows.ts'
import type { StoredSession, StoredTurn } from './rows.ts'

/** Options of `recorderOn()`. */
export interface StorageRecorderOptions {
  /** Milliseconds after which a turn that nothing is heard of counts as lost; default 60,000. */
  readonly leaseMs?: number
  /** For tests. */
  readonly clock?: Pick<Clock, 'now'>
}

/** Turns that are read at a time for a list. */
const PAGE = 100

/**
 * A recorder that keeps its journal in `storage`, for `recorder` of `query()` and of bots. It does what every journal has to do; it has no search, no
 * statistics, no clean-up, and no budgets and caches for others. Several recorders, of one or of several processes, may share a storage.
 */
export function recorderOn(
  storage: JournalStorage,
  options: StorageRecorderOptions = {},
): Recorder & Pick<JournalKeeper, 'sweep'> {
  if (typeof storage?.transaction !== 'function')
    throw new ConfigurationError('recorderOn() takes a storage: an object with a method `transaction`, such as memoryStorage().')
  return new StorageRecorder(storage, options)
}

class StorageRecorder implements Recorder, Pick<JournalKeeper, 'sweep'> {
  readonly keepsWaiting: boolean = true
  readonly read: JournalReader
  readonly #storage: JournalStorage
  readonly #now: () => number
  readonly #leaseMs: number
  readonly #holder = randomBytes(16).toString('hex')
  readonly #owner = `process ${process.pid} on ${hostname()}`
  /** Turns that this recorder holds. */
  readonly #held = new Set<string>()
  #renewal: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(storage: JournalStorage, { leaseMs = DEFAULT_LEASE_MS, clock = Date }: StorageRecorderOptions) {
    this.#storage = storage
    this.#leaseMs = leaseMs
    this.#now = () => clock.now()
    this.read = {
      turns: (query = {}) => this.#seen((rows) => listTurns(rows, query)),
      turn: (turnId) => this.#seen((rows) => readTurn(rows, turnId)),
      events: (turnId, after) => this.#seen((rows) => eventsOf(rows, turnId, after)),
      history: (sessionId) => this.#seen((rows) => readHistory(rows, sessionId)),
      spans: (traceId) => this.#run((rows) => spansOf(rows, traceId)),
      feedback: () => this.#run((rows) => listFrom<FeedbackRecord>(rows, KEY.feedback(0))),
    }
  }

  async openTurn(open: TurnOpen): Promise<void> {
    const { turnId, sessionId } = open
    await this.#run(async (rows) => {
      if (open.exclusive) await this.#endUnheld(rows)
      const session = (await get<StoredSession>(rows, KEY.session(sessionId))) ?? NEW_SESSION
      const { head, running } = session
      const userId = session.userId ?? open.userId
      if (open.userId !== undefined && open.userId !== userId) throw foreignSession(sessionId, open.userId)
      if (open.exclusive && running !== null) throw busySession(sessionId, running)
      if (open.decides !== undefined && open.decides !== session.waiting) throw notWaiting(sessionId, open.decides)
      const decided = open.decides === undefined ? undefined : await get<StoredTurn>(rows, KEY.turn(open.decides))
      const number = await counted(rows, 'turns')
      const turn: StoredTurn = {
        number,
        open: { ...open, question: decided?.open.question ?? open.question, ...(userId === undefined ? {} : { userId }) },
        parent: head,
        prompts: await versionsOf(rows, open),
        state: 'open',
        holder: this.#holder,
        owner: this.#owner,
        until: this.#now() + this.#leaseMs,
        nextSeq: 0,
        messages: 0,
        assembled: [],
        started: {},
      }
      await set(rows, KEY.turn(turnId), turn)
      await set(rows, KEY.number(number), turnId)
      await set(rows, KEY.open(turnId), turnId)
      const changed = { ...session, userId: userId ?? null, running: open.exclusive ? turnId : running }
      // The session goes on: a turn of it that waits is over, unless this one takes it up.
      const goesOn = open.exclusive && open.decides === undefined
      await set(rows, KEY.session(sessionId), goesOn ? await withoutWaiting(rows, changed) : changed)
    })
    this.#held.add(turnId)
    this.#keepRenewing()
  }

  async record(turnId: string, entries: readonly JournalEntry[]): Promise<void> {
    await this.#run(async (rows) => {
      const turn = await this.#mine(rows, turnId)
      let { nextSeq, messages, compacted } = turn
      if (turn.open.decides !== undefined && messages === 0 && entries.some(({ type }) => type === 'messages')) {
        const session = (await get<StoredSession>(rows, KEY.session(turn.open.sessionId))) ?? NEW_SESSION
        await set(rows, KEY.session(turn.open.sessionId), await withoutWaiting(rows, session))
      }
      const assembled = new Set(turn.assembled)
      // Ids come from models: one may be `constructor`.
      const started = new Map(Object.entries(turn.started))
      const add = async (message: Message): Promise<void> => {
        await set(rows, KEY.message(turnId, messages++), message)
      }
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
      const changed = {
        ...turn,
        nextSeq,
        messages,
        assembled: [...assembled],
        started: Object.fromEntries(started),
        until: this.#now() + this.#leaseMs,
      }
      await set(rows, KEY.turn(turnId), compacted === undefined ? changed : { ...changed, compacted })
    })
  }

  async closeTurn(turnId: string, close: TurnClose): Promise<void> {
    await this.#run(async (rows) => {
      const turn = await this.#mine(rows, turnId)
      checkEvents(turn.open, turn.nextSeq, [close.event], close)
      await set(rows, KEY.event(turnId, close.event.seq), close.event)
      const { endedAt, text, usage, costUsd, finishReason, model, metrics, error } = close
      const end = { endedAt, text, usage, costUsd, finishReason, model, metrics, latencyMs: metrics.durationMs }
      const state = finishReason === 'waiting' ? 'waiting' : close.state
      await endTurn(rows, { ...turn, state, end: error === undefined ? end : { ...end, error } })
    })
    this.#held.delete(turnId)
  }

  async span(span: SpanRecord): Promise<void> {
    await this.#run(async (rows) => set(rows, KEY.span(span.traceId, await counted(rows, 'spans')), span))
  }

  async feedback(feedback: FeedbackRecord): Promise<void> {
    await this.#run(async (rows) => set(rows, KEY.feedback(await counted(rows, 'feedback')), feedback))
  }

  async rate(turnId: string, rating: number | null, comment?: string): Promise<void> {
    checkRating(rating)
    await this.#run(async (rows) => {
      const turn = await get<StoredTurn>(rows, KEY.turn(turnId))
      if (turn === undefined) throw new CriaError('not_found', `There is no turn ${turnId} in this journal.`)
      const { rating: _, ...unrated } = turn
      await set(rows, KEY.turn(turnId), rating === null ? unrated : { ...turn, rating: { rating, comment: comment ?? null } })
    })
  }

  sweep(): Promise<number> {
    return this.#run((rows) => this.#endUnheld(rows))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#renewal)
    await this.#renew(0).catch(() => {})
    await this.#storage.close?.()
  }

  /** @throws CriaError `journal_failed` for what the storage throws. */
  async #run<Result>(work: (rows: JournalRows) => Promise<Result>): Promise<Result> {
    let failure: CriaError | undefined
    try {
      return await this.#storage.transaction(async (rows) => {
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

  /** What is read shows turns as lost whose lease has run out. */
  #seen<Result>(work: (rows: JournalRows) => Promise<Result>): Promise<Result> {
    return this.#run(async (rows) => {
      await this.#endUnheld(rows)
      return await work(rows)
    })
  }

  async #mine(rows: JournalRows, turnId: string): Promise<StoredTurn> {
    const turn = await get<StoredTurn>(rows, KEY.turn(turnId))
    if (turn?.state === 'open' && turn.holder === this.#holder) return turn
    this.#held.delete(turnId)
    throw notHeld(turnId, turn?.state)
  }

  async #endUnheld(rows: JournalRows): Promise<number> {
    let ended = 0
    for (const turnId of await listFrom<string>(rows, KEY.open(''))) {
      const turn = await get<StoredTurn>(rows, KEY.turn(turnId))
      if (turn === undefined || turn.until > this.#now()) continue
      await endAsLost(rows, turn, this.#now())
      ended++
    }
    return ended
  }

  #keepRenewing(): void {
    this.#renewal ??= setInterval(() => {
      // Whoever writes next meets the same failure, and can say so.
      if (this.#held.size > 0) this.#renew(this.#now() + this.#leaseMs).catch(() => {})
    }, this.#leaseMs / 3).unref()
  }

  async #renew(until: number): Promise<void> {
    await this.#run(async (rows) => {
      for (const turnId of this.#held) {
        const turn = await get<StoredTurn>(rows, KEY.turn(turnId))
        if (turn?.state === 'open' && turn.holder === this.#holder) await set(rows, KEY.turn(turnId), { ...turn, until })
      }
    })
  }
}

/** The last turn of a session that ended is the one that the next follows. */
async function endTurn(rows: JournalRows, turn: StoredTurn): Promise<void> {
  const { turnId, sessionId, exclusive } = turn.open
  await set(rows, KEY.turn(turnId), turn)
  await rows.delete(KEY.open(turnId))
  const session = (await get<StoredSession>(rows, KEY.session(sessionId))) ?? NEW_SESSION
  const waiting = turn.state === 'waiting' ? turnId : session.waiting
  if (exclusive) await set(rows, KEY.session(sessionId), { ...session, head: turnId, running: null, waiting })
}

/** The session after its turn that waited, if there is one, is over. */
async function withoutWaiting(rows: JournalRows, session: StoredSession): Promise<StoredSession> {
  const turn = session.waiting === null ? undefined : await get<StoredTurn>(rows, KEY.turn(session.waiting))
  if (turn !== undefined) await set(rows, KEY.turn(turn.open.turnId), { ...turn, state: 'done' })
  return { ...session, waiting: null }
}

/** Versions are counted from 1 within a name, in the order of first use. */
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

async function endAsLost(rows: JournalRows, turn: StoredTurn, now: number): Promise<void> {
  const { turnId, sessionId, model, bot = null, startedAt } = turn.open
  const ending = endLostTurn(
    { turnId, sessionId, model, bot, startedAt, owner: turn.owner, startedCalls: new Map(Object.entries(turn.started)) },
    await eventsOf(rows, turnId),
    now,
  )
  for (const event of ending.events) await set(rows, KEY.event(turnId, event.seq), event)
  const { endedAt, text, usage, costUsd, error } = ending
  const latencyMs = elapsed(startedAt, endedAt)
  await endTurn(rows, {
    ...turn,
    state: 'lost',
    end: { endedAt, text, usage, costUsd, error, latencyMs, finishReason: null, model, metrics: null },
  })
}

async function listTurns(rows: JournalRows, query: ListTurns): Promise<TurnList> {
  const { cursor, status, model, sessionId, userId, tags = [], slow } = query
  const limit = limitOf(query.limit)
  if (query.search !== undefined)
    throw new ConfigurationError('This journal has no `search`: list its turns without, and look through their texts.')
  const found: StoredTurn[] = []
  let to = cursor === undefined ? KEY.number(9_999_999_999) : KEY.number(numberOf(cursor))
  for (;;) {
    const page = await rows.list({ from: KEY.number(0), to, reverse: true, limit: PAGE })
    for (const [, turnId] of page) {
      const turn = await get<StoredTurn>(rows, KEY.turn(JSON.parse(turnId) as string))
      if (turn === undefined) continue
      const row = toTurnRow(turn)
      const fits =
        (status ?? row.status) === row.status &&
        (model ?? row.model) === row.model &&
        (sessionId ?? row.sessionId) === row.sessionId &&
        (userId ?? row.userId) === row.userId &&
        tags.every((tag) => row.tags.includes(tag)) &&
        (slow !== true || row.metrics?.slow === true)
      if (fits) found.push(turn)
      if (found.length > limit) break
    }
    const last = page.at(-1)
    if (found.length > limit || last === undefined || page.length < PAGE) break
    to = last[0]
  }
  const shown = found.slice(0, limit)
  const nextCursor = found.length > limit ? String(shown.at(-1)?.number) : null
  return { turns: shown.map((turn) => summaryOf(turn)), nextCursor }
}

function summaryOf(turn: StoredTurn): TurnList['turns'][number] {
  const { turnId, sessionId, status, bot, model, question, startedAt, latencyMs, usage, costUsd, rating, userId, tags } =
    toTurnRow(turn)
  return { turnId, sessionId, status, bot, model, question, startedAt, latencyMs, usage, costUsd, rating, userId, tags }
}

async function spansOf(rows: JournalRows, traceId: string): Promise<SpanRecord[]> {
  return (await listFrom<SpanRecord>(rows, KEY.span(traceId, 0))).toSorted((a, b) => a.startedAt - b.startedAt)
}

async function readTurn(rows: JournalRows, turnId: string): Promise<TurnDetail | undefined> {
  const turn = await get<StoredTurn>(rows, KEY.turn(turnId))
  if (turn === undefined) return undefined
  const inTrace = await spansOf(rows, turn.open.traceId)
  const spans = inTrace.filter((span) => span.turnId === undefined || span.turnId === turnId)
  const nested: TurnDetail['nested'][number][] = []
  for (const other of new Set(inTrace.flatMap((span) => span.turnId ?? []))) {
    const start = await get<QueryEvent>(rows, KEY.event(other, 0))
    const made = start?.type === 'start' ? start.calledBy : undefined
    const stored = made?.turnId === turnId ? await get<StoredTurn>(rows, KEY.turn(other)) : undefined
    if (made !== undefined && stored !== undefined) nested.push({ ...summaryOf(stored), callId: made.callId })
  }
  return {
    turn: toTurnRow(turn),
    messages: await messagesOf(rows, turnId),
    events: await eventsOf(rows, turnId),
    spans,
    ...(turn.prompts.length === 0 ? {} : { prompts: turn.prompts }),
    nested,
  }
}

async function readHistory(rows: JournalRows, sessionId: string): Promise<Message[]> {
  const chain: StoredTurn[] = []
  let next = (await get<StoredSession>(rows, KEY.session(sessionId)))?.head ?? null
  while (next !== null) {
    const turn: StoredTurn | undefined = await get<StoredTurn>(rows, KEY.turn(next))
    if (turn === undefined) break
    chain.unshift(turn)
    next = turn.compacted === undefined ? turn.parent : null
  }
  const history: Message[] = []
  for (const { open, state, compacted } of chain) {
    const { turnId } = open
    const own = await messagesOf(rows, turnId)
    if (compacted !== undefined) history.push(...compactedTo(compacted.messages, own))
    const said = own.slice(compacted?.position ?? 0).filter(({ role }) => SPOKEN.has(role))
    const isWhole = state === 'done' || state === 'waiting'
    history.push(...spokenIn(turnId, said, isWhole ? [] : await eventsOf(rows, turnId)))
  }
  return history
}

const SPOKEN: ReadonlySet<Message['role']> = new Set<Message['role']>(['user', 'assistant', 'tool'])
