/** Adds injected context to a request: loaded once per turn, labelled, each source within its token budget. */

import type { Station, StationContext } from '../core/context.ts'
import { CriaError, toCriaError } from '../core/error.ts'
import type { ContextPiece, ContextSource, EarlierRead } from '../core/injection.ts'
import { injected } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import { orAborted } from '../util/promise.ts'
import { beginningOf } from '../util/lines.ts'
import { fenced } from './fence.ts'
import { estimateTokens } from './tokens.ts'

/** Injected messages by position in the request. */
export interface Injection {
  /** In the system prompt: trusted instructions. */
  readonly instructions: readonly Message[]
  /** Between the system prompt and the conversation: data that seldom changes, so that providers can cache it. */
  readonly before: readonly Message[]
  /** Between the conversation and the question: data that changes in each turn. */
  readonly after: readonly Message[]
  readonly tokens: number
}

export const NOTHING_INJECTED: Injection = { instructions: [], before: [], after: [], tokens: 0 }

export interface InjectionState {
  readonly sources: readonly ContextSource[]
  readonly reads: readonly EarlierRead[]
  /** Maximum tokens of all sources together; `null` if the model's window is unknown. */
  readonly room: number | null
}

/** Default time-out of a source in milliseconds. */
const DEFAULT_TIMEOUT = 10_000

/** Loads all sources. A source that fails or times out is left out with a notice. */
export async function* inject({ sources, reads, room }: InjectionState, { signal, clock }: StationContext): Station<Injection> {
  if (sources.length === 0) return NOTHING_INJECTED
  const wanted = sources.reduce((sum, { maxTokens }) => sum + maxTokens, 0)
  const share = room === null || wanted <= room ? 1 : room / wanted
  const notices: string[] = []
  const loaded = await Promise.all(
    sources.map(async (source): Promise<readonly Message[]> => {
      const maxTokens = Math.floor(source.maxTokens * share)
      const { timeout = DEFAULT_TIMEOUT } = source
      const over = new AbortController()
      const both = AbortSignal.any([signal, over.signal])
      clock.sleep(timeout, both).then(
        () => over.abort(new CriaError('timeout', `it did not answer within ${timeout / 1000} s.`)),
        () => {},
      )
      try {
        const request = { signal: both, maxTokens, reads, notice: (message: string) => void notices.push(message) }
        return fitPieces(source.name, await orAborted(Promise.resolve(source.load(request)), both), maxTokens)
      } catch (thrown) {
        if (signal.aborted) throw signal.reason
        notices.push(`The context of "${source.name}" is left out: ${toCriaError(thrown).message}`)
        return []
      } finally {
        over.abort()
      }
    }),
  )
  for (const message of notices) yield { type: 'notice', code: 'context', message }

  const all = loaded.flatMap((messages, index) =>
    messages.map((message) => ({ message, isStable: sources[index]?.isStable === true })),
  )
  const data = all.filter(({ message }) => message.role !== 'system')
  return {
    instructions: all.filter(({ message }) => message.role === 'system').map(({ message }) => message),
    before: data.filter(({ isStable }) => isStable).map(({ message }) => message),
    after: data.filter(({ isStable }) => !isStable).map(({ message }) => message),
    tokens: all.reduce((sum, { message }) => sum + sentTokens(message), 0),
  }
}

/** Minimum useful size of a cut text. */
const LEAST_TOKENS = 40

/**
 * Converts pieces to messages of at most `maxTokens`, labels included. The last pieces are closest to the question and take precedence:
 * the piece at which the budget ends is cut, those before it are left out.
 */
export function fitPieces(by: string, pieces: readonly ContextPiece[], maxTokens: number): readonly Message[] {
  const kept: Message[] = []
  let left = maxTokens
  for (const piece of pieces.toReversed()) {
    const message = fitting(by, piece, left)
    if (message === undefined) break
    kept.unshift(message)
    left -= sentTokens(message)
    if (message.injected?.isCut === true && piece.isCut !== true) break
  }
  return kept
}

function fitting(by: string, piece: ContextPiece, room: number): Message | undefined {
  const whole = asMessage(by, piece)
  if (sentTokens(whole) <= room) return whole
  if (room < LEAST_TOKENS) return undefined
  let { text } = piece
  while (text !== '') {
    const tokens = sentTokens(asMessage(by, { ...piece, text, isCut: true }))
    if (tokens <= room) return asMessage(by, { ...piece, text, isCut: true })
    // Cuts slightly more than the excess, so that the loop ends although tokens are not proportional to characters.
    text = beginningOf(text, Math.floor(text.length * Math.min(room / tokens, 0.95)))
  }
  return undefined
}

function asMessage(by: string, { title, source, text, isTrusted, isCut }: ContextPiece): Message {
  return injected(text, {
    by,
    title,
    source,
    ...(isTrusted === true ? { isTrusted } : {}),
    ...(isCut === true ? { isCut } : {}),
  })
}

function sentTokens(message: Message): number {
  return estimateTokens(fenced(message).content)
}
