import { describe, expect, test } from 'vitest'
import { UNKNOWN_USAGE, ZERO_USAGE } from '../core/usage.ts'
import { formatBytes, formatCost, formatMs, formatUsage, plural, shorten, table } from './format.ts'
import { duration } from './terminal/progress.ts'

describe('numbers', () => {
  const FORMATS = { ms: formatMs, dollars: formatCost, bytes: formatBytes, seconds: duration } as const
  test.each([
    ['ms', null, '–'],
    ['ms', 0.4, '0 ms'],
    ['ms', 999, '999 ms'],
    ['ms', 1500, '1.5 s'],
    ['ms', 59_949, '59.9 s'],
    ['ms', 80_000, '1 min 20 s'],
    ['ms', 119_900, '2 min 0 s'],
    ['dollars', null, '–'],
    ['dollars', 0, '$0'],
    ['dollars', 0.00012345, '$0.00012'],
    ['dollars', 0.000000012, '$0.000000012'],
    ['dollars', 1.234, '$1.23'],
    ['bytes', 0, '0 B'],
    ['bytes', 1500, '1.5 kB'],
    ['bytes', 123_456_789, '123 MB'],
    ['bytes', 5e15, '5000 TB'],
    ['seconds', 0.2, '1 s'],
    ['seconds', 59, '59 s'],
    ['seconds', 61, '1 min 01 s'],
    ['seconds', 3600, '1 h 00 min'],
    ['seconds', 7790, '2 h 10 min'],
  ] as const)('%s: %s is %s', (unit, value, text) => {
    const format: (value: never) => string = FORMATS[unit]
    expect(format(value as never)).toBe(text)
  })
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
