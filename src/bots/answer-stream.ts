/** Defines the result of `stream()`: it is iterated for the answer as it comes, or awaited for the whole answer. */

import { CriaError } from '../core/error.ts'
import { unheard } from '../util/promise.ts'

/**
 * The pieces of an answer as they come, and the finished answer:
 *
 *     const stream = bot.stream('…')
 *     for await (const text of stream) process.stdout.write(text)
 *     const { usage } = await stream.answer
 *
 * @typeParam Piece what is iterated over: text, or what the bot's documentation says.
 * @typeParam Answer what `answer` resolves to, and the iterator returns at its end.
 */
export class AnswerStream<Piece, Answer> implements AsyncGenerator<Piece, Answer, undefined> {
  readonly #source: AsyncGenerator<Piece, Answer, undefined>
  /** Pieces that were read for `answer` and not yet by a reader. */
  readonly #ahead: Promise<IteratorResult<Piece, Answer>>[] = []
  #answer: Promise<Answer> | undefined
  #end: { readonly value: Answer } | { readonly thrown: unknown } | undefined

  constructor(source: AsyncGenerator<Piece, Answer, undefined>) {
    this.#source = source
  }

  /**
   * The finished answer. Reads the stream to its end, also where nobody iterates over it; pieces that were read are kept for a reader that
   * comes later. Rejects as the iterator does, and with `aborted` when the reader left early.
   */
  get answer(): Promise<Answer> {
    if (this.#answer === undefined) {
      this.#answer = this.#readAll()
      // A reader of the stream is told of the failure as well: an answer that is not awaited must not end the process.
      unheard(this.#answer)
    }
    return this.#answer
  }

  /** Gives the next piece, or the answer at the end. */
  next(): Promise<IteratorResult<Piece, Answer>> {
    return this.#ahead.shift() ?? this.#pull()
  }

  /** Cancels the turn. */
  return(value: Answer | PromiseLike<Answer>): Promise<IteratorResult<Piece, Answer>> {
    this.#left()
    return this.#source.return(value)
  }

  /** Ends the stream with this error. */
  throw(error: unknown): Promise<IteratorResult<Piece, Answer>> {
    this.#end ??= { thrown: error }
    this.#ahead.length = 0
    return this.#source.throw(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#left()
    await this.#source.return(undefined as never)
  }

  #left(): void {
    this.#end ??= { thrown: new CriaError('aborted', 'The reader of the stream left before the answer was complete.') }
    this.#ahead.length = 0
  }

  async #pull(): Promise<IteratorResult<Piece, Answer>> {
    try {
      const next = await this.#source.next()
      if (next.done === true) this.#end ??= { value: next.value }
      return next
    } catch (thrown) {
      this.#end ??= { thrown }
      throw thrown
    }
  }

  async #readAll(): Promise<Answer> {
    while (this.#end === undefined) {
      const next = this.#pull()
      this.#ahead.push(next)
      unheard(next)
      await next
    }
    if ('thrown' in this.#end) throw this.#end.thrown
    return this.#end.value
  }
}
