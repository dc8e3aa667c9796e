/** How long something of ours takes, on a machine that may be busy with something else. */

/** Milliseconds between two ticks. */
const TICK = 5

/**
 * Starts now. Its end tells the milliseconds that were waited for, or computed for, whichever is more. Ticks of the event loop are counted: one that
 * comes late, because others have the processor, counts once. What we compute ourselves is told by the time of the processor.
 */
export function stopwatch(): () => number {
  let ticks = 0
  const timer = setInterval(() => ticks++, TICK).unref()
  const before = process.threadCpuUsage()
  return () => {
    clearInterval(timer)
    const { user, system } = process.threadCpuUsage(before)
    return Math.max(ticks * TICK, (user + system) / 1000)
  }
}
