/** Maps the words in which providers say how an answer ended to our finish reasons. */

import type { FinishReason } from '../../core/model.ts'

/** The words of all APIs, in lower case: gateways carry them from one into another. */
const WORDS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  completed: 'stop',
  tool_calls: 'tool-calls',
  'tool-calls': 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  // The window is full, so the answer was cut.
  model_context_window_exceeded: 'length',
  content_filter: 'content-filter',
  'content-filter': 'content-filter',
  refusal: 'content-filter',
  // Google
  safety: 'content-filter',
  recitation: 'content-filter',
  blocklist: 'content-filter',
  prohibited_content: 'content-filter',
  spii: 'content-filter',
  image_safety: 'content-filter',
  model_armor: 'content-filter',
  language: 'content-filter',
  image_prohibited_content: 'content-filter',
  image_recitation: 'content-filter',
  // Google: the model wrote a call that could not be read, or one that was not asked for.
  malformed_function_call: 'error',
  unexpected_tool_call: 'error',
  too_many_tool_calls: 'error',
  malformed_response: 'error',
  missing_thought_signature: 'error',
  // OpenRouter
  error: 'error',
  // Responses: a response that is not finished, or never will be.
  failed: 'error',
  cancelled: 'error',
  in_progress: 'error',
  queued: 'error',
}

/**
 * @param calls how many tool calls the answer holds: some APIs say nothing else about them.
 * @param unified what an AI SDK model makes of the word; its provider's own word says more than `stop`, `other` and `error`.
 */
export function finishReasonOf(rawReason: string | undefined, calls: number, unified?: FinishReason): FinishReason {
  const reason = WORDS[rawReason?.toLowerCase() ?? '']
  if (unified !== undefined) return VAGUE.has(unified) ? (reason ?? unified) : unified
  const isSilent = rawReason !== undefined && SAYS_NOTHING_OF_CALLS.has(rawReason)
  return calls > 0 && isSilent ? 'tool-calls' : (reason ?? 'other')
}

const VAGUE: ReadonlySet<FinishReason> = new Set<FinishReason>(['stop', 'other', 'error'])

/** Gemini and Responses end in the same words with and without calls. */
const SAYS_NOTHING_OF_CALLS = new Set(['STOP', 'completed'])
