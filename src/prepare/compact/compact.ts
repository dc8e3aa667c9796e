/**
 * Makes a conversation smaller, in stages: old tool output in outline, then a summary of what is old, then less of what is recent. It comes
 * back smaller, or not at all.
 */

import type { Station, StationContext } from '../../core/context.ts'
import { toCriaError } from '../../core/error.ts'
import type { NoticeEvent } from '../../core/event.ts'
import type { MessageId } from '../../core/id.ts'
import type { Message } from '../../core/message.ts'
import {
  divide,
  isSummary,
  oldOf,
  summaryTokens,
  total,
  trim,
  unitsOf,
  withOutlines,
  withShorterOpening,
  withSummary,
} from './plan.ts'
import type { Division, Goal, TokensOf } from './plan.ts'
import { omissionMessage, summaryMessage, summaryRequest, transcripts } from './summary.ts'

/** Asks a model aside from the conversation; the engine hands it in. */
export interface Complete {
  /** Tokens; `null` when nobody knows. */
  readonly contextWindow: number | null
  /** The text of its answer. @param operation name of its span; default `summarise`. @throws CriaError when there is none. */
  ask(messages: readonly Message[], maxOutputTokens: number, operation?: string): Promise<string>
}

export interface CompactContext extends StationContext {
  /** Called when somebody is to be asked; `undefined`: nobody can be, and what is old is left out. */
  readonly complete: () => Complete | undefined
}

export interface Compactable {
  readonly messages: readonly Message[]
  /** Ids of what was composed for the turn under way. */
  readonly turn: ReadonlySet<MessageId>
}

export interface Compacted {
  readonly messages: readonly Message[]
  /** Present when what is old has been summarised or left out. */
  readonly summary: Message | undefined
  /** The stages that were needed: `shorten`, `summarise`, `trim`, joined by `+`. */
  readonly strategy: string
}

/** `undefined` when nothing could be done that makes it smaller. */
export async function* compact(
  { messages, turn }: Compactable,
  goal: Goal,
  tokensOf: TokensOf,
  ctx: CompactContext,
): Station<Compacted | undefined> {
  const given = unitsOf(messages, turn, tokensOf)
  const before = total(given)
  const units = withShorterOpening(given, goal, tokensOf)
  let summary: Message | undefined

  const whole = divide(units, goal)
  let division = withOutlines(whole, tokensOf)
  let stages = total(division.units) < before ? ['shorten'] : []
  if (total(division.units) > goal.target && isWorthSummary(division, goal, tokensOf)) {
    const notes = yield* summarise(whole, goal, ctx)
    const id = ctx.createId('msg')
    const written = notes === undefined ? undefined : summaryMessage(notes, id)
    const omitted = withSummary(division, omissionMessage(id), tokensOf)
    let summarised = written === undefined ? omitted : withSummary(division, written, tokensOf)
    summary = written ?? omissionMessage(id)
    if (written !== undefined && isTooLarge(tokensOf(written), summarised, omitted, division, goal, tokensOf)) {
      yield summaryFailed('The summary is too large.')
      summarised = omitted
      summary = omissionMessage(id)
    }
    if (total(summarised.units) < total(division.units)) {
      division = summarised
      // Messages that are gone need not be called shortened.
      stages = [...(units === given ? [] : ['shorten']), summary === written ? 'summarise' : 'trim']
    } else {
      summary = undefined
    }
  }
  if (total(division.units) > goal.limit) {
    const trimmed = trim(division, goal, tokensOf)
    if (total(trimmed.units) < total(division.units) && !stages.includes('trim')) stages.push('trim')
    division = trimmed
  }
  if (total(division.units) >= before) return undefined
  return { messages: division.units.flatMap((unit) => unit.messages), summary, strategy: stages.join('+') }
}

/** Characters that surely fit into so many tokens, whatever the script. */
const CHARS_PER_TOKEN = 1.5
/** Of the window of the model that is asked; the rest is for its task and its answer. */
const TRANSCRIPT_SHARE = 0.6
/** Where nobody knows the window. */
const ASSUMED_WINDOW = 32_000
/** Requests for one summary at most; what is longer loses the middles of its messages. */
const MOST_PIECES = 8

/** Tells whether the old units that no summary covers yet take more tokens than a summary may: less would be paid for in each turn, and gain nothing. */
function isWorthSummary(division: Division, goal: Goal, tokensOf: TokensOf): boolean {
  const added = oldOf(division).filter((unit) => !isSummary(unit))
  return total(added) > summaryTokens(goal) + tokensOf(summaryMessage('', 'msg_none'))
}

/** Notes on what is old; `undefined` when there is nobody to ask, or no answer: a conversation is then shortened without. */
async function* summarise(division: Division, goal: Goal, ctx: CompactContext): Station<string | undefined> {
  const complete = ctx.complete()
  if (complete === undefined) return undefined
  const old = oldOf(division).flatMap((unit) => unit.messages)
  const maxOutputTokens = summaryTokens(goal)
  const chars = (complete.contextWindow ?? ASSUMED_WINDOW) * TRANSCRIPT_SHARE * CHARS_PER_TOKEN
  try {
    let notes = ''
    for (const piece of pieces(old, chars)) {
      notes = await complete.ask(summaryRequest(piece, notes), maxOutputTokens)
    }
    return notes
  } catch (thrown) {
    if (ctx.signal.aborted) throw thrown
    yield summaryFailed(toCriaError(thrown).message)
    return undefined
  }
}

/** Providers count in tokens of their own: a summary may take this many times what it was allowed by ours. */
const SUMMARY_SLACK = 2

/** Tells whether a summary saves nothing, or takes the room of the last turns. */
function isTooLarge(
  tokens: number,
  summarised: Division,
  omitted: Division,
  before: Division,
  goal: Goal,
  tokensOf: TokensOf,
): boolean {
  const size = total(summarised.units)
  const allowed = SUMMARY_SLACK * summaryTokens(goal) + tokensOf(summaryMessage('', 'msg_none'))
  return tokens > allowed || size >= total(before.units) || (size > goal.limit && total(omitted.units) <= goal.limit)
}

function summaryFailed(why: string): NoticeEvent {
  return {
    type: 'notice',
    code: 'summary_failed',
    message: `No summary could be made, so that older messages are left out: ${why}`,
  }
}

function pieces(messages: readonly Message[], chars: number): string[] {
  const all = transcripts(messages, chars)
  if (all.length <= MOST_PIECES) return all
  return transcripts(messages, chars, (chars * MOST_PIECES) / (2 * messages.length))
}
