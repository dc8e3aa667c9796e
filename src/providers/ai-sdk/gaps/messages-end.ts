/**
 * Messages: what the answer cost and how it ended stand in `message_delta`; a stream that ends after it, without `message_stop`, is
 * complete, but the package says it was interrupted. Nor does it take a head, or a price, that is not of the types it knows: of the one it makes an
 * error that says nothing, of the other the end of an answer that was whole.
 */

import type { JsonObject } from '../../../core/json.ts'
import { asObject, asString, noteUsage } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const messagesEnd: CreateGap = (notes) => {
  const note = (message: JsonObject | undefined): void => {
    notes.rawReason = asString(message?.['stop_reason']) ?? notes.rawReason
    notes.model = asString(message?.['model']) ?? notes.model
    noteUsage(notes, message?.['usage'])
  }
  return {
    markers: ['message_start', 'message_delta', 'message_stop'],
    event(event) {
      switch (event['type']) {
        case 'message_start':
          // How much of the answer is written by then is no use to anybody, and less than the whole.
          note(withoutOutput(asObject(event['message'])))
          return isSoundHead(asObject(event['message'])) ? 'keep' : { replace: { ...event, message: NO_HEAD } }
        case 'message_delta':
          note(asObject(event['delta']))
          noteUsage(notes, event['usage'])
          notes.complete = notes.rawReason !== undefined
          return isSoundUsage(event['usage'], 'output_tokens') ? 'keep' : { replace: { ...event, usage: { output_tokens: 0 } } }
        case 'message_stop':
          return 'last'
        default:
          return 'keep'
      }
    },
    body(body) {
      note(body)
      return body
    },
    missingEnd: () => (notes.rawReason === undefined ? undefined : { type: 'message_stop' }),
  }
}

const NO_HEAD: JsonObject = { role: 'assistant', content: [], usage: { input_tokens: 0 } }

function withoutOutput(message: JsonObject | undefined): JsonObject | undefined {
  const { output_tokens: _, ...usage } = asObject(message?.['usage']) ?? {}
  return message === undefined ? undefined : { ...message, usage }
}

function isSoundHead(message: JsonObject | undefined): boolean {
  const texts = ['id', 'model', 'role', 'stop_reason'].map((name) => message?.[name] ?? '')
  return isSoundUsage(message?.['usage'], 'input_tokens') && texts.every((text) => typeof text === 'string')
}

function isSoundUsage(usage: unknown, needed: 'input_tokens' | 'output_tokens'): boolean {
  const counts = asObject(usage)
  if (typeof counts?.[needed] !== 'number') return false
  const optional = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']
  return optional.every((name) => typeof (counts[name] ?? 0) === 'number')
}
