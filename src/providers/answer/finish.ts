/** Maps the finish reasons of providers to ours. */

import type { FinishReason } from '../../core/model.ts'

/** The finish reasons of all APIs, in lower case; gateways pass those of one API through another. */
const WORDS: Readonly<Partial<Record<FinishReason, string>>> = {
  stop: 'stop end_turn stop_sequence pause_turn completed',
  'tool-calls': 'tool_calls tool-calls tool_use function_call',
  // A full context window cuts the answer.
  length: 'length max_tokens max_output_tokens model_context_window_exceeded',
  // From `safety` on they are Google's.
  'content-filter': `content_filter content-filter refusal safety recitation blocklist prohibited_content spii image_safety model_armor
    language image_prohibited_content image_recitation`,
  // OpenRouter; Google, for a tool call that is malformed or was not offered; Responses that did not end.
  error: `error malformed_function_call unexpected_tool_call too_many_tool_calls malformed_response missing_thought_signature
    failed cancelled in_progress queued`,
}
const REASONS = new Map(
  Object.entries(WORDS).flatMap(([reason, words]) => words.split(/\s+/).map((word) => [word, reason as FinishReason] as const)),
)

/**
 * @param calls number of tool calls in the answer: some APIs have no finish reason for them.
 * @param unified the reason of an AI SDK model; `rawReason` replaces it where it is only `stop`, `other` or `error`.
 */
export function finishReasonOf(rawReason: string | undefined, calls: number, unified?: FinishReason): FinishReason {
  const reason = REASONS.get(rawReason?.toLowerCase() ?? '')
  if (unified !== undefined) return ['stop', 'other', 'error'].includes(unified) ? (reason ?? unified) : unified
  // Gemini and Responses send the same reason with and without tool calls.
  return calls > 0 && (rawReason === 'STOP' || rawReason === 'completed') ? 'tool-calls' : (reason ?? 'other')
}
