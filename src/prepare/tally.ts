/**
 * Tracks the size of a growing conversation. Far from the limit it is estimated from bytes, near the limit tokens are counted, and counts
 * reported by a provider are preferred.
 */

import type { RequestMessage } from '../core/model.ts'
import type { Usage } from '../core/usage.ts'
import type { CountTokens } from './tokens.ts'
import { countMessageTokens, estimateMessageTokens, rememberEstimate } from './tokens.ts'

/** Tokens of the first `messages` messages. */
interface Sum {
  readonly messages: number
  readonly tokens: number
}

/** A provider's count of the request that held the first `messages` messages. */
interface Reported extends Sum {
  /** The model that counted. */
  readonly model: string
  /** These messages by our estimate, and by our count if available. */
  readonly estimate: number
  readonly counted: number | undefined
}

export interface Tally {
  readonly estimated: Sum
  readonly counted: Sum
  readonly reported: Reported | undefined
  readonly correction: Correction
}

/** Converts our token count to that of a provider. */
export interface Correction {
  /** Tokens that the provider adds to every request: its template and instructions for tools. */
  readonly overhead: number
  /** Provider tokens per counted token. */
  readonly scale: number
}

const NONE: Sum = { messages: 0, tokens: 0 }
export const EMPTY_TALLY: Tally = { estimated: NONE, counted: NONE, reported: undefined, correction: { overhead: 0, scale: 1 } }

/** Minimum credible share of our estimate; a lower report counts something else, such as uncached tokens only. */
const LEAST_CREDIBLE = 0.5
/** Maximum overhead of known providers in tokens; a larger difference is attributed to the tokenizer. */
const MOST_OVERHEAD = 2000
/** Bounds of the ratio between tokenizers; a ratio beyond them has another cause. */
const SCALES = { least: 0.75, most: 1.5 } as const

/** Adds the estimate of new messages. */
export function withEstimates(tally: Tally, messages: readonly RequestMessage[]): Tally {
  const estimated = grown(tally.estimated, messages, messages.length, estimateMessageTokens)
  rememberEstimate(messages, estimated.tokens)
  return { ...tally, estimated }
}

/** Adds the count of new messages, and updates the correction to the provider's count. */
export function withCounts(tally: Tally, messages: readonly RequestMessage[], count: CountTokens, fixed: number): Tally {
  const counting = (message: RequestMessage): number => countMessageTokens(message, count)
  const { reported } = tally
  if (reported === undefined || reported.counted !== undefined) {
    return { ...tally, counted: grown(tally.counted, messages, messages.length, counting) }
  }
  const sent = grown(tally.counted, messages, reported.messages, counting)
  return {
    ...tally,
    reported: { ...reported, counted: sent.tokens },
    correction: correctionOf(reported.tokens, sent.tokens + fixed),
    counted: grown(sent, messages, messages.length, counting),
  }
}

/** Adds the provider's count of a request with these messages; ignores missing or implausible numbers. */
export function withReported(tally: Tally, usage: Usage, model: string, fixed: number): Tally {
  const { estimated, counted } = tally
  const tokens = usage.inputTokens
  if (tokens === null || usage.exactness !== 'exact') return tally
  if (tokens < LEAST_CREDIBLE * (estimated.tokens + fixed)) return { ...tally, reported: undefined }
  const isCounted = counted.messages === estimated.messages
  return {
    ...tally,
    reported: { ...estimated, tokens, model, estimate: estimated.tokens, counted: isCounted ? counted.tokens : undefined },
    correction: isCounted ? correctionOf(tokens, counted.tokens + fixed) : tally.correction,
  }
}

function correctionOf(reported: number, counted: number): Correction {
  const overhead = Math.min(MOST_OVERHEAD, Math.max(0, reported - counted))
  return { overhead, scale: Math.max(LEAST_CREDIBLE, (reported - overhead) / Math.max(1, counted)) }
}

/** A size: the part counted by a provider, and the estimated rest. */
export interface Size {
  readonly known: number
  readonly guessed: number
}

/** Returns the estimated size; `fixed` is the tokens beside the messages in each request. */
export function estimatedSize({ estimated, reported }: Tally, model: string, fixed: number): Size {
  if (reported?.model === model) return { known: reported.tokens, guessed: estimated.tokens - reported.estimate }
  return { known: 0, guessed: fixed + estimated.tokens }
}

/** Returns the counted size, corrected by the provider's count. */
export function countedSize({ counted, reported, correction }: Tally, model: string, fixed: number): number {
  if (reported?.model === model && reported.counted !== undefined) {
    const tail = (counted.tokens - reported.counted) * Math.min(SCALES.most, Math.max(SCALES.least, correction.scale))
    return Math.ceil(reported.tokens + tail)
  }
  return Math.ceil(correction.overhead + (fixed + counted.tokens) * correction.scale)
}

/** Returns a tally for other messages of the conversation, which keeps only the correction. */
export function startedAnew({ correction }: Tally): Tally {
  return { ...EMPTY_TALLY, correction }
}

function grown(sum: Sum, messages: readonly RequestMessage[], to: number, tokensOf: (message: RequestMessage) => number): Sum {
  let { tokens } = sum
  for (let at = sum.messages; at < to; at++) {
    const message = messages[at]
    if (message !== undefined) tokens += tokensOf(message)
  }
  return { messages: Math.max(sum.messages, to), tokens }
}
