/** Loads what a turn continues: the history of its session, or the calls of a turn that ended as `waiting`. */

import type { Station } from '../core/context.ts'
import { CriaError, toCriaError } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import type { EarlierRead } from '../core/injection.ts'
import type { Message } from '../core/message.ts'
import type { PermissionRequest, Tool } from '../core/tool.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import { currentModel } from '../model/chain.ts'
import type { Answer } from '../model/answer.ts'
import { soundHistory } from '../prepare/conversation.ts'
import type { TurnInput } from '../prepare/conversation.ts'
import type { Decided } from '../tools/call.ts'
import { findTool, validated } from '../tools/prepare-call.ts'
import { footprintOf } from '../tools/schedule.ts'
import { isPromise, orAborted } from '../util/promise.ts'
import type { EngineOptions } from './options.ts'
import { withUniqueIds } from './turn.ts'
import type { Turn } from './turn.ts'

/**
 * Returns the input of the turn with the history of its session. Messages from elsewhere that were passed with the question become part
 * of the session and are recorded like any others.
 *
 * @throws CriaError `journal_failed` if the history cannot be read.
 */
export async function* recall({ options, recorder, input: given, ctx }: Turn): Station<TurnInput> {
  let input = given
  if (recorder !== undefined && options.sessionId !== undefined) {
    const said = await historyOf(options.sessionId, recorder, ctx.signal)
    const history = [...said, ...withUniqueIds(given.history, said, ctx.createId)]
    input = { ...given, history, messages: withUniqueIds(given.messages, history, ctx.createId) }
  }
  if (given.history.length > 0) {
    // Recorded first as messages of this turn, so that they stay readable after a compaction.
    yield { type: 'note', entry: { type: 'messages', step: 0, messages: given.history } }
    yield { type: 'note', entry: { type: 'compaction', step: 0, messages: soundHistory(input.history) } }
  }
  // `prepare` loads context sources, and needs the names of files that tools have read.
  const sources = options.context?.sources ?? []
  if (sources.length === 0) return input
  return { ...input, context: { sources, reads: await earlierReads(input.history, options.tools ?? []) } }
}

async function historyOf(
  sessionId: string,
  recorder: NonNullable<Turn['recorder']>,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  try {
    const history = recorder.read.history(sessionId)
    return isPromise(history) ? await orAborted(history, signal) : history
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    throw toCriaError(thrown, 'journal_failed')
  }
}

/** Maximum number of recent calls to inspect, so that the cost of a turn does not grow with the session. */
const MOST_CALLS = 100

/**
 * Returns the names that tools read according to `resources`, oldest first. They are derived from the calls in the history, so that they
 * are available in another process, too.
 */
async function earlierReads(history: readonly Message[], tools: readonly Tool[]): Promise<readonly EarlierRead[]> {
  const results = new Map<string, string>()
  const reads: EarlierRead[] = []
  let looked = 0
  for (let at = history.length - 1; at >= 0 && looked < MOST_CALLS; at--) {
    const message = history[at]
    for (const part of message?.parts ?? []) {
      if (part.type === 'tool-result' && !part.isError) results.set(part.id, part.content)
    }
    for (const call of message?.toolCalls?.toReversed() ?? []) {
      const result = results.get(call.id)
      const tool = findTool(call.name, tools)
      looked++
      if (result === undefined || tool?.resources === undefined) continue
      const fit = await validated(call, tool)
      const names = 'problem' in fit ? [] : footprintOf(tool, fit.input).reads
      if (names !== 'everything') for (const name of names) reads.push({ name, result })
    }
  }
  return reads.toReversed()
}

/** The state of a waiting turn, from which this turn continues. */
interface Resumed {
  readonly input: TurnInput
  /** The answer with the calls, reduced to those that have not run. */
  readonly answer: Answer
  readonly decided: ReadonlyMap<string, Decided>
}

/**
 * Continues a turn that ended as `waiting`. Its step is recorded in this turn before any call runs: if the process dies in between,
 * the journal shows which calls may have had effects, as for every lost turn.
 *
 * @throws CriaError `not_found` if the session does not end in the calls of that turn; `configuration` if a decision names another call.
 */
export async function* resumeWaiting({ options: { decide }, recorder, input, chain }: Turn): Station<Resumed | undefined> {
  if (decide === undefined || recorder === undefined) return undefined
  const events = await recorder.read.events(decide.turnId)
  const end = events.at(-1)
  const asked = end?.type === 'complete' ? (end.result.waiting ?? []) : []
  const waiting = waitingCalls(events, end?.step)
  const { history } = input
  const at = history.findLastIndex(({ toolCalls = [] }) => toolCalls.some(({ id }) => waiting.has(id)))
  const message = history[at]
  if (message === undefined) throw new CriaError('not_found', `The calls of turn ${decide.turnId} are not in its session.`)
  const decided = decisionsOn(asked, decide.decisions)

  // The question before the calls; results of calls that have run are kept, those of waiting calls follow.
  const last = history.slice(0, at).findLastIndex(({ role }) => role === 'user') + 1
  const first = history.slice(0, last).findLastIndex(({ role }) => role !== 'user') + 1
  const done = history.slice(at + 1).filter((said) => !answersOneOf(said, waiting))
  const earlier = history.slice(0, first)
  const messages = history.slice(first, last)
  const since = [...history.slice(last, at + 1), ...done]
  const written = new Set(history.slice(first).map(({ id }) => id))
  yield { type: 'note', entry: { type: 'compaction', step: 0, messages: soundHistory(earlier) } }
  yield { type: 'note', entry: { type: 'messages', step: 0, messages: [...messages, ...since] } }

  const toolCalls = (message.toolCalls ?? []).filter(({ id }) => waiting.has(id))
  const answer: Answer = {
    type: 'answer',
    message: { ...message, toolCalls },
    model: currentModel(chain),
    usage: ZERO_USAGE,
    finishReason: 'tool-calls',
    abstained: false,
    paused: false,
    cacheHit: false,
  }
  return { input: { ...input, history: earlier, messages, since, written }, answer, decided }
}

function waitingCalls(events: readonly QueryEvent[], step: number | undefined): ReadonlySet<string> {
  const results = events.flatMap((event) => (event.type === 'tool_result' && event.step === step ? [event.result] : []))
  return new Set(results.filter(({ waiting }) => waiting === true).map(({ id }) => id))
}

/** @throws CriaError `configuration` if a decision names another call. */
function decisionsOn(
  asked: readonly PermissionRequest[],
  decisions: NonNullable<EngineOptions['decide']>['decisions'],
): ReadonlyMap<string, Decided> {
  const ids = asked.map(({ id }) => id)
  const stray = typeof decisions === 'object' ? Object.keys(decisions).find((id) => !ids.includes(id)) : undefined
  if (stray !== undefined) {
    throw new CriaError('configuration', `\`decide.decisions\` names ${JSON.stringify(stray)}, which is not a waiting call.`, {
      hint: `Waiting calls: ${ids.join(', ')}.`,
    })
  }
  const decided = new Map<string, Decided>()
  for (const { id, input } of asked) {
    const answer = typeof decisions === 'boolean' ? decisions : Object.hasOwn(decisions, id) ? decisions[id] : undefined
    if (answer !== undefined) decided.set(id, { input, answer })
  }
  return decided
}

/** Returns the input with the results of the waiting calls, in the order of the calls. */
export function withResults(input: TurnInput, results: readonly Message[]): TurnInput {
  const { since = [] } = input
  const at = since.findLastIndex(({ role }) => role === 'assistant')
  const calls = since[at]?.toolCalls ?? []
  const all = [...since.slice(at + 1), ...results]
  const ordered = calls.flatMap(({ id }) => all.find((said) => answersOneOf(said, new Set([id]))) ?? [])
  const written = new Set([...(input.written ?? []), ...results.map(({ id }) => id)])
  return { ...input, since: [...since.slice(0, at + 1), ...ordered], written }
}

function answersOneOf({ parts }: Message, ids: ReadonlySet<string>): boolean {
  return parts.some((part) => part.type === 'tool-result' && ids.has(part.id))
}
