/**
 * Reads the bytes of an answer ahead of the decoder.
 *
 * An error in the body that `fetch` returns empties its queue, which would lose the bytes before a broken connection. They are kept here instead,
 * and the error is thrown after them. A chunked answer is read ahead up to 64 KB, so that a slow reader slows the server down. Any other answer is
 * read as it arrives, up to 64 MB: the `fetch` of Node 22 and 24 (undici 7) ends the process if a server closes a connection that is not being
 * read and whose answer ends by its length or by the close (https://github.com/nodejs/undici/issues/5360).
 */

import { isAbort } from './network.ts'
import type { Answered, AnsweredBody } from './send.ts'

/** The kind of an answer by its first characters; the content type is not reliable. */
export type BodyKind = 'events' | 'json' | 'markup' | 'text' | 'empty'

const MOST_BYTES = 64 * 1024 * 1024
const MOST_CHUNKED_BYTES = 64 * 1024
/** Number of characters in which an event stream is recognised, even if fields of a vendor come first. */
const ENOUGH = 1024

export class ByteSource {
  readonly #reader: ReturnType<AnsweredBody['getReader']> | undefined
  readonly #most: number
  #queue: Uint8Array[] = []
  #queued = 0
  /** The answer has ended or broken off, or the source was closed. */
  #over = false
  #failure: { readonly thrown: unknown } | undefined
  #returnedAt = -Infinity
  /** Arriving bytes do not wake the reader. */
  #isHolding = false
  #wakeReader: (() => void) | undefined
  #wakePump: (() => void) | undefined

  constructor({ body, headers }: Pick<Answered, 'body' | 'headers'>) {
    const isChunked = headers.get('transfer-encoding')?.toLowerCase().includes('chunked') === true
    this.#most = isChunked ? MOST_CHUNKED_BYTES : MOST_BYTES
    this.#reader = body?.getReader()
    void this.#pump()
  }

  /**
   * Returns all bytes received so far; waits if there are none; `undefined` at the end.
   *
   * @param holdMs least time between two returns, in milliseconds; bytes that arrive within it are returned together. Default 0.
   * @throws the error that broke the connection, after the bytes before it.
   */
  async read(holdMs = 0): Promise<readonly Uint8Array[] | undefined> {
    while (this.#queued === 0 && !this.#over) await this.#more()
    const early = this.#returnedAt + holdMs - performance.now()
    if (early > 0 && !this.#over) await this.#hold(early)
    if (this.#queued === 0) {
      if (this.#failure !== undefined) throw this.#failure.thrown
      return undefined
    }
    const pieces = this.#queue
    this.#queue = []
    this.#queued = 0
    this.#returnedAt = performance.now()
    this.#wakePump?.()
    return pieces
  }

  /** Detects the kind of the answer from its first bytes, which stay readable; drops leading white space. */
  async kind(): Promise<BodyKind> {
    for (;;) {
      // Some servers send white space first to keep the connection alive, possibly more than the queue holds.
      while (this.#queue[0]?.every(isSpace) === true) this.#queued -= this.#queue.shift()?.length ?? 0
      this.#wakePump?.()
      let head = ''
      for (const piece of this.#queue) {
        if (head.length >= ENOUGH) break
        head += Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1')
        head = head.trimStart().slice(0, ENOUGH)
      }
      const kind = kindOf(head, this.#over)
      if (kind !== undefined && this.#failure !== undefined && head === '') throw this.#failure.thrown
      if (kind !== undefined) return kind
      const before = this.#queued
      while (this.#queued === before && !this.#over) await this.#more()
    }
  }

  /**
   * Returns the remaining bytes as text.
   * @throws RangeError when there are more than `limit` bytes.
   */
  async text(limit: number): Promise<string> {
    const pieces: Uint8Array[] = []
    let bytes = 0
    for (let more = await this.read(); more !== undefined; more = await this.read()) {
      for (const piece of more) bytes += piece.length
      pieces.push(...more)
      if (bytes <= limit) continue
      this.close()
      throw new RangeError(`The answer is larger than ${Math.round(limit / 1024 / 1024)} MB.`)
    }
    return new TextDecoder().decode(Buffer.concat(pieces))
  }

  /** Drops unread bytes, and closes the connection unless the answer has ended. */
  readonly close = (): void => {
    this.#queue = []
    this.#queued = 0
    this.#failure = undefined
    if (this.#over) return
    this.#over = true
    this.#wakeReader?.()
    this.#wakePump?.()
    void this.#reader?.cancel().catch(() => {})
  }

  async #pump(): Promise<void> {
    try {
      while (this.#reader !== undefined && !this.#over) {
        if (this.#queued >= this.#most) {
          await new Promise<void>((resolve) => (this.#wakePump = resolve))
          continue
        }
        const { done, value } = await this.#reader.read()
        if (done || value === undefined || this.#over) break
        this.#queue.push(value)
        this.#queued += value.length
        if (!this.#isHolding || this.#queued >= this.#most) this.#wakeReader?.()
      }
    } catch (thrown) {
      if (!this.#over) this.#failure = { thrown }
      if (isAbort(thrown)) this.#queued = 0
    }
    this.#over = true
    this.#wakeReader?.()
  }

  /** Waits `ms` milliseconds, but not beyond the end of the answer, and not while the queue is full. */
  async #hold(ms: number): Promise<void> {
    this.#isHolding = true
    const timer = setTimeout(() => this.#wakeReader?.(), Math.ceil(ms))
    if (this.#queued < this.#most) await this.#more()
    clearTimeout(timer)
    this.#isHolding = false
  }

  #more(): Promise<void> {
    return new Promise((resolve) => (this.#wakeReader = resolve))
  }
}

function isSpace(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13)
}

const BYTE_ORDER_MARK = '\u00EF\u00BB\u00BF'
const EVENT_LINE = /^(?:(?:data|event|id|retry)[:\r\n]|:)/m

/** @param head first bytes, as one character each. */
function kindOf(head: string, complete: boolean): BodyKind | undefined {
  if (!complete && BYTE_ORDER_MARK.startsWith(head)) return undefined
  const text = (head.startsWith(BYTE_ORDER_MARK) ? head.slice(BYTE_ORDER_MARK.length) : head).trimStart()
  const first = text.charAt(0)
  if (first === '') return complete ? 'empty' : undefined
  if (first === '{' || first === '[') return 'json'
  if (first === '<') return 'markup'
  if (EVENT_LINE.test(text)) return 'events'
  if (complete || text.length >= ENOUGH) return 'text'
  return undefined
}
