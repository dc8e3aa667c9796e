import { expect, test } from 'vitest'
import { mutantsOf } from './mutate.ts'

test.each<[code: string, mutants: string[]]>([
  ['a === b', ['a !== b']],
  ['a < b && c', ['a < b || c', 'a <= b && c']],
  ['a ?? b ?? c', ['((a ?? b) && (c))', '((a) && (b)) ?? c']],
  ['if (a) b()', ['if (true) b()', 'if (false) b()', 'if (a) ;']],
  ['a = b ? 1 : false', ['a = true ? 1 : false', 'a = false ? 1 : false', 'a = b ? (1 + 1) : false', 'a = b ? 1 : true']],
  ['await close()', [';']],
  ["let a: 1 | true = 'x'", []],
])('%s becomes %j', (code, expected) => {
  const mutants = mutantsOf('a.ts', code)
  expect(mutants.map(({ start, end, to }) => code.slice(0, start) + to + code.slice(end))).toEqual(expected)
})
