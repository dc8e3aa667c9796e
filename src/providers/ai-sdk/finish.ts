/** How an answer ended: the package's word for it, corrected by what was seen on the wire. */

import type { FinishReason } from '../../core/model.ts'
import { asObject, asString } from '../wire/dialect.ts'

export interface Ending {
  readonly reason: FinishReason | 'interrupted'
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

/** What the packages call something else, or `other`. The words are the providers' own. */
const WORDS: Readonly<Record<string, FinishReason>> = {
  // Anthropic: the window is full, so the answer was cut.
  model_context_window_exceeded: 'length',
  // Google
  MODEL_ARMOR: 'content-filter',
  LANGUAGE: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MALFORMED_RESPONSE: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
}

/** @param finish of an AI SDK model of version 3 or 4 (an object) or 2 (a word). */
export function endingOf(finish: unknown, rawOnWire: string | undefined): Ending {
  const object = asObject(finish)
  const unified = asString(object?.['unified']) ?? asString(finish) ?? 'other'
  const raw = rawOnWire ?? asString(object?.['raw'])
  const known = REASONS.has(unified) ? (unified as Ending['reason']) : 'other'
  const reason = raw !== undefined && (known === 'other' || known === 'stop') ? (WORDS[raw] ?? known) : known
  return { reason, rawReason: raw === '' ? undefined : raw }
}
