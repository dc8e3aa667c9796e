/** Groups messages that stay or go together: a call with its results, or one message. */

import type { MessageId } from '../../core/id.ts'
import type { Message } from '../../core/message.ts'

export interface Unit {
  readonly messages: readonly Message[]
  readonly tokens: number
  /** It is never given up. */
  readonly stays: boolean
  /** It begins a turn that is over: what a user said. */
  readonly asks: boolean
  /** What the conversation began with, in a turn that is over: it stays, but for its middle when nothing else is left. */
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
