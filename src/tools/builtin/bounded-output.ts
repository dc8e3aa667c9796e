/** Keeps the beginning and the end of what a program writes, and counts the rest. */

const HEAD = 16_000
const TAIL = 48_000

export class BoundedOutput {
  #head: Buffer[] = []
  #headLength = 0
  #tail: Buffer[] = []
  #tailLength = 0
  #total = 0

  get total(): number {
    return this.#total
  }

  add(piece: Buffer): void {
    this.#total += piece.length
    const room = HEAD - this.#headLength
    if (room > 0) {
      this.#head.push(Buffer.from(piece.subarray(0, room)))
      this.#headLength += Math.min(room, piece.length)
    }
    const rest = piece.subarray(Math.max(0, room))
    if (rest.length === 0) return
    // A copy: a small part must not keep a large buffer alive.
    const kept = Buffer.from(rest.subarray(Math.max(0, rest.length - TAIL)))
    this.#tail.push(kept)
    this.#tailLength += kept.length
    for (let first = this.#tail[0]; first !== undefined && this.#tailLength - first.length >= TAIL; first = this.#tail[0]) {
      this.#tail.shift()
      this.#tailLength -= first.length
    }
  }

  /** Whole characters; between head and tail stands how much is missing. */
  text(): string {
    const head = Buffer.concat(this.#head)
    const tail = Buffer.concat(this.#tail).subarray(-TAIL)
    const missing = this.#total - head.length - tail.length
    if (missing <= 0) return Buffer.concat([head, tail]).toString('utf8')
    const note = `[… ${missing.toLocaleString('en-US')} of ${this.#total.toLocaleString('en-US')} bytes left out …]`
    return `${head.subarray(0, endOfCharacters(head)).toString('utf8')}\n${note}\n${tail.subarray(startOfCharacter(tail)).toString('utf8')}`
  }
}

/** Where a UTF-8 character that is cut at the end begins, else the length. */
function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back <= 4 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return back < length ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

function startOfCharacter(bytes: Buffer): number {
  let at = 0
  while (at < 3 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return at
}
