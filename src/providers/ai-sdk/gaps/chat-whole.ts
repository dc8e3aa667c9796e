/** Chat Completions: some servers and proxies answer a request for a stream with one event that holds the whole message, where the package sees nothing. */

import type { Json, JsonObject } from '../../../core/json.ts'
import { asArray, asObject } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const chatWhole: CreateGap = () => ({
  markers: ['"message":{', '"message": {'],
  event(event) {
    const choices = asArray(event['choices'])
    const mended = choices.map(asPiece)
    return mended.some((choice, at) => choice !== choices[at]) ? { replace: { ...event, choices: mended as Json[] } } : 'keep'
  },
})

/** A choice that has pieces says in its message what was said before. */
function asPiece(choice: unknown): unknown {
  const { message, delta, ...rest }: JsonObject = asObject(choice) ?? {}
  return asObject(message) === undefined || (delta ?? null) !== null ? choice : { ...rest, delta: message }
}
