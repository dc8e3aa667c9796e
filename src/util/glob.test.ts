import { describe, expect, it } from 'vitest'
import { globPattern } from './glob.ts'

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
