/** Detects a model that repeats the same calls. */

import { canonicalJson } from '../util/hash.ts'
import type { ToolCallPart } from '../core/part.ts'

/** The longest circle that is noticed, in steps. */
export const MAX_PERIOD = 4
/** How often a circle is gone through before somebody is asked. */
export const REPETITIONS = 3

/** What a step called, as one text: equal texts are equal calls in equal order. */
export function stepKey(calls: readonly Pick<ToolCallPart, 'name' | 'input'>[]): string {
  return canonicalJson(calls.map(({ name, input }) => [name, input]))
}

/**
 * The length of the circle that the newest step closes for the third time: 1 for the same step three times in a row, 2 for two steps
 * in turn, up to 4. `undefined` when there is none.
 *
 * Whole steps are compared, not calls: calls of one step are meant together, and a test that is run again after another edit is no
 * circle.
 */
export function repeatedPeriod(steps: readonly string[]): number | undefined {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const first = steps.length - period * REPETITIONS
    if (first < 0) return undefined
    if (steps.slice(first + period).every((step, index) => step === steps[first + index])) return period
  }
  return undefined
}
