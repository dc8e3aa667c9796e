import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/support/stopwatch.ts'
import { globPattern, matchesGlob, matchesPath } from './glob.ts'

describe('globs for names of files', () => {
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/deep/a.ts', true],
    ['*.ts', 'a.tsx', false],
    ['/*.ts', 'src/a.ts', false],
    ['./src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/a/b/c.ts', true],
    ['src/**', 'src/a/b', true],
    ['src/', 'lib/src/a.ts', true],
    ['**/test/**', 'a/test/b', true],
    ['**/test/**', 'a/tests/b', false],
    ['*.{js,ts}', 'a.ts', true],
    ['*.{js,ts}', 'a.css', false],
    ['{a,b{c,d}}.x', 'bd.x', true],
    ['{a,b{c,d}}.x', 'be.x', false],
    ['a?.txt', 'ab.txt', true],
    ['a?.txt', 'a🦙.txt', true],
    ['a?.txt', 'a.txt', false],
    ['[a-c].txt', 'b.txt', true],
    ['[!a-c].txt', 'b.txt', false],
    ['[]].txt', '].txt', true],
    ['[a.txt', '[a.txt', true],
    [String.raw`\*.txt`, '*.txt', true],
    [String.raw`\*.txt`, 'a.txt', false],
    ['a.b', 'aXb', false],
    ['*a*b*', 'xxaxxbxx', true],
    ['{', '{', true],
  ])('%s and %s: %s', (pattern, path, matches) => {
    expect(globPattern(pattern).matches(path)).toBe(matches)
  })

  it('a leading ! negates the pattern', () => {
    const { negated, matches } = globPattern('!*.ts')
    expect([negated, matches('a.ts')]).toEqual([true, true])
  })

  it('costs at most its length times that of the name', () => {
    const name = 'a'.repeat(2000)
    expect(globPattern(`${'a*'.repeat(1000)}b`).matches(name)).toBe(false)
    expect(globPattern(`${'**/'.repeat(200)}b`).matches('a/'.repeat(200))).toBe(false)
    expect(globPattern('{a,b}'.repeat(100)).matches(name)).toBe(false)
  })
})

describe('patterns with stars', () => {
  it.each<[kind: 'text' | 'path', pattern: string, text: string, matches: boolean]>([
    ['text', '', '', true],
    ['text', '*', '', true],
    ['text', '*', 'abc', true],
    ['text', 'a*c', 'abbc', true],
    ['text', 'a*c', 'ac', true],
    ['text', 'a*c', 'abcd', false],
    ['text', 'a*b*c', 'a-b-b-c', true],
    ['text', 'aa*aa', 'aaa', false],
    ['text', 'a.c', 'abc', false],
    ['text', '(a+)+$', '(a+)+$', true],
    ['path', '/r/src/**', '/r/src/a/b', true],
    ['path', '/r/src/**', '/r/src', true],
    ['path', '/r/src/**', '/r/srcx', false],
    ['path', '/r/*', '/r/a', true],
    ['path', '/r/*', '/r/a/b', false],
    ['path', '/r/**/x.ts', '/r/x.ts', true],
    ['path', '/r/**/x.ts', '/r/a/b/x.ts', true],
    ['path', '/r/**/*.env', '/r/a/.env', true],
    ['path', '/**', '/', true],
  ])('%s %j and %j: %s', (kind, pattern, text, matches) => {
    expect((kind === 'path' ? matchesPath : matchesGlob)(pattern, text)).toBe(matches)
  })

  it('match like the equivalent regular expression, without its worst case', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 12 })
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 }), (pattern, text) => {
        expect(matchesGlob(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text))
      }),
    )
    const elapsed = stopwatch()
    expect(matchesGlob(`${'*a'.repeat(40)}b`, 'a'.repeat(100_000))).toBe(false)
    expect(matchesPath(`${'/**/a'.repeat(30)}/b`, '/a'.repeat(3000))).toBe(false)
    expect(elapsed()).toBeLessThan(1000)
  })
})
