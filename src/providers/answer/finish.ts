/** Maps the words in which providers say how an answer ended to our finish reasons. */

import type { FinishReason } from '../../core/model.ts'

/** The words of all APIs, in lower case: gateways carry them from one into another. */
const WORDS: Readonly<Partial<Record<FinishReason, string>>> = {
  stop: 'stop end_turn stop_sequence pause_turn completed',
  'tool-calls': 'tool_calls tool-calls tool_use function_call',
  // When the window is full, the answer was cut.
  length: 'length max_tokens max_output_tokens model_context_window_exceeded',
  // From `safety` on they are Google's.
  'content-filter': `content_filter content-filter refusal safety recitation blocklist prohibited_content spii image_safety model_armor
    language image_prohibited_content image_recitation`,
  // OpenRouter; Google, where the model wrote a call that cannot be read, or one that was not asked for; Responses that never came to an end.
  error: `error malformed_function_call unexpected_tool_call too_many_tool_calls malformed_response missing_thought_signature
    failed cancelled in_progress queued`,
}
const REASONS = new Map(
  Object.entries(WORDS).flatMap(([reason, words]) => words.split(/\s+/).map((word) => [word, reason as FinishReason] as const)),
)

/**
 * @param calls number of tool calls in the answer: some APIs say nothing else about them.
 * @param unified what an AI SDK model makes of the word; its provider's own word says more than `stop`, `other` and `error`.
 */
export function finishReasonOf(rawReason: string | undefined, calls: number, unified?: FinishReason): FinishReason {
  const reason = REASONS.get(rawReason?.toLowerCase() ?? '')
  if (unified !== undefined) return ['stop', 'other', 'error'].includes(unified) ? (reason ?? unified) : unified
  // Gemini and Responses end in the same words with and without calls.
  return calls > 0 && (rawReason === 'STOP' || rawReason === 'completed') ? 'tool-calls' : (reason ?? 'other')
}
