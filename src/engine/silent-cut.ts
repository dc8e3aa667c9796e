/**
 * Detects servers that cut the beginning of a long request and answer as if nothing had happened. Only their count of tokens shows it; and since
 * some servers count only tokens that were not in their cache, a low count alone proves nothing.
 */

import { CriaError } from '../core/error.ts'
import type { EventBody } from '../core/event.ts'
import type { LanguageModel, ModelRequest } from '../core/model.ts'
import type { Usage } from '../core/usage.ts'
import type { ModelContext } from '../model/answer.ts'
import { estimateRequestTokens, leastTokens, loadTokenCounter } from '../prepare/tokens.ts'

export interface SilentCut {
  /** Tokens of the text that was sent, by our count. */
  readonly sent: number
  /** Tokens that the provider says it has read. */
  readonly read: number
  /** The provider is known to do so, or the window could not hold what was sent. */
  readonly isCertain: boolean
}

/** No two tokenizers differ by that much over a text of some length. */
const READ_SHARE = 0.5
/** Shorter requests are not cut, and templates would have too much of a say. */
const LEAST_SENT = 2000
/** Of the window: what is above may have been too much. */
const NEAR = 0.8

/** @param window of the model that was asked; `null` when nobody knows. */
export async function silentCut(
  request: ModelRequest,
  { facts }: LanguageModel,
  { inputTokens: read, cacheReadTokens, exactness }: Usage,
  window: number | null,
): Promise<SilentCut | undefined> {
  if (read === null || exactness !== 'exact' || (cacheReadTokens ?? 0) > 0) return undefined
  if (read >= READ_SHARE * estimateRequestTokens(request)) return undefined
  const isKnownFor = facts.cutsSilently === true
  // Far from its limit nobody cuts anything.
  if (window !== null && !isKnownFor && estimateRequestTokens(request) < NEAR * window) return undefined
  const sent = leastTokens(request.messages, await loadTokenCounter())
  if (sent < LEAST_SENT || read >= READ_SHARE * sent) return undefined
  return { sent, read, isCertain: isKnownFor || (window !== null && sent >= NEAR * window) }
}

/** For the model station: a cut that is certain is an overflow. */
export function checkRead(windowOf: (model: LanguageModel) => number | null): NonNullable<ModelContext['checkRead']> {
  return async (request, model, usage) => {
    const cut = await silentCut(request, model, usage, windowOf(model))
    return cut?.isCertain === true ? cutError(cut, model.ref) : undefined
  }
}

function cutError({ sent, read }: SilentCut, model: string): CriaError {
  return new CriaError(
    'context_length',
    `${model} has read ${read} of about ${sent} tokens: it has cut the request without a word.`,
    {
      hint: 'Give it a larger window (OLLAMA_CONTEXT_LENGTH of the Ollama server), and say so with "modelFacts" in config.json.',
      details: { inputTokens: read },
    },
  )
}

/** Its code: a turn has this notice once. */
export const CUT_NOTICE = 'input_cut'

export function cutNotice({ sent, read }: SilentCut, model: string): EventBody {
  return {
    type: 'notice',
    code: CUT_NOTICE,
    message:
      `${model} says that it has read ${read} tokens, of about ${sent} that were sent: it may have left out the beginning. ` +
      'Say how large its window is ("modelFacts" in config.json, or `context.compaction.window`), so that room is made in time.',
    details: { sent, read },
  }
}
