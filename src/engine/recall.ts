/** Collects the messages, calls and files of the session before this turn. */

import type { Station } from '../core/context.ts'
import { toCriaError } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import { soundHistory } from '../prepare/conversation.ts'
import { unsettledCalls } from '../tools/state.ts'
import { isPromise, orAborted } from '../util/promise.ts'
import { namedApart } from './turn-request.ts'
import type { Turn } from './turn.ts'
import type { EarlierRead } from '../core/injection.ts'
import type { Tool } from '../core/tool.ts'
import { footprintOf } from '../tools/schedule.ts'
import { findTool, validated } from '../tools/prepare-call.ts'

/**
 * What was said elsewhere, and handed over with the question, is where the session goes on from: the journal keeps it like any other.
 *
 * @throws CriaError `journal_failed` when it cannot be read.
 */
export async function* recall(turn: Turn): Station<void> {
  const { options, ctx } = turn
  const said = await earlierMessages(turn)
  const given = turn.input.history
  if (said !== undefined) {
    const [history, messages] = [[...said, ...namedApart(given, said, ctx.createId)], turn.input.messages]
    turn.input = { ...turn.input, history, messages: namedApart(messages, history, ctx.createId) }
  }
  turn.tools.unsettled = unsettledCalls([...turn.input.history, ...(turn.input.since ?? [])])
  if (given.length > 0) {
    // First as messages of this turn: when they are compacted later, they can still be read.
    yield { type: 'note', entry: { type: 'messages', step: 0, messages: given } }
    yield { type: 'note', entry: { type: 'compaction', step: 0, messages: soundHistory(turn.input.history) } }
  }
  // What stands beside the conversation is looked up by `prepare`, which is told what tools have read.
  const sources = options.context?.sources ?? []
  if (sources.length === 0) return
  const reads = await earlierReads(turn.input.history, options.tools ?? [])
  turn.input = { ...turn.input, context: { sources, reads } }
}

/** `undefined` when the turn continues no session. */
async function earlierMessages({ options, recorder, ctx }: Turn): Promise<readonly Message[] | undefined> {
  if (recorder === undefined || options.sessionId === undefined) return undefined
  try {
    const history = recorder.read.history(options.sessionId)
    return isPromise(history) ? await orAborted(history, ctx.signal) : history
  } catch (thrown) {
    if (ctx.signal.aborted) throw ctx.signal.reason
    throw toCriaError(thrown, 'journal_failed')
  }
}

/** Calls that are looked at: what lies further back has had its time, and a turn must not cost what the session is long. */
const MOST_CALLS = 100

/**
 * The names that tools give in `resources`, oldest first. Nothing is remembered for it: the calls stand in the history, so a session that is
 * continued by another process knows them too.
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
      if (result === undefined || tool === undefined) continue
      for (const name of await namesOf(tool, call)) reads.push({ name, result })
    }
  }
  return reads.toReversed()
}

async function namesOf(tool: Tool, call: Parameters<typeof validated>[0]): Promise<readonly string[]> {
  if (tool.resources === undefined) return []
  const fit = await validated(call, tool)
  if ('problem' in fit) return []
  const { reads } = footprintOf(tool, fit.input)
  return reads === 'everything' ? [] : reads
}
