/** Keeps the beginning and the end of a program's output, masks known secrets, and counts the omitted bytes. */

const HEAD = 16_000
const TAIL = 48_000
const MASK = '[redacted]'

export class BoundedOutput {
  /** Secrets as Latin-1 strings, the longest first. One character per byte, so that pieces may be cut inside a character. */
  readonly #secrets: readonly string[]
  /** The end of the output, held back while it may be the beginning of a secret. */
  #held = ''
  readonly #head: Buffer[] = []
  #headLength = 0
  readonly #tail: Buffer[] = []
  #tailLength = 0
  #total = 0

  /** @param secrets texts to mask, also when they are split between pieces; default none. */
  constructor(secrets: readonly string[] = []) {
    this.#secrets = secrets
      .map((secret) => Buffer.from(secret).toString('latin1'))
      .toSorted((one, other) => other.length - one.length)
  }

  /** Number of bytes that were added. */
  get total(): number {
    return this.#total
  }

  /** @returns the added bytes: the piece with secrets masked, without an end that may be the beginning of a secret. */
  add(piece: Buffer): Buffer {
    if (this.#secrets.length === 0) return this.#keep(piece)
    let text = this.#held + piece.toString('latin1')
    for (const secret of this.#secrets) text = text.replaceAll(secret, MASK)
    const open = text.length - this.#beginningIn(text)
    this.#held = text.slice(open)
    return this.#keep(Buffer.from(text.slice(0, open), 'latin1'))
  }

  /** Returns the number of characters at the end that may begin a secret. */
  #beginningIn(text: string): number {
    const longest = Math.min(text.length, (this.#secrets[0]?.length ?? 1) - 1)
    for (let length = longest; length > 0; length--) {
      const end = text.slice(-length)
      if (this.#secrets.some((secret) => secret.startsWith(end))) return length
    }
    return 0
  }

  #keep(piece: Buffer): Buffer {
    this.#total += piece.length
    const room = HEAD - this.#headLength
    if (room > 0) {
      this.#head.push(Buffer.from(piece.subarray(0, room)))
      this.#headLength += Math.min(room, piece.length)
    }
    const rest = piece.subarray(Math.max(0, room))
    if (rest.length === 0) return piece
    // A copy: a small part must not keep a large buffer alive.
    const kept = Buffer.from(rest.subarray(Math.max(0, rest.length - TAIL)))
    this.#tail.push(kept)
    this.#tailLength += kept.length
    for (let first = this.#tail[0]; first !== undefined && this.#tailLength - first.length >= TAIL; first = this.#tail[0]) {
      this.#tail.shift()
      this.#tailLength -= first.length
    }
    return piece
  }

  /** Returns head and tail in whole characters, with a note of the omitted bytes. With secrets, call it only after the last piece. */
  text(): string {
    this.#keep(Buffer.from(this.#held, 'latin1'))
    this.#held = ''
    const head = Buffer.concat(this.#head)
    const tail = Buffer.concat(this.#tail).subarray(-TAIL)
    const missing = this.#total - head.length - tail.length
    if (missing <= 0) return Buffer.concat([head, tail]).toString('utf8')
    const note = `[… ${missing.toLocaleString('en-US')} of ${this.#total.toLocaleString('en-US')} bytes left out …]`
    // A streaming decoder omits a character that is cut at the end.
    const start = new TextDecoder('utf-8', { ignoreBOM: true }).decode(head, { stream: true })
    return `${start}\n${note}\n${tail.subarray(startOfCharacter(tail)).toString('utf8')}`
  }
}

function startOfCharacter(bytes: Buffer): number {
  let at = 0
  while (at < 3 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return at
}
