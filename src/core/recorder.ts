/**
 * The port to the journal. Every event of a turn is stored before the reader sees it. Sessions, replays, costs, search and choices are read from
 * it.
 *
 * All methods may be synchronous (SQLite) or asynchronous (a remote database): callers await a result only if it is a promise.
 */

import type { BudgetStore } from './budget.ts'
import type { CacheStore } from './storage.ts'
import type { ErrorInfo } from './error.ts'
import type { BotIdentity, QueryEvent, QueryResult } from './event.ts'
import type { JsonObject } from './json.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { Message } from './message.ts'
import type { PromptVersion } from './prompt.ts'
import type { SpanRecord } from './span.ts'
import type { Usage } from './usage.ts'

/** `lost`: its process died. `waiting`: complete except for calls that wait for a decision; becomes `done` when its session continues. */
export type TurnState = 'open' | 'done' | 'failed' | 'cancelled' | 'lost' | 'waiting'

/** The row of a turn at its start. */
export interface TurnOpen {
  /** Names the turn. */
  readonly turnId: string
  /** The session that the turn belongs to. */
  readonly sessionId: string
  /** The bot that asks; absent for a plain `query()`. */
  readonly bot?: BotIdentity
  /** The model of the first request. */
  readonly model: string
  /** `null`: the provider's default. */
  readonly temperature: number | null
  /** The user of the turn. A session belongs to the first user named by one of its turns. Default: the session's user, if any. */
  readonly userId?: string
  /**
   * The waiting turn of the same session that this turn continues; both have the same question. It stops waiting when this turn records its
   * first messages. If this turn ends before, it still waits.
   */
  readonly decides?: string
  /** Labels to list, count and delete turns by; duplicates are ignored. */
  readonly tags?: readonly string[]
  /** The text of the question, for lists and search. */
  readonly question: string
  /** SHA-256 of the system prompt's template, or of its text if it has no template; hexadecimal. `null` without a system prompt. */
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
   * `true`: no other exclusive turn of its session may be open at the same time. `false`: neither blocks other turns nor is blocked, and
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
   * Messages that are new in this turn: composed for it (system prompt, retrieved, user) or produced by it (assistant, tool). The
   * message of a `message` event is stored already; an entry with the same id adds nothing.
   */
  | {
      readonly type: 'messages' /** The step, from 1; 0 before the first. */
      readonly step: number /** The messages, in order. */
      readonly messages: readonly Message[]
    }
  /**
   * The conversation was compacted: the session continues with these messages (user, assistant and tool, without system prompts and
   * retrieved text) and later ones. The replaced messages stay in the journal. A later compaction of the same turn replaces this one.
   */
  | { readonly type: 'compaction'; readonly step: number; readonly messages: readonly Message[] }
  /** A tool call is about to start. Its `tool_result` event marks its end. */
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
  /** The terminal event; stored in one transaction with the new state. */
  readonly event: QueryEvent
  /** Epoch milliseconds. */
  readonly endedAt: number
  /** The model of the last answer. */
  readonly model: string
  /** The temperature sent to that model, `null` for none; absent: as in `openTurn`. */
  readonly temperature?: number | null
  /** The text of the answer, possibly incomplete. */
  readonly text: string
  /** Tokens of all requests of the turn. */
  readonly usage: Usage
  /** US dollars; `null`: unknown. */
  readonly costUsd: number | null
  /** `waiting` puts the turn into the state `waiting`. */
  readonly finishReason: QueryResult['finishReason'] | null
  /** The error of a failed turn; absent for other turns. */
  readonly error?: ErrorInfo
  /** Metrics of the turn. */
  readonly metrics: TurnMetrics
}

/** Metrics of a turn. */
export interface TurnMetrics {
  /** Milliseconds from the start to the first text or thinking; `null` if there was none. */
  readonly timeToFirstTokenMs: number | null
  /** Milliseconds from start to end, without the time spent waiting for permission decisions. */
  readonly durationMs: number
  /** Completed model calls. */
  readonly steps: number
  /** Started tool calls. */
  readonly toolsExecuted: number
  /** Failed attempts, and the failure that ended the turn. */
  readonly errors: number
  /** Attempts repeated with the same model. */
  readonly retries: number
  /** The answer came from a cache. */
  readonly cacheHit: boolean
  /**
   * Share of input tokens read from providers' prompt caches, 0 to 1; `null` if no provider reported it. Absent in turns recorded before this
   * member existed.
   */
  readonly promptCacheHitRate?: number | null
  /** Use of each model; absent in turns recorded before this member existed. */
  readonly models?: readonly ModelUse[]
  /** The turn took longer than the limit for slow queries (30 s by default). */
  readonly slow: boolean
}

/** Ratings of a turn: 1 to 5, or -1 and 1 for thumbs down and up. */
export const RATINGS: ReadonlySet<number> = new Set([-1, 1, 2, 3, 4, 5])

/** The port to the journal. Methods may be synchronous or return promises. */
export interface Recorder {
  /**
   * Writes the row of a turn. The turn belongs to this recorder's owner until it is closed or its lease runs out.
   * @throws CriaError `session_busy` if the turn is exclusive and another exclusive turn of the session is open with a valid lease;
   * `permission_denied` if the session belongs to another user; `not_found` if the turn that it decides does not wait (any more);
   * `journal_failed` if the journal cannot be written, as every method that writes.
   */
  openTurn(turn: TurnOpen): MaybePromise<void>
  /**
   * Stores entries of an open turn in order, in one transaction, and renews the lease. On failure none of them is stored.
   * @throws CriaError `turn_lost` if the lease ran out and another process ended the turn; `internal` if an event is not
   * the next of its turn.
   */
  record(turnId: string, entries: readonly JournalEntry[]): MaybePromise<void>
  /** Ends a turn. @throws CriaError as `record`; may be called again after `journal_failed`. */
  closeTurn(turnId: string, close: TurnClose): MaybePromise<void>
  /** Stores a span that has ended. */
  span(span: SpanRecord): MaybePromise<void>
  /** Stores a choice between two answers. */
  feedback(feedback: FeedbackRecord): MaybePromise<void>
  /**
   * Rates a turn: 1 to 5, or -1 and 1 for thumbs down and up; `null` removes the rating and its comment.
   * @throws CriaError `not_found` if the turn is not in the journal; ConfigurationError for any other number.
   */
  rate(turnId: string, rating: number | null, comment?: string): MaybePromise<void>
  /** The read side. */
  readonly read: JournalReader
  /**
   * Counts budgets across all processes that share this journal; every closed turn counts, with or without a budget. Absent: budgets
   * hold within one process.
   */
  readonly budget?: BudgetStore
  /** `true`: supports turns that wait for a decision. Absent: the answer `'wait'` to a permission request refuses the call. */
  readonly keepsWaiting?: boolean
  /** Response cache shared by all processes that use this journal. Absent: the cache ends with its process. */
  readonly cache?: CacheStore
  /** Closes the journal; turns that are still open become `lost` at once. A second call does nothing. */
  close(): MaybePromise<void>
}

/** A choice between two answers. */
export interface FeedbackRecord {
  /** Epoch milliseconds. */
  readonly at: number
  /** The preferred answer; `none`: neither. */
  readonly choice: 'first' | 'second' | 'none'
  /** The turn that was shown first. */
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
  /** The state of the turn. */
  readonly status: TurnState
  /** The bot that asked; `null` for a plain `query()`. */
  readonly bot: BotIdentity | null
  /** The model of the last answer, or of the running request. */
  readonly model: string
  /** The text of what was asked. */
  readonly question: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Milliseconds from start to end; `null` for an open turn. */
  readonly latencyMs: number | null
  /** Tokens of all requests of the turn; unknown numbers are `null`. */
  readonly usage: Usage
  /** US dollars; `null`: unknown. */
  readonly costUsd: number | null
  /** 1 to 5, or -1 and 1; `null`: not rated. */
  readonly rating: number | null
  /** The user of its session; `null` if none was named. */
  readonly userId: string | null
  /** In alphabetical order. */
  readonly tags: readonly string[]
}

/** The complete row of a turn. */
export interface TurnRow extends TurnSummary {
  /** The text of the answer, possibly incomplete. */
  readonly text: string
  /** `null`: the provider's default. */
  readonly temperature: number | null
  /** SHA-256 of the system prompt's template, or of its text if it has no template; hexadecimal. `null` without a system prompt. */
  readonly promptHash: string | null
  /** Comment of the rating; `null`: none. */
  readonly ratingComment: string | null
  /** The turn that this one follows in its session. */
  readonly parentTurnId: string | null
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits: the span of the whole turn. */
  readonly spanId: string
  /** Epoch milliseconds; `null` for an open turn. */
  readonly endedAt: number | null
  /** Why the answer ended; `null` if there is no answer. */
  readonly finishReason: string | null
  /** The error of a failed turn; `null` for other turns. */
  readonly error: ErrorInfo | null
  /** Metrics of the turn; `null` for an open or lost turn. */
  readonly metrics: TurnMetrics | null
}

/** Selects turns by user and tags; all members must match. */
export interface TurnFilter {
  /** Only turns in sessions of this user. */
  readonly userId?: string
  /** Only turns that carry all of these tags. */
  readonly tags?: readonly string[]
}

/** Selects turns of a list; an absent member does not filter. */
export interface ListTurns extends TurnFilter {
  /**
   * Full-text search in questions and answers of ended turns; literal words, all of which must occur. Also finds turns with a tool call
   * whose name or arguments contain all words.
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
  /** Only turns that started a tool of this name. */
  readonly tool?: string
  /** Only turns in this state. */
  readonly status?: TurnState
  /** Only turns answered by this model. */
  readonly model?: string
  /** Only turns of this session. */
  readonly sessionId?: string
  /** `true`: only turns that exceeded their limit for slow queries. */
  readonly slow?: boolean
  /** `false`: without turns started by tools of other turns, such as sub-agents. Default: all turns. */
  readonly nested?: false
  /** Default 50. */
  readonly limit?: number
  /** `nextCursor` of the previous page, to continue the list. */
  readonly cursor?: string
}

/** A page of a list of turns. */
export interface TurnList {
  /** Newest first. */
  readonly turns: readonly TurnSummary[]
  /** `cursor` of the next page; `null` at the end of the list. */
  readonly nextCursor: string | null
  /** Descriptions of turns of this page that cannot be read; absent if there are none. */
  readonly damaged?: readonly string[]
}

/** All data of a turn in the journal. */
export interface TurnDetail {
  /** Its row. */
  readonly turn: TurnRow
  /** Messages that are new in this turn, in order. */
  readonly messages: readonly Message[]
  /** All events, by `seq`. */
  readonly events: readonly QueryEvent[]
  /** Spans, in the order in which they ended. */
  readonly spans: readonly SpanRecord[]
  /** Descriptions of parts that cannot be read and are missing; absent if there are none. */
  readonly damaged?: readonly string[]
  /** Prompt versions of the turn, numbered from 1 within a name. Absent if there are none. */
  readonly prompts?: readonly PromptRef[]
  /** Turns started by tools of this turn, in order of their start; each with the call that started it. */
  readonly nested: readonly (TurnSummary & { readonly callId: string })[]
}

/** A version of a prompt, as the journal counts it. */
export interface PromptRef extends Omit<PromptVersion, 'template'> {
  /** From 1, in the order of first use. */
  readonly version: number
}

/** Reads the journal. A turn whose lease has run out is shown as lost, if the reader may write. */
export interface JournalReader {
  /** Lists turns, newest first. @throws ConfigurationError for an invalid cursor or limit. */
  turns(query?: ListTurns): MaybePromise<TurnList>
  /** Returns all data of a turn; `undefined` if it does not exist. */
  turn(turnId: string): MaybePromise<TurnDetail | undefined>
  /** Returns events of a turn whose `seq` is greater than `after`, in order. */
  events(turnId: string, after?: number): MaybePromise<readonly QueryEvent[]>
  /**
   * Returns the messages of a session, oldest first, in a form that providers accept: user, assistant and tool messages, without system
   * prompts and retrieved text. A cancelled, failed or lost turn contributes its complete messages, the text shown of an unfinished
   * message, and a result for every call; without any answer it is left out. If the conversation was compacted, the history begins
   * with the compacted messages.
   */
  history(sessionId: string): MaybePromise<readonly Message[]>
  /** Returns the ended spans of a trace in order of their start, including spans outside of turns. */
  spans(traceId: string): MaybePromise<readonly SpanRecord[]>
  /** Returns choices between two answers, oldest first. */
  feedback(): MaybePromise<readonly FeedbackRecord[]>
}

/** Options of `follow`. */
export interface FollowOptions {
  /** Only events whose `seq` is greater; default -1 (all events). */
  readonly after?: number
  /** Aborting it ends the iteration without an error. */
  readonly signal?: AbortSignal
}

/** Follows turns, reports statistics and cleans up a journal. Separate from `Recorder`, because turns do not need it. */
export interface JournalKeeper {
  /**
   * Yields the stored events of a turn, then new ones as this or another process writes them, up to the terminal event. Omits events of nested
   * turns, which can be followed themselves. Leaving the iteration does not end the turn.
   *
   * @throws CriaError `not_found` at once if the turn is not in the journal, and later if it is deleted meanwhile.
   */
  follow(turnId: string, options?: FollowOptions): AsyncGenerator<QueryEvent, void, undefined>
  /** Marks turns as lost whose lease has run out or whose process is dead; returns their number. */
  sweep(): MaybePromise<number>
  /** Returns use and cost by day (UTC, newest first) and model. @param filter default all turns. */
  stats(filter?: TurnFilter): MaybePromise<readonly StatsRow[]>
  /** Returns use and cost by session, latest turn first. @param limit default 50. @param filter matches if any turn of the session does. */
  sessionStats(limit?: number, filter?: TurnFilter): MaybePromise<readonly SessionStats[]>
  /** Lists sessions that a person started, latest turn first. */
  sessions(query?: ListSessions): MaybePromise<readonly SessionSummary[]>
  /** Stores the settings with which a session is resumed. Does nothing if the session is not in the journal. */
  keepSettings(sessionId: string, settings: JsonObject): MaybePromise<void>
  /** Returns use and cost by user, latest turn first; turns without a user are not counted. @param limit default 50. */
  userStats(limit?: number): MaybePromise<readonly UserStats[]>
  /** Returns use and cost by tag, in alphabetical order; a turn counts for each of its tags. @param limit default 50. */
  tagStats(limit?: number): MaybePromise<readonly TagStats[]>
  /** Returns prompt versions with the use of their turns, by name, then by version. @param name only prompts of this name. */
  prompts(name?: string): MaybePromise<readonly PromptStats[]>
  /** Removes turns beyond the limits of age and size, oldest first; never an open turn. */
  gc(options?: GcOptions): MaybePromise<GcReport>
  /**
   * Deletes a session, its turns and the turns started by their tools, and overwrites their data in the file, its search index and its log.
   * Messages that other sessions share are kept there.
   *
   * @throws CriaError `session_busy` while a turn of it runs; `journal_failed` if the journal cannot be written.
   */
  deleteSession(sessionId: string): MaybePromise<Deletion>
  /** Deletes all sessions of a user, as `deleteSession`, and the user's budget counts. @throws CriaError as `deleteSession`. */
  deleteUser(userId: string): MaybePromise<Deletion>
  /** Deletes every session with a turn that carries the tag, since later turns repeat earlier text. @throws as `deleteSession`. */
  deleteTagged(tag: string): MaybePromise<Deletion>
  /**
   * Runs a small part of the clean-up of `gc`, at most once a day.
   *
   * @param signal ends it early; the rest is left for the next time.
   * @returns a report of what was removed; `undefined` if nothing was.
   */
  tend(signal?: AbortSignal): MaybePromise<GcReport | undefined>
}

/** Use of one model in a turn. */
export interface ModelUse {
  /** The model, as `provider/model`. */
  readonly model: string
  /** Requests that were sent, including failed ones. */
  readonly requests: number
  /** `null`: unknown for at least one request. */
  readonly inputTokens: number | null
  /** `null`: unknown for at least one request. */
  readonly outputTokens: number | null
  /** US dollars; `null`: unknown. */
  readonly costUsd: number | null
}

/** Sums over turns. */
export interface StatsSums {
  /** Number of turns, in any state. */
  readonly turns: number
  /** Ended turns whose state is not `done`. */
  readonly unfinished: number
  /** Sum over the turns that reported them. */
  readonly inputTokens: number
  /** Sum over the turns that reported them. */
  readonly outputTokens: number
  /** Turns of unknown token use, missing in the sums. */
  readonly unknownUsage: number
  /** US dollars, summed over the turns of known cost. */
  readonly costUsd: number
  /** Turns of unknown cost. */
  readonly unknownCost: number
}

/** Use and cost of a day and model. A turn with several models counts once, for the answering one; tokens and cost count for each. */
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
  /** `null` if no turn named a user. */
  readonly userId: string | null
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Start of its latest turn, epoch milliseconds. */
  readonly lastTurnAt: number
}

/** Selects sessions of a list. */
export interface ListSessions {
  /** Only this session. */
  readonly sessionId?: string
  /** Only sessions started in this folder; absolute path. */
  readonly folder?: string
  /** Only sessions with a turn that contains these words, as `ListTurns.search`. */
  readonly search?: string
  /** Default 50. */
  readonly limit?: number
}

/** A session in a list. */
export interface SessionSummary {
  /** The id of the session. */
  readonly sessionId: string
  /** Absolute path of the folder in which it was started; `null`: unknown. */
  readonly folder: string | null
  /** The settings stored by `keepSettings`; `null`: none. */
  readonly settings: JsonObject | null
  /** The first question, cut to 500 characters. */
  readonly title: string
  /** The model of the last answer. */
  readonly model: string
  /** Number of turns, without those started by tools. */
  readonly turns: number
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Start of its latest turn; epoch milliseconds. */
  readonly lastTurnAt: number
}

/** Use and cost of one user. */
export interface UserStats extends StatsSums {
  /** As named by the turns. */
  readonly userId: string
  /** Sessions that belong to the user. */
  readonly sessions: number
  /** Start of the latest turn; epoch milliseconds. */
  readonly lastTurnAt: number
}

/** Use and cost of the turns that carry one tag. */
export interface TagStats extends StatsSums {
  /** As named by the turns. */
  readonly tag: string
  /** Start of its latest turn; epoch milliseconds. */
  readonly lastTurnAt: number
}

/** A prompt version with the sums of its turns. A turn with two prompts counts for both. */
export interface PromptStats extends StatsSums, PromptRef {
  /** `null` for versions recorded before templates were stored. */
  readonly template: string | null
  /** Epoch milliseconds. */
  readonly firstUsedAt: number
  /** Epoch milliseconds; `null` if none of its turns is left. */
  readonly lastUsedAt: number | null
  /** Number of turns by rating: `{ '5': 2, '-1': 1 }`. */
  readonly ratings: Readonly<Record<string, number>>
}

/** Limits of a clean-up. */
export interface GcOptions {
  /** Removes turns that started longer ago than this, in milliseconds. */
  readonly maxAgeMs?: number
  /** Removes the oldest turns until the journal is at most this large. */
  readonly maxBytes?: number
  /** `true`: only reports what would be removed; `bytes` is then an estimate. */
  readonly dryRun?: boolean
  /** Ends the clean-up early; turns removed by then stay removed. */
  readonly signal?: AbortSignal
}

/** The result of a deletion. */
export interface Deletion {
  /** Removed turns, including those started by tools. */
  readonly turns: number
  /** Sessions that were removed entirely. */
  readonly sessions: number
  /**
   * `false`: the write-ahead log could not be emptied because another process kept reading it; until then it may hold older versions of
   * deleted data. Call the deletion again to retry.
   */
  readonly wiped: boolean
}

/** The result of a clean-up. */
export interface GcReport {
  /** Turns that were removed. */
  readonly turns: number
  /** Sessions whose last turn was removed. */
  readonly sessions: number
  /** Start of the oldest removed turn, epoch milliseconds; `null` if none was removed. */
  readonly oldest: number | null
  /** Start of the latest removed turn, epoch milliseconds; `null` if none was removed. */
  readonly newest: number | null
  /** Bytes by which the journal shrank. */
  readonly bytes: number
  /** `true`: a dry run, nothing was removed. */
  readonly dryRun: boolean
}
