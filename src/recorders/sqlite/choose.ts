/** Conditions on rows of `turns`, from what they were marked with. */

import { ConfigurationError } from '../../core/error.ts'
import type { TurnFilter } from '../../core/recorder.ts'

export interface Conditions {
  /** To be joined by AND; each has one parameter. */
  readonly conditions: readonly string[]
  readonly values: readonly string[]
}

/** @throws ConfigurationError for tags that are not a list: no tag would be taken for all turns. */
export function conditionsOf({ userId, tags = [] }: TurnFilter): Conditions {
  if (!Array.isArray(tags)) throw new ConfigurationError('`tags` must be a list of texts.')
  return {
    conditions: [
      ...(userId === undefined ? [] : ['session_id IN (SELECT session_id FROM sessions WHERE user_id = ?)']),
      ...tags.map(() => 'turns.id IN (SELECT turn FROM turn_tags WHERE tag = ?)'),
    ],
    values: [...(userId === undefined ? [] : [userId]), ...(tags as readonly string[])],
  }
}
