/** Bytes as they come from the socket, with a look ahead. */

/** What an answer turns out to be, by its first characters; the content type is not believed. */
export type BodyKind = 'events' | 'json' | 'markup' | 'text' | 'empty'

/** An event stream has said what it is by here, whatever fields of a vendor come first. */
const ENOUGH = 1024

export class ByteSource {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #peeked: Uint8Array[] = []
  #closed = false

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader()
  }

  async read(): Promise<Uint8Array | undefined> {
    const peeked = this.#peeked.shift()
    if (peeked !== undefined) return peeked
    if (this.#closed) return undefined
    const { done, value } = await this.#reader.read()
    if (done) this.#closed = true
    return value
  }

  /** Looks at as many bytes as it takes to tell; they stay to be read. */
  async kind(): Promise<BodyKind> {
    let head = ''
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) this.#closed = true
      else {
        this.#peeked.push(value)
        // White space may come first, and much of it: some servers keep the connection alive with it.
        head = (head + Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1'))
          .trimStart()
          .slice(0, ENOUGH)
      }
      const kind = kindOf(head, done)
      if (kind !== undefined) return kind
    }
  }

  /**
   * Everything that is left, as text.
   * @throws RangeError when it is more than `limit` bytes.
   */
  async text(limit: number): Promise<string> {
    const pieces: Uint8Array[] = []
    let bytes = 0
    for (;;) {
      const piece = await this.read()
      if (piece === undefined) return new TextDecoder().decode(Buffer.concat(pieces))
      bytes += piece.length
      if (bytes > limit) {
        this.close()
        throw new RangeError(`The answer is larger than ${Math.round(limit / 1024 / 1024)} MB.`)
      }
      pieces.push(piece)
    }
  }

  /** Lets go of the connection. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    void this.#reader.cancel().catch(() => {})
  }
}

const BYTE_ORDER_MARK = '\u00EF\u00BB\u00BF'
const EVENT_LINE = /^(?:(?:data|event|id|retry)[:\r\n]|:)/m

/** @param head first bytes, one character each. */
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
