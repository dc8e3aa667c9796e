/**
 * Reads the bytes of an answer ahead of the decoder.
 *
 * An error in the body that `fetch` returns empties its queue, which would lose the bytes before a broken connection. They are kept here instead,
 * and the error is thrown after them. An answer is read ahead up to 64 KB, so that a slow reader slows the server down. An answer of `fetch` that is
 * not chunked is read as it arrives, up to 64 MB: the `fetch` of Node 22 and 24 (undici 7) ends the process if a server closes a connection that is
 * not being read and whose answer ends by its length or by the close (https://github.com/nodejs/undici/issues/5360).
 */

import type { Readable } from 'node:stream'
import type { Answered } from './network.ts'
import { isAbort, withCode } from './network.ts'

/** The kind of an answer by its first characters; the content type is not reliable. */
export type BodyKind = 'events' | 'json' | 'markup' | 'text' | 'empty'

const MOST_BYTES = 64 * 1024
const MOST_UNCHUNKED_BYTES = 64 * 1024 * 1024
/** Number of characters in which an event stream is recognised, even if fields of a vendor come first. */
const ENOUGH = 1024

export class ByteSource {
  #most = MOST_BYTES
  #queue: Uint8Array[] = []
  #queued = 0
  /** The answer has ended or broken off, or the source was closed. */
  #over = false
  #failure: { readonly thrown: unknown } | undefined
  #returnedAt = -Infinity
  /** Arriving bytes do not resume the reader. */
  #isHolding = false
  #resumeReader: (() => void) | undefined
  #resumeSender: (() => void) | undefined
  #cancel: (() => void) | undefined

  constructor({ body, headers }: Pick<Answered, 'body' | 'headers'>) {
    if (body === null || body === undefined) this.#end()
    else if ('getReader' in body) {
      if (headers.get('transfer-encoding')?.toLowerCase().includes('chunked') !== true) this.#most = MOST_UNCHUNKED_BYTES
      void this.#pump(body.getReader())
    } else this.#listen(body)
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
    // Waits, but not beyond the end of the answer, and not while the queue is full.
    if (early > 0 && !this.#over && this.#queued < this.#most) {
      this.#isHolding = true
      const timer = setTimeout(() => this.#resumeReader?.(), Math.ceil(early))
      await this.#more()
      clearTimeout(timer)
      this.#isHolding = false
    }
    if (this.#queued === 0) {
      if (this.#failure !== undefined) throw this.#failure.thrown
      return undefined
    }
    const pieces = this.#queue
    this.#queue = []
    this.#queued = 0
    this.#returnedAt = performance.now()
    this.#resumeSender?.()
    return pieces
  }

  /** Detects the kind of the answer from its first bytes, which stay readable; drops leading white space. */
  async kind(): Promise<BodyKind> {
    for (;;) {
      // Some servers send white space first to keep the connection alive, possibly more than the queue holds.
      for (let [first] = this.#queue; first !== undefined; [first] = this.#queue) {
        const start = first.findIndex((byte) => !isSpace(byte))
        if (start === 0) break
        this.#queue.splice(0, 1, ...(start === -1 ? [] : [first.subarray(start)]))
        this.#queued -= start === -1 ? first.length : start
      }
      this.#resumeSender?.()
      let head = ''
      for (const piece of this.#queue) {
        if (head.length >= ENOUGH) break
        head += Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1')
        head = head.slice(0, ENOUGH)
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
    this.#end()
    this.#resumeSender?.()
    this.#cancel?.()
  }

  /** Reads the body of a `fetch`. */
  async #pump(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    this.#cancel = () => void reader.cancel().catch(() => {})
    try {
      while (!this.#over) {
        const { done, value } = await reader.read()
        if (done) break
        this.#add(value)
        while (this.#isFull()) await new Promise<void>((resolve) => (this.#resumeSender = resolve))
      }
      this.#end()
    } catch (thrown) {
      this.#end({ thrown })
    }
  }

  /** Reads the body of an `httpFetch`, whose iterator would lose the bytes before an error. */
  #listen(stream: Readable): void {
    this.#cancel = () => void stream.destroy()
    this.#resumeSender = () => void stream.resume()
    stream.on('data', (piece: Uint8Array) => {
      this.#add(piece)
      if (this.#isFull()) stream.pause()
    })
    stream.once('end', () => this.#end())
    stream.once('error', (thrown) => this.#end({ thrown }))
    stream.once('close', () => this.#end({ thrown: withCode('The connection was closed.', 'ECONNRESET') }))
  }

  #add(piece: Uint8Array): void {
    if (this.#over) return
    this.#queue.push(piece)
    this.#queued += piece.length
    if (!this.#isHolding || this.#isFull()) this.#resumeReader?.()
  }

  #isFull(): boolean {
    return this.#queued >= this.#most && !this.#over
  }

  #end(failure?: { readonly thrown: unknown }): void {
    if (this.#over) return
    this.#over = true
    this.#failure = failure
    if (failure !== undefined && isAbort(failure.thrown)) this.#queued = 0
    this.#resumeReader?.()
  }

  #more(): Promise<void> {
    return new Promise((resolve) => (this.#resumeReader = resolve))
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
