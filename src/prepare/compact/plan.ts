/** Chooses what a conversation gives up when it must become smaller, and in which order: messages are grouped into units that stay or go together. Pure; a model is asked for a summary by `compact.ts`. */

import type { MessageId } from '../../core/id.ts'
import type { Message } from '../../core/message.ts'
import { OUTLINE_CHARS, shortened, textLength, withoutMiddle } from './shorten.ts'

export interface Unit {
  readonly messages: readonly Message[]
  readonly tokens: number
  /** It is never given up. */
  readonly stays: boolean
  /** It begins a turn that is over: what a user said. */
  readonly asks: boolean
  /** The first message of the conversation, in a turn that is over: it stays, but for its middle when nothing else is left. */
  readonly opens: boolean
}

export type TokensOf = (message: Message) => number

/** @param turn ids of what was composed for the turn under way: system prompt, passages, question. */
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

/** The unit with other messages in the place of its own. */
export function withMessages(unit: Unit, messages: readonly Message[], tokensOf: TokensOf): Unit {
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

/** A call whose effects are unknown is as open as one without a result: who forgot it would make it again without a question. */
function hasOpenCall([first, ...results]: readonly Message[]): boolean {
  const answered = new Set(
    results.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'tool-result' && part.unknownEffects === undefined ? [part.id] : [])),
    ),
  )
  return first?.toolCalls?.some(({ id }) => !answered.has(id)) === true
}

/** In tokens as `tokensOf` counts them. */
export interface Goal {
  /** Compaction is deep, so that it is rare: a provider's prompt cache begins anew after each. */
  readonly target: number
  /** From this size on room is made. What is recent is given up for it, and for nothing less. */
  readonly limit: number
  /** More than this cannot be sent; at least `limit`. What the conversation began with is cut for it, and for nothing less. */
  readonly most: number
  /** Turns before the present one that are kept as they are where they fit. */
  readonly keepTurns: number
}

/** Of the target, what a summary may take. */
const SUMMARY_SHARE = 0.15
const LEAST_SUMMARY = 64

/** Tokens that a summary may take. */
export function summaryTokens({ target }: Goal): number {
  return Math.max(LEAST_SUMMARY, Math.floor(target * SUMMARY_SHARE))
}

/** Units before `recent`, but for those that stay, have to make room; the others are kept as they are. */
export interface Division {
  readonly units: readonly Unit[]
  /** Index of the first recent unit. */
  readonly recent: number
}

/** Keeps from the end backwards: what the model has not answered yet, the last turns if they fit, and of the rest what takes half the room. */
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

/** The units that have to make room. */
export function oldOf({ units, recent }: Division): readonly Unit[] {
  return units.slice(0, recent).filter((unit) => !unit.stays)
}

/** With tool output of old units in outline. */
export function withOutlines({ units, recent }: Division, tokensOf: TokensOf): Division {
  return { units: units.map((unit, index) => (index < recent ? outlined(unit, tokensOf) : unit)), recent }
}

/** With `summary` in the place of all that is old: where the last of it stood. */
export function withSummary(division: Division, summary: Message, tokensOf: TokensOf): Division {
  const { units, recent } = division
  const last = units.findLastIndex((unit, index) => index < recent && !unit.stays)
  const unit: Unit = { messages: [summary], tokens: tokensOf(summary), stays: false, asks: false, opens: false }
  const before = units.slice(0, recent).flatMap((each, index) => (index === last ? [unit] : each.stays ? [each] : []))
  return { units: [...before, ...units.slice(recent)], recent: before.length }
}

/** Of the room that what else has to stay leaves, what the beginning keeps at least. */
const OPENING_SHARE = 0.25

/**
 * Without the middle of what the conversation began with, where it could not be sent even if all that may be given up were. Nothing happens
 * where that does not help either.
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

/** Tokens of what is left when all that may be given up is. */
function leastOf(units: readonly Unit[], tokensOf: TokensOf): number {
  const worst = new Set(uncited(units))
  const kept = units.filter((unit, at) => !worst.has(unit) && (unit.stays || at === units.length - 1))
  return total(kept.map((unit) => outlined(unit, tokensOf)))
}

/**
 * Gives up what is not needed, the least needed first, until the rest is within the limit; where that cannot be reached, only what cannot be
 * sent. What stays, stays.
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

/** Passages that no answer has cited so far, the worst first. */
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
  // A pinned output is kept to the letter.
  if (unit.messages.some((message) => message.pinned)) return unit
  const messages = unit.messages.map((message) => shortened(message, chars))
  return messages.every((message, index) => message === unit.messages[index]) ? unit : withMessages(unit, messages, tokensOf)
}

function unitAt(units: readonly Unit[], index: number): Unit {
  const unit = units[index]
  if (unit === undefined) throw new RangeError(`There is no unit ${index} of ${units.length}.`)
  return unit
}
