/** When a request does not fit the model's window: turn to one with a larger window, if there is one. */

import type { Station } from '../core/context.ts'
import type { Overflow } from '../model/answer.ts'
import type { Turn } from './turn.ts'

/** @throws CriaError `context_length` when no later model of the chain has a larger window. */
export async function* largerModel({ error, model }: Overflow, turn: Turn): Station<void> {
  const { chain } = turn
  const window = model.facts.contextWindow ?? 0
  const index = chain.models.findIndex((other, at) => at > chain.current && (other.facts.contextWindow ?? 0) > window)
  const larger = chain.models[index]
  if (larger === undefined) throw error
  chain.current = index
  yield { type: 'model_switch', from: model.ref, to: larger.ref, reason: 'context_too_large' }
}
