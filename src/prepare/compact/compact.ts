/**
 * Compacts a conversation in stages: shortens old tool output, then summarises old messages, then drops recent ones. Returns a smaller
 * conversation, or `undefined`.
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
import { omissionMessage, summaryMessage, summaryRequest, transcripts } from './shorten.ts'

/** Makes a model call outside the conversation; passed in by the engine. */
export interface Complete {
  /** Context window in tokens; `null`: unknown. */
  readonly contextWindow: number | null
  /** Returns the text of the answer. @param operation name of its span; default `summarise`. @throws CriaError if it fails. */
  ask(messages: readonly Message[], maxOutputTokens: number, operation?: string): Promise<string>
}

export interface CompactContext extends StationContext {
  /** Called when a summary is needed; `undefined`: no model can write one, and old messages are left out. */
  readonly complete: () => Complete | undefined
}

export interface Compactable {
  readonly messages: readonly Message[]
  /** Ids of the messages composed for the current turn. */
  readonly turn: ReadonlySet<MessageId>
}

export interface Compacted {
  readonly messages: readonly Message[]
  /** Present if old messages were summarised or left out. */
  readonly summary: Message | undefined
  /** The stages applied: `shorten`, `summarise`, `trim`, joined by `+`. */
  readonly strategy: string
}

/** Returns `undefined` if the conversation cannot be made smaller. */
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
    const replaced = yield* withoutOld(whole, division, goal, tokensOf, ctx)
    if (total(replaced.division.units) < total(division.units)) {
      // Removed messages do not count as shortened.
      stages = [...(units === given ? [] : ['shorten']), replaced.stage]
      division = replaced.division
      summary = replaced.summary
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

interface Replaced {
  readonly division: Division
  readonly summary: Message
  readonly stage: 'summarise' | 'trim'
}

/** Replaces old units by a summary, or by a note that they were left out if there is no summary or it is too large. */
async function* withoutOld(
  whole: Division,
  division: Division,
  goal: Goal,
  tokensOf: TokensOf,
  ctx: CompactContext,
): Station<Replaced> {
  const notes = yield* summarise(whole, goal, ctx)
  const id = ctx.createId('msg')
  const replaced = (summary: Message, stage: Replaced['stage']): Replaced => ({
    division: withSummary(division, summary, tokensOf),
    summary,
    stage,
  })
  const omitted = replaced(omissionMessage(id), 'trim')
  if (notes === undefined) return omitted
  const summarised = replaced(summaryMessage(notes, id), 'summarise')
  const tokens = tokensOf(summarised.summary)
  if (!isTooLarge(tokens, summarised.division, omitted.division, division, goal, tokensOf)) return summarised
  yield summaryFailed('The summary is too large.')
  return omitted
}

/** Characters per token that fit in any script. */
const CHARS_PER_TOKEN = 1.5
/** Share of the model's window for the transcript; the rest is for instructions and answer. */
const TRANSCRIPT_SHARE = 0.6
/** Assumed window of a model, in tokens, if unknown. */
const ASSUMED_WINDOW = 32_000
/** Maximum requests per summary; of longer conversations the middle of each message is left out. */
const MOST_PIECES = 8

/** Returns `true` if old units without a summary take more tokens than a summary may: otherwise it would not pay off. */
function isWorthSummary(division: Division, goal: Goal, tokensOf: TokensOf): boolean {
  const added = oldOf(division).filter((unit) => !isSummary(unit))
  return total(added) > summaryTokens(goal) + tokensOf(summaryMessage('', 'msg_none'))
}

/** Summarises old messages; `undefined` if there is no model or no answer. The conversation is then shortened without a summary. */
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

/** Tolerance factor for the size of a summary, since tokenizers differ. */
const SUMMARY_SLACK = 2

/** Returns `true` if a summary saves nothing, or displaces the last turns. */
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
