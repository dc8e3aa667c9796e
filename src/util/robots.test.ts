import { expect, test } from 'vitest'
import { readRobots } from './robots.ts'

test.each<[string, string, readonly string[], readonly string[]]>([
  ['an empty file', '', ['/', '/a'], []],
  ['all forbidden', 'User-agent: *\nDisallow: /', [], ['/', '/a']],
  ['an empty path has no effect', 'User-agent: *\nDisallow:', ['/', '/a'], []],
  ['the longest rule decides', 'User-agent: *\nDisallow: /a\nAllow: /a/b', ['/', '/a/b/c'], ['/a', '/a/c']],
  ['of equal rules, allow wins', 'User-agent: *\nDisallow: /a\nAllow: /a', ['/a'], []],
  ['stars and ends', 'User-agent: *\nDisallow: /*.pdf$\nDisallow: /p*q', ['/a.pdf?x', '/p'], ['/a.pdf', '/x/b.pdf', '/p/1/q/2']],
  ['an end without a star', 'User-agent: *\nDisallow: /a$', ['/ab'], ['/a']],
  [
    'own rules in place of those for all',
    'User-agent: *\nDisallow: /\n\nUser-agent: Cria # ours\nDisallow: /no',
    ['/a'],
    ['/no/1'],
  ],
  ['several names of one group', 'User-agent: other\nUser-agent: *\nDisallow: /a', ['/b'], ['/a']],
  ['comments, blanks, stray rules', 'Disallow: /x\n # comment\n user-agent : *\r\n disallow : /a # b', ['/x'], ['/a']],
])('%s', (_, text, allowed, forbidden) => {
  const { allows } = readRobots(text, 'cria')
  expect(allowed.filter((path) => !allows(path))).toEqual([])
  expect(forbidden.filter((path) => allows(path))).toEqual([])
})

test('returns the delay between requests', () => {
  expect(readRobots('User-agent: *\nCrawl-delay: 2.5', 'cria').delayMs).toBe(2500)
  expect(readRobots('User-agent: *\nCrawl-delay: soon\nDisallow: /', 'cria').delayMs).toBe(0)
  expect(readRobots('User-agent: *\nCrawl-delay: 9\n\nUser-agent: cria\nDisallow: /a', 'cria').delayMs).toBe(0)
})

test('many stars on a long path do not take exponential time', () => {
  const { allows } = readRobots(`User-agent: *\nDisallow: /${'*a'.repeat(5000)}b$`, 'cria')
  expect(allows(`/${'a'.repeat(50_000)}`)).toBe(true)
})
