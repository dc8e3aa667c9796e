import { once } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pdf } from '../../../test/support/document-files.ts'
import { watchThreads } from '../../../test/support/threads.ts'
import { extractApart } from './extract-apart.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const read = async (text: string): Promise<string> =>
  (await extractApart({ extractor: 'pdf', bytes: pdf([[text]]) }, { timeout: 60_000 })).text

test('a thread ends after some seconds without another file', async () => {
  using threads = watchThreads()
  expect(await read('One.')).toBe('One.')
  vi.advanceTimersByTime(9000)
  expect(await read('Two.')).toBe('Two.')
  vi.advanceTimersByTime(9000)
  expect(await read('Three.')).toBe('Three.')
  const [first, ...others] = threads.started
  expect(others).toEqual([])
  if (first === undefined) throw new Error('No thread was started.')
  const ended = once(first.worker, 'exit')
  vi.advanceTimersByTime(11_000)
  await ended
  expect(vi.getTimerCount()).toBe(0)
  expect(await read('Four.')).toBe('Four.')
  expect(threads.started).toHaveLength(2)
})
