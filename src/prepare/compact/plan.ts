/** Plans compaction: groups messages into units that stay or go together, and decides which to drop first. Pure; `compact.ts` asks for summaries. */

import type { MessageId } from '../../core/id.ts'
import type { Message } from '../../core/message.ts'
import { OUTLINE_CHARS, shortened, textLength, withoutMiddle } from './shorten.ts'

export interface Unit {
  readonly messages: readonly Message[]
  readonly tokens: number
  /** `true`: never dropped. */
  readonly stays: boolean
  /** `true`: the user message at the start of an earlier turn. */
  readonly asks: boolean
  /** `true`: the first message of the conversation, in an earlier turn. It is kept, but its middle may be cut as a last resort. */
  readonly opens: boolean
}

export type TokensOf = (message: Message) => number

/** Groups messages into units. @param turn ids of messages composed for the current turn: system prompt, passages, question. */
export function unitsOf(messages: readonly Message[], turn: ReadonlySet<MessageId>, tokensOf: TokensOf): Unit[] {
  const first = messages.find(
    (message) => message.role === 'user' && message.retrieved === undefined && message.injected === undefined && !message.summary,
  )
  const units: Unit[] = []
  for (let at = 0; at < messages.length;) {
    const end = endOfUnit(messages, at)
    const own = messages.slice(at, end)
    units.push({
      messages: own,
      tokens: sumOf(own, tokensOf),
      stays: own.some((message) => message === first || mustStay(message, turn)) || hasOpenCall(own),
      asks: own[0]?.role === 'user' && own[0].summary !== true && !turn.has(own[0].id),
      opens: first !== undefined && own[0] === first && !mustStay(first, turn),
    })
    at = end
  }
  return units
}

/** Returns the unit with its messages replaced. */
function withMessages(unit: Unit, messages: readonly Message[], tokensOf: TokensOf): Unit {
  return { ...unit, messages, tokens: sumOf(messages, tokensOf) }
}

export function isSummary(unit: Unit): boolean {
  return unit.messages[0]?.summary === true
}

export function total(units: readonly Unit[]): number {
  return units.reduce((sum, unit) => sum + unit.tokens, 0)
}

function sumOf(messages: readonly Message[], tokensOf: TokensOf): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0)
}

function endOfUnit(messages: readonly Message[], at: number): number {
  let end = at + 1
  if (messages[at]?.toolCalls === undefined) return end
  while (messages[end]?.role === 'tool') end++
  return end
}

function mustStay({ role, pinned, id }: Message, turn: ReadonlySet<MessageId>): boolean {
  return role === 'system' || role === 'developer' || pinned === true || turn.has(id)
}

/** Returns `true` for a call without a result or with unknown effects: a model that forgets it would repeat it. */
function hasOpenCall([first, ...results]: readonly Message[]): boolean {
  const answered = new Set(
    results.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-result' && part.unknownEffects === undefined ? [part.id] : [])),
    ),
  )
  return first?.toolCalls?.some(({ id }) => !answered.has(id)) === true
}

/** The goal of compaction, in tokens as `tokensOf` counts them. */
export interface Goal {
  /** Target size. It is low, so that compaction is rare: each one invalidates the provider's prompt cache. */
  readonly target: number
  /** Size that triggers compaction. Recent messages are dropped only to get below it. */
  readonly limit: number
  /** Maximum size that can be sent; at least `limit`. The opening message is cut only to get below it. */
  readonly most: number
  /** Number of earlier turns to keep unchanged, if they fit. */
  readonly keepTurns: number
}

/** Share of the target for a summary. */
const SUMMARY_SHARE = 0.15
const LEAST_SUMMARY = 64

/** Returns the maximum tokens of a summary. */
export function summaryTokens({ target }: Goal): number {
  return Math.max(LEAST_SUMMARY, Math.floor(target * SUMMARY_SHARE))
}

/** Splits units into old and recent. Old ones are dropped unless they stay; recent ones are kept. */
export interface Division {
  readonly units: readonly Unit[]
  /** Index of the first recent unit. */
  readonly recent: number
}

/** Keeps, from the end: unanswered messages, the last turns if they fit, and as much of the rest as fills half the room. */
export function divide(units: readonly Unit[], goal: Goal): Division {
  const staying = total(units.filter((unit) => unit.stays))
  const room = goal.target * (1 - SUMMARY_SHARE) - staying
  let used = 0
  let turns = 0
  let recent = units.length
  for (const [index, unit] of [...units.entries()].toReversed()) {
    if (isSummary(unit)) break
    if (!unit.stays) {
      const isLast = index === units.length - 1
      if (!isLast && used + unit.tokens > (turns < goal.keepTurns ? room : room / 2)) break
      used += unit.tokens
    }
    if (unit.asks) turns++
    recent = index
  }
  return { units, recent }
}

/** Returns the old units that are dropped or summarised. */
export function oldOf({ units, recent }: Division): readonly Unit[] {
  return units.slice(0, recent).filter((unit) => !unit.stays)
}

/** Shortens the tool output of old units. */
export function withOutlines({ units, recent }: Division, tokensOf: TokensOf): Division {
  return { units: units.map((unit, index) => (index < recent ? outlined(unit, tokensOf) : unit)), recent }
}

/** Replaces all old units by `summary`, at the place of the last one. */
export function withSummary(division: Division, summary: Message, tokensOf: TokensOf): Division {
  const { units, recent } = division
  const last = units.findLastIndex((unit, index) => index < recent && !unit.stays)
  const unit: Unit = { messages: [summary], tokens: tokensOf(summary), stays: false, asks: false, opens: false }
  const before = units.slice(0, recent).flatMap((each, index) => (index === last ? [unit] : each.stays ? [each] : []))
  return { units: [...before, ...units.slice(recent)], recent: before.length }
}

/** Minimum share of the remaining room for the opening message. */
const OPENING_SHARE = 0.25

/**
 * Cuts the middle of the opening message if the conversation could not be sent even after dropping all other units that may be dropped.
 * Changes nothing if that does not help.
 */
export function withShorterOpening(units: readonly Unit[], goal: Goal, tokensOf: TokensOf): readonly Unit[] {
  const at = units.findIndex(({ opens }) => opens)
  const opening = units[at]
  const least = leastOf(units, tokensOf)
  if (opening === undefined || least <= goal.most) return units
  const free = goal.most - (least - opening.tokens)
  if (free <= 0) return units
  const room = Math.max(goal.target - (total(units) - opening.tokens), free * OPENING_SHARE)
  const shorter = cutTo(opening, room, tokensOf)
  return shorter.tokens < opening.tokens && shorter.tokens <= free ? units.with(at, shorter) : units
}

function cutTo(unit: Unit, room: number, tokensOf: TokensOf): Unit {
  let chars = (unit.messages.reduce((sum, message) => sum + textLength(message), 0) * room) / unit.tokens
  for (; ; chars *= 0.8) {
    const left = Math.max(OUTLINE_CHARS, Math.floor(chars))
    const messages = unit.messages.map((message) => withoutMiddle(message, left))
    const cut = withMessages(unit, messages, tokensOf)
    if (cut.tokens <= room || left === OUTLINE_CHARS) return cut
  }
}

/** Returns the tokens that remain after dropping all units that may be dropped. */
function leastOf(units: readonly Unit[], tokensOf: TokensOf): number {
  const worst = new Set(uncited(units))
  const kept = units.filter((unit, at) => !worst.has(unit) && (unit.stays || at === units.length - 1))
  return total(kept.map((unit) => outlined(unit, tokensOf)))
}

/**
 * Drops units, least needed first, until the rest is within the limit; if that is impossible, until it can be sent. Units that stay are
 * never dropped.
 */
export function trim(division: Division, goal: Goal, tokensOf: TokensOf): Division {
  const { recent } = division
  let { units } = division
  const limit = leastOf(units, tokensOf) <= goal.limit ? goal.limit : goal.most
  const isOver = (): boolean => total(units) > limit
  const last = (): number => units.length - 1
  for (let at = recent; at < last() && isOver(); at++) units = units.with(at, outlined(unitAt(units, at), tokensOf))
  for (let at = 0; at < last() && isOver();) {
    if (unitAt(units, at).stays || isSummary(unitAt(units, at))) at++
    else units = units.toSpliced(at, 1)
  }
  for (let chars = 64 * OUTLINE_CHARS; chars >= OUTLINE_CHARS && isOver(); chars /= 2) {
    units = units.with(last(), outlined(unitAt(units, last()), tokensOf, chars))
  }
  for (const worst of uncited(units)) {
    if (!isOver()) break
    units = units.filter((unit) => unit !== worst)
  }
  return { units, recent }
}

/** Returns passages that no answer has cited, worst first. */
function uncited(units: readonly Unit[]): Unit[] {
  const answers = units.flatMap(({ messages }) =>
    messages.filter(({ role }) => role === 'assistant').map(({ content }) => content),
  )
  return units
    .filter(({ messages: [message] }) => {
      const marker = message?.pinned === true ? undefined : message?.retrieved?.marker
      return marker !== undefined && !answers.some((text) => text.includes(`[${marker}]`))
    })
    .toReversed()
}

function outlined(unit: Unit, tokensOf: TokensOf, chars = OUTLINE_CHARS): Unit {
  // Pinned output is kept unchanged.
  if (unit.messages.some((message) => message.pinned)) return unit
  const messages = unit.messages.map((message) => shortened(message, chars))
  return messages.every((message, index) => message === unit.messages[index]) ? unit : withMessages(unit, messages, tokensOf)
}

function unitAt(units: readonly Unit[], index: number): Unit {
  const unit = units[index]
  if (unit === undefined) throw new RangeError(`There is no unit ${index} of ${units.length}.`)
  return unit
}
