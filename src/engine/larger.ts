/** When a request does not fit the model's window: turn to one with a larger window, if there is one. */

import type { Station } from '../core/context.ts'
import type { Overflow } from '../model/answer.ts'
import { passOn } from '../model/chain.ts'
import type { Turn } from './turn.ts'

/** @throws CriaError `context_length` when no later model of the chain has a larger window. */
export async function* largerModel({ error }: Overflow, { chain }: Turn): Station<void> {
  const switched = passOn(chain, 'context_too_large')
  if (switched === undefined) throw error
  yield switched
}
