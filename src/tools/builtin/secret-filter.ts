/** Takes known secrets out of what passes by, wherever its pieces are cut. */

const MASK = '[redacted]'

export class SecretFilter {
  /** Bytes as characters, so that a cut through a character does not matter; the longest first. */
  readonly #secrets: readonly string[]
  #held = ''

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
      .map((secret) => Buffer.from(secret).toString('latin1'))
      .toSorted((one, other) => other.length - one.length)
  }

  /** Holds back what may be the beginning of a secret. */
  push(piece: Buffer): Buffer {
    if (this.#secrets.length === 0) return piece
    const text = this.#clean(this.#held + piece.toString('latin1'))
    const held = this.#beginning(text)
    this.#held = text.slice(text.length - held)
    return Buffer.from(text.slice(0, text.length - held), 'latin1')
  }

  finish(): Buffer {
    const rest = Buffer.from(this.#held, 'latin1')
    this.#held = ''
    return rest
  }

  #clean(text: string): string {
    let clean = text
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, MASK)
    return clean
  }

  /** How many characters at the end may be the first of a secret. */
  #beginning(text: string): number {
    const longest = Math.min(text.length, (this.#secrets[0]?.length ?? 1) - 1)
    for (let length = longest; length > 0; length--) {
      const end = text.slice(-length)
      if (this.#secrets.some((secret) => secret.startsWith(end))) return length
    }
    return 0
  }
}
