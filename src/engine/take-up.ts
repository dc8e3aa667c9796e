/** Continues a turn that ended as `waiting`: its messages become part of this turn, which runs the calls that waited. */

import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import { currentModel } from '../model/chain.ts'
import type { Answer } from '../model/answer.ts'
import { soundHistory } from '../prepare/conversation.ts'
import type { Decided } from '../tools/call.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import type { Turn } from './turn.ts'

export interface TakenUp {
  /** The answer that made the calls, with those alone that have not run. */
  readonly answer: Answer
  readonly decided: ReadonlyMap<string, Decided>
}

/**
 * Writes the step into this turn before any of its calls runs: when this process dies in the middle, the session knows what may have had
 * effects, as it does of every lost turn.
 *
 * @throws CriaError `not_found` when the session does not end in the calls of that turn; `configuration` for a decision about none of them.
 */
export async function* takeUp(turn: Turn): Station<TakenUp | undefined> {
  const { decide } = turn.options
  const { recorder, input } = turn
  if (decide === undefined || recorder === undefined) return undefined
  const events = await recorder.read.events(decide.turnId)
  const end = events.at(-1)
  const asked = end?.type === 'complete' ? (end.result.waiting ?? []) : []
  const waiting = new Set(
    events.flatMap((event) =>
      event.type === 'tool_result' && event.step === end?.step && event.result.waiting === true ? [event.result.id] : [],
    ),
  )
  const { history } = input
  const at = history.findLastIndex(({ toolCalls = [] }) => toolCalls.some(({ id }) => waiting.has(id)))
  const message = history[at]
  if (message === undefined) throw new CriaError('not_found', `The calls of turn ${decide.turnId} are not in its session.`)
  const { decisions } = decide
  const ids = asked.map(({ id }) => id)
  const stray = typeof decisions === 'object' ? Object.keys(decisions).find((id) => !ids.includes(id)) : undefined
  if (stray !== undefined) {
    throw new CriaError('configuration', `\`decide.decisions\` names ${JSON.stringify(stray)}, which is no call that waits.`, {
      hint: `These wait: ${ids.join(', ')}.`,
    })
  }

  // What was asked before the calls; results of calls that have run stay, those of calls that wait are still to come.
  const last = history.slice(0, at).findLastIndex(({ role }) => role === 'user') + 1
  const first = history.slice(0, last).findLastIndex(({ role }) => role !== 'user') + 1
  const done = history.slice(at + 1).filter((said) => !answersOneOf(said, waiting))
  turn.input = {
    ...input,
    history: history.slice(0, first),
    messages: history.slice(first, last),
    since: [...history.slice(last, at + 1), ...done],
    written: new Set(history.slice(first).map(({ id }) => id)),
  }
  turn.tools.untrusted = true
  yield { type: 'note', entry: { type: 'compaction', step: 0, messages: soundHistory(turn.input.history) } }
  yield { type: 'note', entry: { type: 'messages', step: 0, messages: [...turn.input.messages, ...(turn.input.since ?? [])] } }

  const decided = new Map<string, Decided>()
  for (const { id, input: shown } of asked) {
    const answer = typeof decisions === 'boolean' ? decisions : Object.hasOwn(decisions, id) ? decisions[id] : undefined
    if (answer !== undefined) decided.set(id, { input: shown, answer })
  }
  const calls = (message.toolCalls ?? []).filter(({ id }) => waiting.has(id))
  return { answer: answerOf({ ...message, toolCalls: calls }, turn), decided }
}

/** The results of the calls that waited join the conversation that the model is asked with, in the order of the calls. */
export function addTakenUp(turn: Turn, results: readonly Message[]): void {
  const { since = [] } = turn.input
  const at = since.findLastIndex(({ role }) => role === 'assistant')
  const calls = since[at]?.toolCalls ?? []
  const all = [...since.slice(at + 1), ...results]
  const ordered = calls.flatMap(({ id }) => all.find((said) => answersOneOf(said, new Set([id]))) ?? [])
  const written = new Set([...(turn.input.written ?? []), ...results.map(({ id }) => id)])
  turn.input = { ...turn.input, since: [...since.slice(0, at + 1), ...ordered], written }
}

function answersOneOf({ parts }: Message, ids: ReadonlySet<string>): boolean {
  return parts.some((part) => part.type === 'tool-result' && ids.has(part.id))
}

function answerOf(message: Message, { chain }: Turn): Answer {
  return {
    type: 'answer',
    message,
    model: currentModel(chain),
    usage: ZERO_USAGE,
    finishReason: 'tool-calls',
    abstained: false,
    paused: false,
    cacheHit: false,
  }
}
