import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { stopwatch } from './stopwatch.ts'

const LATE = new Int32Array(new SharedArrayBuffer(4))

test('counts waiting and computing, but not time on a busy processor', async () => {
  const waited = stopwatch()
  for (let times = 0; times < 10; times++) await wait(20)
  expect(waited()).toBeGreaterThanOrEqual(10 * 5)

  const computed = stopwatch()
  const { user } = process.threadCpuUsage()
  while (process.threadCpuUsage().user - user < 200_000);
  expect(computed()).toBeGreaterThanOrEqual(200)

  const held = stopwatch()
  Atomics.wait(LATE, 0, 0, 300)
  await wait(1)
  expect(held()).toBeLessThan(100)
})
