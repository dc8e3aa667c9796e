/**
 * Cuts the bytes of an event stream at the ends of events, however the network cut them.
 *
 * Line ends become LF on the way (WHATWG: LF, CR and CRLF end a line alike). Nothing is decoded here: a block ends after an empty line,
 * so it holds whole events and whole characters, and a parser behind it never waits for the rest of one.
 */

const LF = 10
const CR = 13
const EMPTY = Buffer.alloc(0)

/** An event that never ends would fill the memory. */
const MAX_EVENT_BYTES: number = 32 * 1024 * 1024

export class EventTooLargeError extends Error {
  constructor(limit: number) {
    super(`A single event of the stream is larger than ${Math.round(limit / 1024 / 1024)} MB.`)
    this.name = 'EventTooLargeError'
  }
}

export class EventBlocks {
  readonly #limit: number
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** The last byte was a CR, already handed on as LF: an LF that follows belongs to it. */
  #afterCr = false
  #endsWithLf = false

  constructor(limit: number = MAX_EVENT_BYTES) {
    this.#limit = limit
  }

  /**
   * Adds bytes; returns the whole events that are complete now, if any. Takes time linear in the bytes, also for one event in many pieces.
   * @throws EventTooLargeError and lets go of the bytes.
   */
  push(bytes: Uint8Array): Buffer | undefined {
    const chunk = this.#withLf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    if (chunk.length === 0) return undefined

    let end = chunk.lastIndexOf('\n\n')
    if (end >= 0) end += 2
    else if (this.#endsWithLf && chunk[0] === LF) end = 1
    this.#endsWithLf = chunk[chunk.length - 1] === LF

    if (end < 0) {
      this.#keep(chunk)
      return undefined
    }
    const block = this.#pending.length === 0 ? chunk.subarray(0, end) : Buffer.concat([...this.#pending, chunk.subarray(0, end)])
    this.#pending = []
    this.#pendingBytes = 0
    if (end < chunk.length) this.#keep(chunk.subarray(end))
    return block
  }

  /** What stands after the last empty line: an event that was not closed, or one that was cut. */
  rest(): Buffer {
    const rest = this.#pending.length === 0 ? EMPTY : Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingBytes = 0
    return rest
  }

  #keep(piece: Buffer): void {
    this.#pendingBytes += piece.length
    if (this.#pendingBytes > this.#limit) {
      this.#pending = []
      throw new EventTooLargeError(this.#limit)
    }
    this.#pending.push(piece)
  }

  #withLf(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk
    const skipsFirst = this.#afterCr && chunk[0] === LF
    this.#afterCr = chunk[chunk.length - 1] === CR
    let cr = chunk.indexOf(CR)
    if (cr < 0) return skipsFirst ? chunk.subarray(1) : chunk

    const out = Buffer.allocUnsafe(chunk.length)
    let length = 0
    let from = skipsFirst ? 1 : 0
    while (cr >= 0) {
      length += chunk.copy(out, length, from, cr)
      out[length++] = LF
      from = chunk[cr + 1] === LF ? cr + 2 : cr + 1
      cr = chunk.indexOf(CR, from)
    }
    length += chunk.copy(out, length, from)
    return out.subarray(0, length)
  }
}
