/** Identifiers: branded strings, sortable by the time they were made. */

declare const brand: unique symbol
/** The id of a message; those that we make sort by the time they were made. */
export type MessageId = string & { readonly [brand]: 'message' }

/** Makes one id; handed in wherever ids are made, so that tests can count them. */
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

/** Made by `createId`, so that nothing else in the world has it. */
export function isCreatedId(id: string): boolean {
  return /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/.test(id)
}

export const messageId = (value: string): MessageId => value as MessageId
