import { expect, test } from 'vitest'
import { UNKNOWN_USAGE, ZERO_USAGE } from '../core/usage.ts'
import { formatBytes, formatCost, formatMs, formatUsage, plural, shorten, table } from './format.ts'
import { duration } from './terminal/progress.ts'

test('formats milliseconds', () => {
  const shown = [null, 0.4, 999, 1500, 59_949, 80_000, 119_900].map(formatMs)
  expect(shown).toEqual(['–', '0 ms', '999 ms', '1.5 s', '59.9 s', '1 min 20 s', '2 min 0 s'])
})

test('formats dollars', () => {
  const shown = [null, 0, 0.00012345, 0.000000012, 1.234].map(formatCost)
  expect(shown).toEqual(['–', '$0', '$0.00012', '$0.000000012', '$1.23'])
})

test('formats bytes', () => {
  expect([0, 1500, 123_456_789, 5e15].map(formatBytes)).toEqual(['0 B', '1.5 kB', '123 MB', '5000 TB'])
})

test('formats remaining seconds', () => {
  expect([0.2, 59, 61, 3600, 7790].map(duration)).toEqual(['1 s', '59 s', '1 min 01 s', '1 h 00 min', '2 h 10 min'])
})

test('unknown usage is not zero', () => {
  expect(formatUsage(UNKNOWN_USAGE)).toBe('tokens unknown')
  expect(formatUsage(ZERO_USAGE)).toBe('0 tokens in, 0 out')
  expect(formatUsage({ ...ZERO_USAGE, inputTokens: 5, outputTokens: null, exactness: 'estimated' })).toBe(
    'about 5 tokens in, – out',
  )
})

test('plural forms follow the count', () => {
  expect([plural(0, 'file'), plural(1, 'file'), plural(2, 'entry', 'entries')]).toEqual(['0 files', '1 file', '2 entries'])
})

test('shortened text is one line with visible control characters', () => {
  expect(shorten('a\n\u001B[2Jb', 80)).toBe('a␊␛[2Jb')
  expect(shorten('x'.repeat(100), 10)).toBe('xxxxxxxxx…')
})

test('columns are aligned, numbers to the right', () => {
  expect(
    table(
      [
        ['a', '1', 'x'],
        ['bbb', '100', ''],
      ],
      [1],
    ),
  ).toBe('a      1  x\nbbb  100\n')
})
