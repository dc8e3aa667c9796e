/** Writes the notices about a repaired history. */

import type { EventBody } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import type { Defect, Repair } from './repair.ts'

type Notice = Extract<EventBody, { type: 'notice' }>

const WORDS: Readonly<Record<Defect, string>> = {
  missing_result: 'tool calls without a result were given one that says so',
  orphan_result: 'results without a call were dropped',
  repeated_result: 'second results of one call were dropped',
  moved_result: 'results were put behind their calls',
  misnamed_result: 'results were given the name of the tool that was called',
  repeated_call_id: 'ids of calls that were empty or taken were changed',
  repeated_thinking: 'thinking that came twice was dropped',
  misplaced_part: 'parts that their role cannot hold were dropped',
  empty_part: 'empty texts were dropped',
  empty_message: 'messages without content were dropped',
}

/** As many as help to find the fault. */
const MAX_SHOWN = 20

/** One notice for all repairs; none where there were none. */
export function* repairNotice(repairs: readonly Repair[]): Generator<Notice, void, undefined> {
  if (repairs.length === 0) return
  const counts = [...Map.groupBy(repairs, ({ defect }) => defect)].map(([defect, all]) => `${WORDS[defect]} (${all.length})`)
  yield {
    type: 'notice',
    code: 'history_repaired',
    message: `The conversation so far was not one that providers accept, and is sent repaired: ${counts.join('; ')}.`,
    details: {
      count: repairs.length,
      repairs: repairs
        .slice(0, MAX_SHOWN)
        .map(({ defect, message, id }) => ({ defect, message, ...(id === undefined ? {} : { id }) })),
    },
  }
}

/** One notice when the session stopped while tools were at work; it is due as long as nothing has been answered since. */
export function* interruptionNotice(history: readonly Message[]): Generator<Notice, void, undefined> {
  const answered = history.findLastIndex(({ role }) => role !== 'tool')
  const open = history
    .slice(answered + 1)
    .flatMap(({ parts }) => parts)
    .filter((part) => part.type === 'tool-result' && part.unknownEffects !== undefined)
    .flatMap((part) => (part.type === 'tool-result' ? [{ id: part.id, name: part.name }] : []))
  if (open.length === 0) return
  const names = [...new Set(open.map(({ name }) => JSON.stringify(name)))].join(', ')
  yield {
    type: 'notice',
    code: 'effects_unknown',
    message:
      `This session was interrupted while a tool was at work: ${names}. ` +
      'Whether it had its effects is unknown. It is not run again by itself; the model has been told.',
    details: { calls: open },
  }
}
