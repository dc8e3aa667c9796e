/** Puts events beside the answer into words. Pure. */

import type { ErrorInfo } from '../core/error.ts'
import type { QueryEvent, QueryResult } from '../core/event.ts'
import { formatMs } from './format.ts'

/** A sentence about an event that is worth one; none for the others. */
export function eventNote(event: QueryEvent): string | undefined {
  switch (event.type) {
    case 'reset':
      return 'what was shown so far is void; the answer begins again.'
    case 'retry':
      return `${describeError(event.error)} Trying again in ${formatMs(event.delay)}.`
    case 'model_switch':
      return `going on with ${event.to} instead of ${event.from} (${event.reason.replaceAll('_', ' ')}).`
    case 'steering':
      return event.delivery === 'steer' ? `told the model: ${event.message.content}` : undefined
    case 'prepare_step':
      return event.model === undefined ? undefined : `this step is done by ${event.model}.`
    case 'notice':
      return event.message
    case 'compaction':
      return `the conversation was shortened from ${event.tokensBefore} to ${event.tokensAfter} tokens.`
    case 'cancelled':
      return `stopped; what had arrived is kept: cria logs show ${event.turnId}`
    // Shown by the views themselves, or not worth a sentence.
    case 'start':
    case 'text_delta':
    case 'thinking':
    case 'tool_input_delta':
    case 'message':
    case 'usage':
    case 'retrieval':
    case 'tool_request':
    case 'permission_request':
    case 'permission_decision':
    case 'tool_progress':
    case 'tool_result':
    case 'hook':
    case 'feedback':
    case 'error':
    case 'complete':
      return undefined
    default:
      return unknownEvent(event)
  }
}

/** An event of a newer version, from its journal. That every type of this version has its case is checked by the compiler. */
function unknownEvent(_: never): undefined {
  return undefined
}

/** Why the answer is not all that it could be. */
export function finishNote({ finishReason }: QueryResult): string | undefined {
  switch (finishReason) {
    case 'length':
      return 'the answer was cut: the model reached its limit of output.'
    case 'content-filter':
      return 'the provider ended the answer: its content filter stepped in.'
    case 'max-steps':
      return 'the turn ended at its limit of steps.'
    case 'stop-when':
      return 'the turn was ended by its stop condition.'
    default:
      return undefined
  }
}

function describeError({ message }: ErrorInfo): string {
  return /[.!?]$/.test(message) ? message : `${message}.`
}
