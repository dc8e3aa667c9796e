/** Identifiers: branded strings that sort by creation time. */

declare const brand: unique symbol
/** The id of a message. Ids made by this package sort by creation time. */
export type MessageId = string & { readonly [brand]: 'message' }

/** Creates an id; injected so that tests get predictable ids. */
export type CreateId = (prefix: string) => string

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * `prefix_` + 10 characters of time + 16 of randomness (80 bits), in Crockford's base 32: the layout of a ULID
 * (https://github.com/ulid/spec), lower case. Ids of one prefix sort by time, to the millisecond.
 */
export const createId: CreateId = (prefix) => {
  let time = Date.now()
  let head = ''
  for (let i = 0; i < 10; i++) {
    head = ALPHABET.charAt(time % 32) + head
    time = Math.floor(time / 32)
  }
  let tail = ''
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) tail += ALPHABET.charAt(byte % 32)
  return `${prefix}_${head}${tail}`
}

/** Returns `true` for an id made by `createId`, which is globally unique. */
export function isCreatedId(id: string): boolean {
  return /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/.test(id)
}

export const messageId = (value: string): MessageId => value as MessageId
