/** Reads the answer of a bot from the events of a turn: at once, or as a stream that can also be awaited. */

import { ConfigurationError, CriaError, errorFromInfo, NoAssistantMessageError } from '../core/error.ts'
import type { NoticeEvent, QueryEvent, QueryResult } from '../core/event.ts'
import type { Message } from '../core/message.ts'
import { eitherOf } from '../engine/checks/values.ts'
import { abortReasonOf, causeOf } from '../engine/turn-end.ts'
import { defined } from '../util/check.ts'
import { ignoreRejection } from '../util/promise.ts'

/** The assistant message with the result of its turn. `content` takes the place of `text`. */
export interface BotAnswer extends Message, Omit<QueryResult, 'text' | 'traceId'> {
  /** Notices of the turn, in order: `code` and `message`. Empty when there were none. */
  readonly notices: readonly Notice[]
}

/** A notice without the common members of an event. */
export type Notice = Pick<NoticeEvent, 'code' | 'message' | 'details'>

/** Reads a turn to its end and resolves to its answer. @throws CriaError when it did not end in an answer. */
export async function answerFrom(events: AsyncIterable<QueryEvent>): Promise<BotAnswer> {
  const deltas = deltasOf(events, 'hold')
  for (;;) {
    const next = await deltas.next()
    if (next.done === true) return next.value
  }
}

/**
 * Yields the text of a turn as it arrives; returns its answer.
 *
 * @param onReset a function, called when an attempt fails after its text was yielded; or `'hold'`: only the text of attempts that succeed is
 *   yielded.
 * @throws CriaError when the turn did not end in an answer.
 */
export async function* deltasOf(
  events: AsyncIterable<QueryEvent>,
  onReset?: (() => void) | 'hold',
): AsyncGenerator<string, BotAnswer, undefined> {
  const notices: Notice[] = []
  let message: Message | undefined
  let answer: BotAnswer | undefined
  let held: string[] = []
  for await (const event of events) {
    if (event.parent !== undefined) continue
    switch (event.type) {
      case 'text_delta':
        if (onReset === 'hold') held.push(event.text)
        else yield event.text
        break
      case 'reset':
        held = []
        if (onReset !== 'hold') onReset?.()
        break
      case 'message':
        message = event.message
        yield* held
        held = []
        break
      case 'notice':
        notices.push({ code: event.code, message: event.message, ...defined({ details: event.details }) })
        break
      case 'complete':
        if (message !== undefined) answer = toAnswer(message, event.result, notices)
        break
      case 'error':
        throw errorFromInfo({ ...event.error, details: { ...event.error.details, turnId: event.turnId } }, causeOf(event.error))
      case 'cancelled': {
        const { reason, turnId, usage, costUsd } = event
        const facts = { details: { turnId }, ...defined({ usage, costUsd }) }
        throw new CriaError('aborted', reason, { ...facts, cause: abortReasonOf(event) })
      }
      default:
        break
    }
  }
  if (answer === undefined) throw new NoAssistantMessageError('The stream ended without an assistant message.')
  return answer
}

function toAnswer(message: Message, result: QueryResult, notices: readonly Notice[]): BotAnswer {
  const { text: _, traceId: __, ...facts } = result
  return { ...message, ...facts, notices }
}

/**
 * Starts a stream that its reader can leave at any time. `begin` receives the options with one signal, which is aborted when the caller's is,
 * and when the reader leaves while a piece is pending: `return()` of a generator alone would wait for that piece.
 *
 * @throws ConfigurationError when the signal is given twice or is not an AbortSignal.
 */
export function leavable<
  Options extends { readonly abortSignal?: AbortSignal | undefined; readonly signal?: AbortSignal | undefined },
  Piece,
  Answer,
>(
  options: Options,
  begin: (options: Omit<Options, 'signal'>) => AsyncGenerator<Piece, Answer, undefined>,
): AnswerStream<Piece, Answer> {
  const given = eitherOf(options, 'abortSignal', 'signal')
  if (given !== undefined && !(given instanceof AbortSignal))
    throw new ConfigurationError('`abortSignal` must be an AbortSignal, such as the `signal` of an AbortController.')
  const leaving = new AbortController()
  const { signal: _, ...rest } = options
  const abortSignal = given === undefined ? leaving.signal : AbortSignal.any([given, leaving.signal])
  return new AnswerStream(begin({ ...rest, abortSignal }), leaving)
}

/**
 * Iterates over the pieces of an answer as they arrive; `answer` resolves to the finished answer:
 *
 *     const stream = bot.stream('…')
 *     for await (const text of stream) process.stdout.write(text)
 *     const { usage } = await stream.answer
 *
 * @typeParam Piece type of the yielded pieces: text, unless the bot's documentation says otherwise.
 * @typeParam Answer type that `answer` resolves to and the iterator returns at its end.
 */
export class AnswerStream<Piece, Answer> implements AsyncGenerator<Piece, Answer, undefined> {
  readonly #source: AsyncGenerator<Piece, Answer, undefined>
  readonly #leaving: AbortController
  /** Pieces that were read for `answer` but not yet by a reader. */
  readonly #ahead: Promise<IteratorResult<Piece, Answer>>[] = []
  #answer: Promise<Answer> | undefined
  #end: { readonly value: Answer } | { readonly thrown: unknown } | undefined
  #isLeft = false
  /** Number of pending `next()` calls on the source. */
  #waiting = 0

  /** @param leaving aborted when the reader leaves while a piece is pending. */
  constructor(source: AsyncGenerator<Piece, Answer, undefined>, leaving: AbortController = new AbortController()) {
    this.#source = source
    this.#leaving = leaving
  }

  /**
   * The finished answer. Reads the stream to its end, even without an iterator; pieces that were read are kept for a later reader.
   * Rejects with the error of the iterator, or with `aborted` when the reader left early.
   */
  get answer(): Promise<Answer> {
    if (this.#answer === undefined) {
      this.#answer = this.#readAll()
      // The iterator reports the failure as well: a rejected answer that is not awaited must not end the process.
      ignoreRejection(this.#answer)
    }
    return this.#answer
  }

  /** Resolves to the next piece, or to the answer at the end. */
  next(): Promise<IteratorResult<Piece, Answer>> {
    return this.#ahead.shift() ?? this.#pull()
  }

  /** Leaves the stream and cancels the turn. */
  return(value: Answer | PromiseLike<Answer>): Promise<IteratorResult<Piece, Answer>> {
    this.#leave(new CriaError('aborted', 'The reader of the stream left before the answer was complete.'))
    return this.#source.return(value)
  }

  /** Ends the stream with this error. */
  throw(error: unknown): Promise<IteratorResult<Piece, Answer>> {
    this.#leave(error)
    return this.#source.throw(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined as never)
  }

  #leave(thrown: unknown): void {
    this.#end ??= { thrown }
    this.#ahead.length = 0
    this.#isLeft = true
    if (this.#waiting > 0) this.#leaving.abort(new CriaError('aborted', 'The reader of the turn left.'))
  }

  /** Reads the next piece. If the reader leaves meanwhile, resolves as done and drops the piece or error. */
  async #pull(): Promise<IteratorResult<Piece, Answer>> {
    const left = { done: true, value: undefined as never } as const
    if (this.#isLeft) return left
    this.#waiting++
    try {
      const next = await this.#source.next()
      if (this.#isLeft) return left
      if (next.done === true) this.#end ??= { value: next.value }
      return next
    } catch (thrown) {
      if (this.#isLeft) return left
      this.#end ??= { thrown }
      throw thrown
    } finally {
      this.#waiting--
    }
  }

  async #readAll(): Promise<Answer> {
    while (this.#end === undefined) {
      const next = this.#pull()
      this.#ahead.push(next)
      ignoreRejection(next)
      await next
    }
    if ('thrown' in this.#end) throw this.#end.thrown
    return this.#end.value
  }
}
