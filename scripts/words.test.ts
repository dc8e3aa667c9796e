import { expect, test } from 'vitest'
import { forbiddenWords } from './words.ts'

test.each([
  'cd /work/main',
  'see "/work/shared/x"',
  'at file:///root/x',
  '/Users/me/cria',
  'https://registry.npmjs.org/zod',
  'as the CEO said',
])('forbidden: %s', (text) => {
  expect(forbiddenWords('a.md', `first\n${text}`)).toEqual([expect.stringContaining('a.md:2')])
})

test.each([
  'src/work/queue.ts',
  './work/x',
  'network/work',
  'the root / of it',
  'a registry entry',
  '/workflows/',
  'const path = "/home/ada"',
])('allowed: %s', (text) => {
  expect(forbiddenWords('a.md', text)).toEqual([])
})
