/** Vitest reporter: closes a run with one plain line, `N passed, N failed, N skipped`. */

import type { Reporter, TestModule } from 'vitest/node'

interface Tally {
  passed: number
  failed: number
  skipped: number
}

export function tally(modules: readonly TestModule[]): Tally {
  const counts: Tally = { passed: 0, failed: 0, skipped: 0 }
  for (const module of modules) {
    let tests = 0
    for (const test of module.children.allTests()) {
      tests += 1
      const { state } = test.result()
      // A test that did not finish has not passed.
      counts[state === 'pending' ? 'failed' : state] += 1
    }
    // A file that cannot be loaded has no tests but counts as a failure.
    if (tests === 0 && module.state() === 'failed') counts.failed += 1
  }
  return counts
}

export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const { passed, failed, skipped } = tally(modules)
    const line = `${passed} passed, ${failed + unhandledErrors.length} failed, ${skipped} skipped\n`
    // Written after the other reporters, so that it is the last line.
    process.once('exit', () => process.stdout.write(line))
  }
}
