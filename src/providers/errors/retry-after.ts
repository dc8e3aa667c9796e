/** How long a provider asks to wait. */

import { asObject, asString, objectsIn } from '../wire/json.ts'

type Headers = Readonly<Record<string, string | undefined>>

/**
 * Milliseconds, or `undefined` when it does not say, or says something that is no time to come: text, a negative number, a date in the past.
 * Seconds and HTTP dates as in RFC 9110, section 10.2.3; `retry-after-ms` is OpenAI's.
 * @param now epoch milliseconds.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const exact = positive(Number(headers['retry-after-ms'] ?? Number.NaN))
  if (exact !== undefined) return exact
  const value = (headers['retry-after'] ?? '').trim()
  if (value === '') return undefined
  const seconds = Number(value)
  if (!Number.isNaN(seconds)) return positive(seconds * 1000)
  // The oldest of the three forms (asctime) does not say that it is GMT.
  const date = Date.parse(/^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/.test(value) ? `${value} GMT` : value)
  // Words like "5 apples" are parsed as a date by some engines; a real one names its time zone.
  return /(?:GMT|UTC|Z|[+-]\d\d:?\d\d|:\d\d \d{4})$/i.test(value) && !Number.isNaN(date) ? positive(date - now) : undefined
}

/** What the body says: Google's `RetryInfo` (`"34.5s"`), or words such as “try again in 1m20.5s”. */
export function retryAfterInBody(body: unknown, message: string): number | undefined {
  const details = objectsIn(asObject(asObject(body)?.['error'])?.['details'])
  for (const detail of details) {
    const delay = asString(detail['retryDelay'])
    if (delay !== undefined) return positive(duration(delay))
  }
  const words = ASKED.exec(message)?.[1]
  return words === undefined ? undefined : positive(duration(words))
}

const ASKED =
  /(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)? ?(?:ms|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\b ?|\d+(?:\.\d+)?[hm](?=\d))+)/i

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `1m20.5s` in milliseconds. */
function duration(text: string): number {
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?) ?(ms|h|m|s)/gi))
    sum += Number(amount) * (UNITS[(unit ?? '').toLowerCase()] ?? 0)
  return sum
}

function positive(ms: number): number | undefined {
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : undefined
}
