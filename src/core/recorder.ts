/**
 * The port to the journal. Everything that happened in a turn is written here before it is shown; resume, re-attach, replay, cost,
 * search and preference data are views on it.
 *
 * All methods may be synchronous (SQLite) or asynchronous (PostgreSQL): callers await the result where it is a promise, and only then.
 */

import type { BudgetStore } from './budget.ts'
import type { CacheStore } from './cache.ts'
import type { ErrorInfo } from './error.ts'
import type { BotIdentity, QueryEvent, QueryResult } from './event.ts'
import type { JsonObject } from './json.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Message } from './message.ts'
import type { PromptVersion } from './prompt.ts'
import type { SpanRecord } from './span.ts'
import type { Usage } from './usage.ts'

/** `lost`: its owner died, and somebody else noticed. `waiting`: it is done but for calls that wait for a decision; `done` as soon as its session goes on. */
export type TurnState = 'open' | 'done' | 'failed' | 'cancelled' | 'lost' | 'waiting'

/** The row of a turn as it begins. */
export interface TurnOpen {
  /** Names the turn. */
  readonly turnId: string
  /** The session that the turn belongs to. */
  readonly sessionId: string
  /** The bot that asks; absent for a plain `query()`. */
  readonly bot?: BotIdentity
  /** The model that is asked first. */
  readonly model: string
  /** `null`: the provider's default. */
  readonly temperature: number | null
  /** The user it is made for. A session belongs to the first user that one of its turns names. Default: the session's, if it has one. */
  readonly userId?: string
  /**
   * A turn of the same session that waits for a decision, whose question this one has too. It is taken up, and waits no longer, when this one
   * records its first messages; where this one ends before, it still waits.
   */
  readonly decides?: string
  /** Labels to list, count and delete turns by; each counts once. */
  readonly tags?: readonly string[]
  /** The text of what was asked, for lists and search. */
  readonly question: string
  /** SHA-256 of the template of the system prompt, hexadecimal; of its text where it has no template. */
  readonly promptHash: string | null
  /** Prompt versions of the turn: its system prompt first, then those of the user's messages. */
  readonly prompts?: readonly PromptVersion[]
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits: the span of the whole turn. */
  readonly spanId: string
  /**
   * `true`: the only one of its kind in its session as long as it is open. `false`: neither waits for others nor holds them up, and
   * never becomes part of the session's history.
   */
  readonly exclusive: boolean
}

/** An entry of the journal, in the order in which it happened. */
export type JournalEntry =
  | {
      readonly type: 'event'
      /** An event, before it is shown. */
      readonly event: QueryEvent
    }
  /**
   * Messages that are new in this turn: as they were composed for it (system prompt, retrieved, user), or produced by it (assistant,
   * tool). The message of a `message` event is one of them already; an entry with the same id adds nothing.
   */
  | {
      readonly type: 'messages' /** The step, from 1; 0 before the first. */
      readonly step: number /** The messages, in order. */
      readonly messages: readonly Message[]
    }
  /**
   * The conversation was compacted: the session goes on from these messages (user, assistant and tool ones, without system prompts and
   * retrieved text) and what is said after them. What they stand for stays in the journal. A later one of the same turn takes its place.
   */
  | { readonly type: 'compaction'; readonly step: number; readonly messages: readonly Message[] }
  /** A tool is about to have its effect. Its `tool_result` event is the other half. */
  | {
      readonly type: 'tool_start'
      readonly step: number
      /** The call. */
      readonly callId: string
      /** The name of the tool. */
      readonly name: string
      /** The arguments, as JSON. */
      readonly input: string
      /** The key that the tool gets as `ctx.idempotencyKey`. */
      readonly idempotencyKey: string
      /** Epoch milliseconds. */
      readonly at: number
    }

/** How a turn ended. */
export interface TurnClose {
  /** The new state of the turn. */
  readonly state: Exclude<TurnState, 'open' | 'lost' | 'waiting'>
  /** The terminal event; stored with the new state in one transaction. */
  readonly event: QueryEvent
  /** Epoch milliseconds. */
  readonly endedAt: number
  /** The model that gave the last answer. */
  readonly model: string
  /** The temperature that it was sent, `null` for none; absent: as in `openTurn`. */
  readonly temperature?: number | null
  /** The text of the answer, also when it is only a beginning. */
  readonly text: string
  /** Tokens of all requests of the turn. */
  readonly usage: Usage
  /** US dollars; `null`: not known. */
  readonly costUsd: number | null
  /** `waiting` makes the turn one that waits for a decision. */
  readonly finishReason: QueryResult['finishReason'] | null
  /** Why the turn failed; absent where it did not. */
  readonly error?: ErrorInfo
  /** Figures of the turn. */
  readonly metrics: TurnMetrics
}

/** Figures of a turn. */
export interface TurnMetrics {
  /** Milliseconds from the start to the first text or thinking; `null` when there was none. */
  readonly timeToFirstTokenMs: number | null
  /** From the start to the end, without the time in which permission was asked for. */
  readonly durationMs: number
  /** Model calls that were completed. */
  readonly steps: number
  /** Tool calls that were started. */
  readonly toolsExecuted: number
  /** Attempts that failed, and the failure that the turn ended with. */
  readonly errors: number
  /** Attempts that were made again with the same model. */
  readonly retries: number
  /** The answer came from a cache. */
  readonly cacheHit: boolean
  /** Of the input tokens, the share that providers read from their prompt caches; `null` when none of them said. Absent as `models`. */
  readonly promptCacheHitRate?: number | null
  /** Use of each model; absent in turns that were recorded before this member was. */
  readonly models?: readonly ModelUse[]
  /** The turn took longer than the limit for slow queries (30 s by default). */
  readonly slow: boolean
}

/** Ratings of a turn: 1 to 5, or -1 and 1 for thumbs down and up. */
export const RATINGS: ReadonlySet<number> = new Set([-1, 1, 2, 3, 4, 5])

/** The port to the journal. Methods may be synchronous or return promises. */
export interface Recorder {
  /**
   * Writes the row of a turn. It belongs to this recorder's owner until it is closed or its lease runs out.
   * @throws CriaError `session_busy` when the turn is exclusive, another exclusive one of the session is open, and its lease has not run
   * out; `permission_denied` when the session belongs to another user; `not_found` when the
   * turn that it decides does not wait, or no longer; `journal_failed` when the journal cannot be written, as every method
   * that writes.
   */
  openTurn(turn: TurnOpen): MaybePromise<void>
  /**
   * Stores entries of an open turn in order, in one transaction, and renews the lease. After a failure nothing of them is stored.
   * @throws CriaError `turn_lost` when the lease had run out and somebody else has ended the turn; `internal` for an event that is not
   * the next one of its turn.
   */
  record(turnId: string, entries: readonly JournalEntry[]): MaybePromise<void>
  /** Ends a turn. @throws CriaError as `record`; after `journal_failed` it may be called again. */
  closeTurn(turnId: string, close: TurnClose): MaybePromise<void>
  /** Stores a span that has ended. */
  span(span: SpanRecord): MaybePromise<void>
  /** Stores a choice between two answers. */
  feedback(feedback: FeedbackRecord): MaybePromise<void>
  /**
   * 1 to 5, or -1 and 1 for thumbs; `null` takes a rating and its comment back.
   * @throws CriaError `not_found` for a turn that is not in the journal; ConfigurationError for another number.
   */
  rate(turnId: string, rating: number | null, comment?: string): MaybePromise<void>
  /** The read side. */
  readonly read: JournalReader
  /**
   * Keeps budgets for all who share this journal; every turn that is closed counts, whether it had a budget or not. Absent: budgets hold
   * within one process.
   */
  readonly budget?: BudgetStore
  /** `true`: keeps turns that wait for a decision (`decides` of a turn). Absent: a call that is to wait is refused. */
  readonly keepsWaiting?: boolean
  /** Keeps answers for all who share this journal. Absent: caches end with their process. */
  readonly cache?: CacheStore
  /** Turns that are still open are given up: they count as lost at once. A second call does nothing. */
  close(): MaybePromise<void>
}

/** A choice between two answers. */
export interface FeedbackRecord {
  /** Epoch milliseconds. */
  readonly at: number
  /** The preferred answer; `none`: neither. */
  readonly choice: 'first' | 'second' | 'none'
  /** Turn that was shown first, and the one shown second. */
  readonly first: string
  /** The turn that was shown second. */
  readonly second: string
  /** The text of the question. */
  readonly question: string
  /** More about it, as plain JSON. */
  readonly details?: JsonObject
}

/** A line of a list of turns. */
export interface TurnSummary {
  /** Names the turn. */
  readonly turnId: string
  /** The session of the turn. */
  readonly sessionId: string
  /** How far the turn is. */
  readonly status: TurnState
  /** The bot that asked; `null` for a plain `query()`. */
  readonly bot: BotIdentity | null
  /** The model that gave the last answer, or is asked. */
  readonly model: string
  /** The text of what was asked. */
  readonly question: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Milliseconds from the start to the end; `null` for a turn that is open. */
  readonly latencyMs: number | null
  /** Tokens of all requests of the turn; what is not known is `null`. */
  readonly usage: Usage
  /** US dollars; `null`: not known. */
  readonly costUsd: number | null
  /** 1 to 5, or -1 and 1; `null`: not rated. */
  readonly rating: number | null
  /** The user whose session it is in; `null` where none was named. */
  readonly userId: string | null
  /** In alphabetical order. */
  readonly tags: readonly string[]
}

/** A turn with everything that its row holds. */
export interface TurnRow extends TurnSummary {
  /** The text of the answer, also when it is only a beginning. */
  readonly text: string
  /** `null`: the provider's default. */
  readonly temperature: number | null
  /** SHA-256 of the system prompt, hexadecimal; `null` without one. */
  readonly promptHash: string | null
  /** The comment of the rating; `null`: none. */
  readonly ratingComment: string | null
  /** The turn that this one follows in its session. */
  readonly parentTurnId: string | null
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits: the span of the whole turn. */
  readonly spanId: string
  /** Epoch milliseconds; `null` for a turn that is open. */
  readonly endedAt: number | null
  /** Why the answer ended; `null` where there is none. */
  readonly finishReason: string | null
  /** Why the turn failed; `null` where it did not. */
  readonly error: ErrorInfo | null
  /** Figures of the turn; `null` for one that is open or was lost. */
  readonly metrics: TurnMetrics | null
}

/** Chooses turns by what they were marked with; all members must apply. */
export interface TurnFilter {
  /** Only turns in sessions of this user. */
  readonly userId?: string
  /** Only turns that carry all of these tags. */
  readonly tags?: readonly string[]
}

/** Limits a list of turns; a member that is absent leaves none out. */
export interface ListTurns extends TurnFilter {
  /**
   * Full-text search in questions and answers of turns that have ended; literal words, all of which have to occur. Also finds turns in one of
   * whose tool calls all words occur, in its name or its arguments.
   */
  readonly search?: string
  /** Only turns that started at this time or later; epoch milliseconds. */
  readonly since?: number
  /** Only turns that started before this time; epoch milliseconds. */
  readonly until?: number
  /** Only turns of a bot of this kind or name. */
  readonly bot?: string
  /** Only turns with this rating; `null`: only turns without one. */
  readonly rating?: number | null
  /** Only turns in which a tool of this name was started. */
  readonly tool?: string
  /** Only turns in this state. */
  readonly status?: TurnState
  /** Only turns that this model answered. */
  readonly model?: string
  /** Only turns of this session. */
  readonly sessionId?: string
  /** `true`: only turns that took longer than their limit for slow queries. */
  readonly slow?: boolean
  /** `false`: no turns that a tool of another turn made, such as those of sub-agents. Default: all turns. */
  readonly nested?: false
  /** Default 50. */
  readonly limit?: number
  /** Continues the list whose `nextCursor` this was. */
  readonly cursor?: string
}

/** A part of a list of turns. */
export interface TurnList {
  /** Newest first. */
  readonly turns: readonly TurnSummary[]
  /** Given as `cursor`, continues the list; `null` at its end. */
  readonly nextCursor: string | null
  /** Turns of this part of the list that cannot be read, in words; absent where there are none. */
  readonly damaged?: readonly string[]
}

/** Everything that the journal holds of a turn. */
export interface TurnDetail {
  /** Its row. */
  readonly turn: TurnRow
  /** Messages that are new in this turn, in order. */
  readonly messages: readonly Message[]
  /** All events, by `seq`. */
  readonly events: readonly QueryEvent[]
  /** Spans in the order in which they ended. */
  readonly spans: readonly SpanRecord[]
  /** The parts that are missing because they cannot be read, in words; absent where nothing is. */
  readonly damaged?: readonly string[]
  /** Versions of the prompts that the turn was made with; the number counts from 1 within a name. Absent where there are none. */
  readonly prompts?: readonly PromptRef[]
  /** Turns that tools of this one have made, in the order they began; each with the call that made it. */
  readonly nested: readonly (TurnSummary & { readonly callId: string })[]
}

/** A version of a prompt, as the journal counts it. */
export interface PromptRef extends Omit<PromptVersion, 'template'> {
  /** From 1, in the order of first use. */
  readonly version: number
}

/** Reads the journal. A turn whose lease has run out is shown as lost, wherever the reader may write. */
export interface JournalReader {
  /** Newest first. @throws ConfigurationError for a cursor or a limit that is none. */
  turns(query?: ListTurns): MaybePromise<TurnList>
  /** One turn with everything that is kept of it; `undefined` for one that is not there. */
  turn(turnId: string): MaybePromise<TurnDetail | undefined>
  /** Events of a turn whose `seq` is greater than `after`, in order. */
  events(turnId: string, after?: number): MaybePromise<readonly QueryEvent[]>
  /**
   * The messages of a session, oldest first, in a form that providers accept: user, assistant and tool messages without system
   * prompts and retrieved text. A turn that was cancelled, failed or lost counts with what it had: its complete messages, the text
   * that was shown of an unfinished one, and a result for every call. A turn without any answer counts as not asked. Where the
   * conversation was compacted, it begins with what it was compacted to.
   */
  history(sessionId: string): MaybePromise<readonly Message[]>
  /** Spans of a trace that have ended, in the order in which they began; those of no turn among them. */
  spans(traceId: string): MaybePromise<readonly SpanRecord[]>
  /** Choices between two answers, oldest first. */
  feedback(): MaybePromise<readonly FeedbackRecord[]>
}

/** How far a turn is followed. */
export interface FollowOptions {
  /** Only events whose `seq` is greater; default -1, which is all. */
  readonly after?: number
  /** Stops following when it is aborted; nothing is thrown. */
  readonly signal?: AbortSignal
}

/** Follows turns and keeps a journal in order; beside the port, because it is nothing that a turn needs. */
export interface JournalKeeper {
  /**
   * Yields the events of a turn that are in the journal, and then those that are still written, by this or another process, until its terminal
   * event. Events of nested turns are not among them: those turns can be followed themselves. Leaving it does not end the turn.
   *
   * @throws CriaError `not_found` at once for a turn that is not in the journal, and later for one that is deleted meanwhile.
   */
  follow(turnId: string, options?: FollowOptions): AsyncGenerator<QueryEvent, void, undefined>
  /** Marks all turns as lost whose lease has run out or whose owner is known to be dead; says how many. */
  sweep(): MaybePromise<number>
  /** Use and cost by day (UTC, newest first) and model. @param filter default all turns. */
  stats(filter?: TurnFilter): MaybePromise<readonly StatsRow[]>
  /** Use and cost by session, the one with the newest turn first. @param limit default 50. @param filter by what any of its turns carries. */
  sessionStats(limit?: number, filter?: TurnFilter): MaybePromise<readonly SessionStats[]>
  /** Sessions that a person began, the one with the newest turn first. */
  sessions(query?: ListSessions): MaybePromise<readonly SessionSummary[]>
  /** Keeps what a session goes on with. Does nothing for a session that is not in the journal. */
  keepSettings(sessionId: string, settings: JsonObject): MaybePromise<void>
  /** Use and cost by user, the one with the newest turn first; turns without a user are not counted. @param limit default 50. */
  userStats(limit?: number): MaybePromise<readonly UserStats[]>
  /** Use and cost by tag, in alphabetical order; a turn counts with each of its tags. @param limit default 50. */
  tagStats(limit?: number): MaybePromise<readonly TagStats[]>
  /** Versions of prompts and what the turns made with each used: by name, then by version. @param name only those of this name. */
  prompts(name?: string): MaybePromise<readonly PromptStats[]>
  /** Removes what is too old or too much, oldest turns first; never an open turn. */
  gc(options?: GcOptions): MaybePromise<GcReport>
  /**
   * Deletes a session with all of its turns and those that their tools made, and overwrites what the file, its search index and its log held
   * of them. Messages that other sessions hold as well stay with those.
   *
   * @throws CriaError `session_busy` while a turn of it runs; `journal_failed` when the journal cannot be written.
   */
  deleteSession(sessionId: string): MaybePromise<Deletion>
  /** Deletes all sessions of a user, as `deleteSession`, and what budgets knew of the user. @throws CriaError as `deleteSession`. */
  deleteUser(userId: string): MaybePromise<Deletion>
  /** Deletes every session in which a turn carries the tag, as `deleteSession`: later turns repeat what earlier ones said. @throws as `deleteSession`. */
  deleteTagged(tag: string): MaybePromise<Deletion>
  /**
   * Removes a small share of what is too old or too much, at most once a day.
   *
   * @param signal ends it early; what is left is done another time.
   * @returns what was removed; `undefined` when nothing was.
   */
  tend(signal?: AbortSignal): MaybePromise<GcReport | undefined>
}

/** Use of one model in a turn. */
export interface ModelUse {
  /** The model, as `provider/model`. */
  readonly model: string
  /** Requests that were paid for or tried. */
  readonly requests: number
  /** `null`: nobody knows, of one of them at least. */
  readonly inputTokens: number | null
  /** `null`: nobody knows, of one of them at least. */
  readonly outputTokens: number | null
  /** US dollars; `null`: not known. */
  readonly costUsd: number | null
}

/** Sums over turns. */
export interface StatsSums {
  /** Turns, of every state. */
  readonly turns: number
  /** Turns that did not end in `done`; open ones not among them. */
  readonly unfinished: number
  /** Sums over the turns that reported them. */
  readonly inputTokens: number
  /** Sum over the turns that reported them. */
  readonly outputTokens: number
  /** Turns whose tokens nobody knows, and which are therefore missing in the sums. */
  readonly unknownUsage: number
  /** US dollars, over the turns whose cost is known. */
  readonly costUsd: number
  /** Turns whose cost nobody knows. */
  readonly unknownCost: number
}

/** A turn that asked several models counts once, with the one that answered; its tokens and its cost count with each of them. */
export interface StatsRow extends StatsSums {
  /** `2026-01-31`. */
  readonly day: string
  /** The model, as `provider/model`. */
  readonly model: string
}

/** Use and cost of a session. */
export interface SessionStats extends StatsSums {
  /** The session. */
  readonly sessionId: string
  /** `null` where no turn named a user. */
  readonly userId: string | null
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** When its newest turn started, epoch milliseconds. */
  readonly lastTurnAt: number
}

/** Limits a list of sessions. */
export interface ListSessions {
  /** Only this one. */
  readonly sessionId?: string
  /** Only those that were begun in this folder; absolute path. */
  readonly folder?: string
  /** Only those in which a turn was found by these words, as `ListTurns.search`. */
  readonly search?: string
  /** Default 50. */
  readonly limit?: number
}

/** A session in a list. */
export interface SessionSummary {
  /** The id that `sessionId` of a turn names. */
  readonly sessionId: string
  /** Absolute path of the folder that it was begun in; `null` where nobody knows. */
  readonly folder: string | null
  /** The settings that it goes on with, as `keepSettings` was given them. */
  readonly settings: JsonObject | null
  /** The first question, at most 500 characters of it. */
  readonly title: string
  /** The model that answered last. */
  readonly model: string
  /** Without those that tools made. */
  readonly turns: number
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** When its newest turn started; epoch milliseconds. */
  readonly lastTurnAt: number
}

/** Use and cost of one user. */
export interface UserStats extends StatsSums {
  /** As named by the turns. */
  readonly userId: string
  /** Sessions that belong to the user. */
  readonly sessions: number
  /** When the newest turn started; epoch milliseconds. */
  readonly lastTurnAt: number
}

/** Use and cost of the turns that carry one tag. */
export interface TagStats extends StatsSums {
  /** As named by the turns. */
  readonly tag: string
  /** When the newest of its turns started; epoch milliseconds. */
  readonly lastTurnAt: number
}

/** One version of a prompt, and the sums of the turns that it made. A turn with two prompts counts with both. */
export interface PromptStats extends StatsSums, PromptRef {
  /** `null` for versions that were recorded before templates were. */
  readonly template: string | null
  /** Epoch milliseconds. */
  readonly firstUsedAt: number
  /** `null` when no turn of it is left. */
  readonly lastUsedAt: number | null
  /** How many turns have each rating: `{ '5': 2, '-1': 1 }`. */
  readonly ratings: Readonly<Record<string, number>>
}

/** Limits of a clean-up. */
export interface GcOptions {
  /** Turns that started longer ago than this go, in milliseconds. */
  readonly maxAgeMs?: number
  /** The oldest turns go until the journal is no larger than this. */
  readonly maxBytes?: number
  /** Only says what would go; `bytes` is then an estimate. */
  readonly dryRun?: boolean
  /** Ends it early: what has been removed by then is gone, the rest stays. */
  readonly signal?: AbortSignal
}

/** The result of a deletion. */
export interface Deletion {
  /** Turns that were removed, those that their tools made among them. */
  readonly turns: number
  /** Sessions that were removed as a whole. */
  readonly sessions: number
  /**
   * `false`: another process read from the log of the journal for so long that it could not be emptied; it may hold older versions of what
   * was deleted until it is. Delete again to try again.
   */
  readonly wiped: boolean
}

/** The result of a clean-up. */
export interface GcReport {
  /** Turns that were removed. */
  readonly turns: number
  /** Sessions that were removed with their last turn. */
  readonly sessions: number
  /** When the oldest and the newest turn among them started; `null` when none went. */
  readonly oldest: number | null
  /** When the newest of them started, epoch milliseconds; `null` when none went. */
  readonly newest: number | null
  /** Bytes that the journal became smaller by. */
  readonly bytes: number
  /** Nothing was removed. */
  readonly dryRun: boolean
}
