/** How an answer ended: the package's word for it, corrected by what was seen on the wire. */

import type { FinishReason } from '../../core/model.ts'
import type { WireNotes } from '../wire/dialect.ts'
import { asObject, asString } from '../wire/dialect.ts'

export interface Ending {
  /** `interrupted`: the answer broke off. `error`: the provider gave it up. */
  readonly reason: FinishReason | 'interrupted'
  /** The provider's own word. */
  readonly rawReason: string | undefined
}

const REASONS: ReadonlySet<string> = new Set<FinishReason | 'interrupted'>([
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'error',
  'other',
  'interrupted',
])

/** What the packages call something else, or `other`: words of the providers, some of which gateways carry from one API into another. */
const WORDS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  // The window is full, so the answer was cut.
  model_context_window_exceeded: 'length',
  content_filter: 'content-filter',
  refusal: 'content-filter',
  safety: 'content-filter',
  recitation: 'content-filter',
  prohibited_content: 'content-filter',
  model_armor: 'content-filter',
  language: 'content-filter',
  image_prohibited_content: 'content-filter',
  image_recitation: 'content-filter',
  // Google: the model wrote a call that could not be read, or one that was not asked for.
  unexpected_tool_call: 'error',
  too_many_tool_calls: 'error',
  malformed_response: 'error',
  missing_thought_signature: 'error',
  // OpenRouter
  error: 'error',
  // Responses, of which a whole one may be told before it is.
  failed: 'error',
  cancelled: 'error',
  in_progress: 'error',
  queued: 'error',
  incomplete: 'other',
}

/**
 * @param finish of an AI SDK model of version 3 or 4 (an object) or 2 (a word); `undefined` when its stream ended without one.
 * @param calls how many tool calls the answer holds.
 * @param whole the answer came in one piece.
 */
export function endingOf(finish: unknown, notes: WireNotes | undefined, calls: number, whole: boolean): Ending {
  const object = asObject(finish)
  const raw = notes?.rawReason ?? asString(object?.['raw'])
  const rawReason = raw === '' ? undefined : raw
  const unified = asString(object?.['unified']) ?? asString(finish) ?? 'interrupted'
  const reason = REASONS.has(unified) ? (unified as Ending['reason']) : 'other'
  // A proper end without a reason: the API's end mark came, or the whole of the answer.
  if (rawReason === undefined && reason !== 'stop' && reason !== 'interrupted' && (whole || notes?.ended === true)) {
    return { reason: calls > 0 ? 'tool-calls' : 'other', rawReason }
  }
  if (rawReason === undefined || (reason !== 'other' && reason !== 'stop' && reason !== 'error')) return { reason, rawReason }
  // The package counts an event that it could not read as the failure of the whole; the provider knows better.
  if (rawReason === 'completed') return { reason: calls > 0 ? 'tool-calls' : 'stop', rawReason }
  return { reason: WORDS[rawReason.toLowerCase()] ?? reason, rawReason }
}
