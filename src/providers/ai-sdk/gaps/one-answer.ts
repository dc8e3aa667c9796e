/**
 * Chat Completions and Gemini: who asks for several answers gets their pieces in turn, and the packages take them for one. The answer that begins
 * first is the answer.
 */

import type { JsonObject } from '../../../core/json.ts'
import { objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

/** What is looked for costs time in every stream: who asks for more than three answers gets one of the first three soon enough. */
const OTHERS = ['"index":1', '"index": 1', '"index":2', '"index": 2']

/** @param member of an event that holds the pieces. */
export const oneAnswer =
  (member: 'choices' | 'candidates'): CreateGap =>
  () => {
    let ours: number | undefined
    let isOneOfMany = false
    return {
      markers: OTHERS,
      // Where there are others, every event may be one of theirs.
      hasBegun: () => ours === 0 && !isOneOfMany,
      event(event) {
        const pieces = objectsIn(event[member])
        const [first] = pieces
        if (first === undefined) return 'keep'
        ours ??= numberOf(first)
        const kept = pieces.filter((piece) => numberOf(piece) === ours)
        if (kept.length === pieces.length) return 'keep'
        isOneOfMany = true
        return { replace: { ...event, [member]: kept } }
      },
    }
  }

/** Google leaves out a number of 0. */
function numberOf({ index }: JsonObject): number {
  return typeof index === 'number' ? index : 0
}
