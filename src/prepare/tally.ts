/**
 * Keeps the size of a conversation while it grows. Far from the limit bytes are enough; near it messages are counted; and whatever a provider has
 * counted itself is taken as it tells it.
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
interface Told extends Sum {
  /** The model that counted. */
  readonly model: string
  /** These messages by our estimate, and by our count where there is one. */
  readonly estimate: number
  readonly counted: number | undefined
}

export interface Tally {
  readonly estimated: Sum
  readonly counted: Sum
  readonly told: Told | undefined
  readonly correction: Correction
}

/** How a provider's count follows from ours. */
export interface Correction {
  /** Tokens that it adds to every request: its template, its own instructions for tools. */
  readonly overhead: number
  /** Its tokens for one of ours. */
  readonly scale: number
}

const NONE: Sum = { messages: 0, tokens: 0 }
export const EMPTY_TALLY: Tally = { estimated: NONE, counted: NONE, told: undefined, correction: { overhead: 0, scale: 1 } }

/** A provider that tells less than this of our estimate tells something else: what was not in its cache, say. */
const LEAST_CREDIBLE = 0.5
/** No provider is known to add more than this; what is more is taken for a tokenizer that differs. */
const MOST_OVERHEAD = 2000
/** Between tokenizers there is no more than this; what lies beyond it was something else in the request. */
const SCALES = { least: 0.75, most: 1.5 } as const

/** With the estimate of messages that are new. */
export function withEstimates(tally: Tally, messages: readonly RequestMessage[]): Tally {
  const estimated = grown(tally.estimated, messages, messages.length, estimateMessageTokens)
  rememberEstimate(messages, estimated.tokens)
  return { ...tally, estimated }
}

/** With the count of messages that are new, and with it what to make of the provider's. */
export function withCounts(tally: Tally, messages: readonly RequestMessage[], count: CountTokens, fixed: number): Tally {
  const counting = (message: RequestMessage): number => countMessageTokens(message, count)
  const { told } = tally
  if (told === undefined || told.counted !== undefined) {
    return { ...tally, counted: grown(tally.counted, messages, messages.length, counting) }
  }
  const sent = grown(tally.counted, messages, told.messages, counting)
  return {
    ...tally,
    told: { ...told, counted: sent.tokens },
    correction: correctionOf(told.tokens, sent.tokens + fixed),
    counted: grown(sent, messages, messages.length, counting),
  }
}

/** With what the provider counted for a request of these messages; what it did not tell, or cannot mean, changes nothing. */
export function withTold(tally: Tally, usage: Usage, model: string, fixed: number): Tally {
  const { estimated, counted } = tally
  const tokens = usage.inputTokens
  if (tokens === null || usage.exactness !== 'exact') return tally
  if (tokens < LEAST_CREDIBLE * (estimated.tokens + fixed)) return { ...tally, told: undefined }
  const isCounted = counted.messages === estimated.messages
  return {
    ...tally,
    told: { ...estimated, tokens, model, estimate: estimated.tokens, counted: isCounted ? counted.tokens : undefined },
    correction: isCounted ? correctionOf(tokens, counted.tokens + fixed) : tally.correction,
  }
}

function correctionOf(told: number, counted: number): Correction {
  const overhead = Math.min(MOST_OVERHEAD, Math.max(0, told - counted))
  return { overhead, scale: Math.max(LEAST_CREDIBLE, (told - overhead) / Math.max(1, counted)) }
}

/** A size, parted into what a provider has counted and what is estimated. */
export interface Size {
  readonly known: number
  readonly guessed: number
}

/** The size by the estimate; `fixed` is what stands beside the messages in each request. */
export function estimatedSize({ estimated, told }: Tally, model: string, fixed: number): Size {
  if (told?.model === model) return { known: told.tokens, guessed: estimated.tokens - told.estimate }
  return { known: 0, guessed: fixed + estimated.tokens }
}

/** The size by the count, corrected by what the provider told. */
export function countedSize({ counted, told, correction }: Tally, model: string, fixed: number): number {
  if (told?.model === model && told.counted !== undefined) {
    const tail = (counted.tokens - told.counted) * Math.min(SCALES.most, Math.max(SCALES.least, correction.scale))
    return Math.ceil(told.tokens + tail)
  }
  return Math.ceil(correction.overhead + (fixed + counted.tokens) * correction.scale)
}

/** For other messages of the same conversation: nothing is known of them but what the provider makes of our tokens. */
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
