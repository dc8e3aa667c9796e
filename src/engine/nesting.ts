/** Queries that are asked by tools of queries: each costs requests, and a tool that asks for itself would never end. */

import { CriaError } from '../core/error.ts'
import type { Span } from '../core/span.ts'
import { nestingOf } from './span.ts'

/** Queries inside each other at most. */
const MAX_NESTING = 8

/** @throws CriaError `tool_failure` when a query may not be asked inside this span any more. */
export function checkNesting(parent: Span | undefined): void {
  if (nestingOf(parent) < MAX_NESTING) return
  throw new CriaError('tool_failure', `A query may be asked by a tool of another one, but not ${MAX_NESTING} deep.`, {
    hint: 'Look whether a tool asks a query that has this tool itself.',
  })
}
