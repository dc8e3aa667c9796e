/**
 * Detects servers that silently cut the beginning of a long request. Only their reported input tokens show it. Since some servers count
 * only tokens that were not cached, a low count alone proves nothing.
 */

import { CriaError } from '../core/error.ts'
import type { EventBody } from '../core/event.ts'
import type { LanguageModel, ModelRequest } from '../core/model.ts'
import type { Usage } from '../core/usage.ts'
import type { ModelContext } from '../model/answer.ts'
import { estimateRequestTokens, leastTokens, loadTokenCounter } from '../prepare/tokens.ts'

/** Tokenizers do not differ by this factor on longer texts: fewer reported tokens indicate a cut. */
const READ_SHARE = 0.5
/** Minimum tokens of a request to check: in shorter ones templates distort the count. */
const LEAST_SENT = 2000
/** Share of the window above which a request may have been cut. */
const NEAR = 0.8

interface SilentCut {
  /** Tokens of the text that was sent, as estimated here. */
  readonly sent: number
  /** Input tokens as reported by the provider. */
  readonly read: number
  /** `true`: the provider is known to cut, or the request was larger than the window. */
  readonly isCertain: boolean
}

/** @param window context window of the model in tokens; `null`: unknown. */
export async function silentCut(
  request: ModelRequest,
  { facts }: LanguageModel,
  { inputTokens: read, cacheReadTokens, exactness }: Usage,
  window: number | null,
): Promise<SilentCut | undefined> {
  if (read === null || exactness !== 'exact' || (cacheReadTokens ?? 0) > 0) return undefined
  if (read >= READ_SHARE * estimateRequestTokens(request)) return undefined
  const isKnownFor = facts.cutsSilently === true
  // A request far below the limit is not cut.
  if (window !== null && !isKnownFor && estimateRequestTokens(request) < NEAR * window) return undefined
  const sent = leastTokens(request.messages, await loadTokenCounter())
  if (sent < LEAST_SENT || read >= READ_SHARE * sent) return undefined
  return { sent, read, isCertain: isKnownFor || (window !== null && sent >= NEAR * window) }
}

/** For the model station: returns an overflow error for a certain cut. */
export function checkRead(windowOf: (model: LanguageModel) => number | null): NonNullable<ModelContext['checkRead']> {
  return async (request, model, usage) => {
    const cut = await silentCut(request, model, usage, windowOf(model))
    return cut?.isCertain === true ? cutError(cut, model.ref) : undefined
  }
}

function cutError({ sent, read }: SilentCut, model: string): CriaError {
  return new CriaError('context_length', `${model} has read ${read} of about ${sent} tokens: it has cut the request silently.`, {
    hint: 'Give it a larger window (OLLAMA_CONTEXT_LENGTH of the Ollama server), and say so with "modelFacts" in config.json.',
    details: { inputTokens: read },
  })
}

/** Code of the notice, which a turn yields at most once. */
export const CUT_NOTICE = 'input_cut'

export function cutNotice({ sent, read }: SilentCut, model: string): EventBody {
  return {
    type: 'notice',
    code: CUT_NOTICE,
    message:
      `${model} reports ${read} input tokens of about ${sent} that were sent: it may have left out the beginning. ` +
      'Configure the size of its window ("modelFacts" in config.json, or `context.compaction.window`), so that older messages are compacted in time.',
    details: { sent, read },
  }
}
