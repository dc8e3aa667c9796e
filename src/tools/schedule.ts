/** Decides which calls of a step may start now. */

import { conflict } from './conflicts.ts'
import type { Footprint } from './conflicts.ts'

/** `asking`: somebody has yet to say whether it may run. */
export type Phase = 'asking' | 'ready' | 'running' | 'over'

export interface Scheduled {
  phase: Phase
  footprint: Footprint
}

/**
 * The calls to start, in call order, when at most `limit` run at a time. Of two calls that conflict, the later one waits for the
 * earlier one.
 *
 * A call that still waits for permission holds up only those whose declared resources it conflicts with: nobody else waits for an
 * answer that may take hours. It waits for them instead, so that they never run together.
 */
export function startable<Job extends Scheduled>(jobs: readonly Job[], limit: number): Job[] {
  const running = jobs.filter(({ phase }) => phase === 'running')
  const starting: Job[] = []
  const before: Job[] = []
  for (const job of jobs) {
    if (running.length + starting.length >= limit) break
    if (job.phase === 'over' || job.phase === 'running') continue
    const holds = (other: Job): boolean => conflict(other.footprint, job.footprint)
    if (job.phase === 'ready' && !running.some(holds) && !before.some((other) => waitsFor(job, other))) starting.push(job)
    before.push(job)
  }
  return starting
}

function waitsFor(job: Scheduled, earlier: Scheduled): boolean {
  if (earlier.phase === 'asking' && !(earlier.footprint.declared && job.footprint.declared)) return false
  return conflict(earlier.footprint, job.footprint)
}
