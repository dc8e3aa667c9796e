import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { progressBar, progressLine, reportProgress } from './progress.ts'

test.each([
  [{ done: 0, total: 200 }, 0, 'Indexing  ░░░░░░░░░░░░░░░░░░░░░░░░    0 %  0/200 files'],
  [{ done: 50, total: 200 }, 5000, 'Indexing  ██████░░░░░░░░░░░░░░░░░░   25 %  50/200 files  10 files/s  15 s left'],
  [{ done: 1, total: 3 }, 4000, 'Indexing  ████████░░░░░░░░░░░░░░░░   33 %  1/3 files  0.3 files/s  8 s left'],
  [{ done: 0, total: 1, part: 0.25 }, 5000, 'Indexing  ██████░░░░░░░░░░░░░░░░░░   25 %  0/1 files  15 s left'],
  [{ done: 0, total: 1, part: 0.0001 }, 600, 'Indexing  ░░░░░░░░░░░░░░░░░░░░░░░░    0 %  0/1 files'],
  [{ done: 200, total: 200 }, 10_000, 'Indexing  ████████████████████████  100 %  200/200 files  20 files/s'],
  [{ done: 300, total: 200 }, 10_000, 'Indexing  ████████████████████████  100 %  300/200 files  30 files/s'],
  [{ done: 42 }, 2000, 'Indexing  42 files  21 files/s'],
  [{ done: 0, total: 0 }, 2000, 'Indexing  0/0 files'],
])('%o after %i ms', (progress, elapsed, expected) => {
  expect(progressBar({ label: 'Indexing', unit: 'files', ...progress }, elapsed, 200)).toBe(expected)
})

test('the current file is shown by the end of its path if there is room', () => {
  const progress = { label: 'Indexing', done: 1, unit: 'files', current: 'a/long/path/to/\u001B[2Jsome/document.md' }
  expect(progressBar(progress, 0, 44)).toBe('Indexing  1 files  …to/␛[2Jsome/document.md')
  expect(progressBar(progress, 0, 24)).toBe('Indexing  1 files')
})

test('the line is never wider than the terminal', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.option(fc.nat(), { nil: undefined }),
      fc.nat(),
      fc.integer({ min: 1, max: 300 }),
      fc.string(),
      (done, total, elapsed, columns, current) => {
        const line = progressBar(
          { label: 'Indexing', done, ...(total === undefined ? {} : { total }), unit: 'files', current },
          elapsed,
          columns,
        )
        expect(line.length).toBeLessThan(columns)
        expect(line).not.toContain('\n')
      },
    ),
  )
})

test('a log line is a sentence', () => {
  expect(progressLine({ label: 'Indexing', done: 1200, total: 3600, unit: 'files' }, 60_000)).toBe(
    'Indexing: 1200 of 3600 files, 20 files/s, 2 min 00 s left',
  )
})

const written: string[] = []
const target = (live: boolean): Parameters<typeof reportProgress>[0] => ({
  writeRaw: async (text) => void written.push(text),
  columns: 80,
  live,
})
beforeEach(() => {
  written.length = 0
})

test('a bar is drawn at most ten times a second, and erased at the end', () => {
  let now = 0
  const reporter = reportProgress(target(true), { now: () => now })
  for (; now <= 1000; now += 10) reporter.show({ label: 'Indexing', done: now, unit: 'files' })
  expect(written.length).toBe(8)
  reporter.clear()
  reporter.clear()
  expect(written.at(-1)).toBe('\r\u001B[K')
  expect(written.length).toBe(9)
})

test('a pipe receives a line every ten seconds, without escape codes', () => {
  let now = 0
  const reporter = reportProgress(target(false), { now: () => now })
  for (; now <= 25_000; now += 100) reporter.show({ label: 'Indexing', done: now, unit: 'files' })
  reporter.clear()
  expect(written).toEqual(['Indexing: 10000 files, 1000 files/s\n', 'Indexing: 20000 files, 1000 files/s\n'])
})
