/** Lists interrupted calls whose effects are unknown: they do not run again without a question. */

import type { Json } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { canonicalJson } from '../util/hash.ts'
import { bareName } from './find-tool.ts'

/** The idempotency key of each, by `callKey`. */
export type UnsettledCalls = Map<string, string>

/** Equal for the same call of the same tool, with the name as it is or as a model wrote it. */
export function callKey(name: string, input: Json): string {
  return `${bareName(name)} ${canonicalJson(input)}`
}

/** What a history leaves open. The same call is settled by a later one that succeeded. */
export function unsettledCalls(history: readonly Message[]): UnsettledCalls {
  const unsettled: UnsettledCalls = new Map()
  const keys = new Map<string, string>()
  for (const { parts } of history) {
    for (const part of parts) {
      if (part.type === 'tool-call') keys.set(part.id, callKey(part.name, part.input))
      if (part.type !== 'tool-result') continue
      const key = keys.get(part.id)
      if (key === undefined) continue
      if (part.unknownEffects !== undefined) unsettled.set(key, part.unknownEffects.idempotencyKey)
      else if (!part.isError) unsettled.delete(key)
    }
  }
  return unsettled
}
