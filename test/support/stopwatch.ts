/** Measures the time of our own work on a machine that may be busy. */

/** Milliseconds between two ticks. */
const TICK = 5

/**
 * Starts now. Its end returns the milliseconds of waiting or of computing, whichever is more. Waiting is counted in ticks of the event loop, so a
 * tick that is late because the processor is busy counts once. Computing is the processor time of this process.
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
