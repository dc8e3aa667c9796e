import { ConfigurationError } from '../core/error.ts'

const WORDS: Readonly<Record<string, number | null>> = { up: 1, down: -1, none: null }

/**
 * A rating as it is typed: 1 to 5, `up` (1), `down` (-1), or `none` (`null`).
 *
 * @throws ConfigurationError for anything else.
 */
export function readRating(word: string): number | null {
  if (Object.hasOwn(WORDS, word)) return WORDS[word] ?? null
  if (/^(-1|[1-5])$/.test(word)) return Number(word)
  throw new ConfigurationError(`A rating is 1 to 5, -1, up, down or none, but got ${JSON.stringify(word.slice(0, 60))}.`)
}
