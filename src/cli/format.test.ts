import { expect, test } from 'vitest'
import { UNKNOWN_USAGE, ZERO_USAGE } from '../core/usage.ts'
import { formatBytes, formatCost, formatMs, formatUsage, plural, shorten, table } from './format.ts'

test.each([
  [null, '–'],
  [0.4, '0 ms'],
  [999, '999 ms'],
  [1500, '1.5 s'],
  [59_949, '59.9 s'],
  [80_000, '1 min 20 s'],
  [119_900, '2 min 0 s'],
])('%s ms are %s', (ms, text) => {
  expect(formatMs(ms)).toBe(text)
})

test.each([
  [null, '–'],
  [0, '$0'],
  [0.00012345, '$0.00012'],
  [0.000000012, '$0.000000012'],
  [1.234, '$1.23'],
])('%s dollars are %s', (usd, text) => {
  expect(formatCost(usd)).toBe(text)
})

test.each([
  [0, '0 B'],
  [1500, '1.5 kB'],
  [123_456_789, '123 MB'],
  [5e15, '5000 TB'],
])('%s bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test('unknown usage is not zero', () => {
  expect(formatUsage(UNKNOWN_USAGE)).toBe('tokens unknown')
  expect(formatUsage(ZERO_USAGE)).toBe('0 tokens in, 0 out')
  expect(formatUsage({ ...ZERO_USAGE, inputTokens: 5, outputTokens: null, exactness: 'estimated' })).toBe(
    'about 5 tokens in, – out',
  )
})

test('counts', () => {
  expect([plural(0, 'file'), plural(1, 'file'), plural(2, 'entry', 'entries')]).toEqual(['0 files', '1 file', '2 entries'])
})

test('what is shortened stays on one line and commands no terminal', () => {
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
