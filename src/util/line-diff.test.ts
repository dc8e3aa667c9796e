import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countChanges, unifiedDiff } from './line-diff.ts'

/** Returns the result of `patch`. */
function applied(before: string, diff: string): string {
  const lines = before.split('\n').slice(0, -1)
  const made: string[] = []
  let at = 0
  for (const line of diff.split('\n').slice(2)) {
    const hunk = /^@@ -(\d+),(\d+) /.exec(line)
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1)
      made.push(...lines.slice(at, start))
      at = start
    } else if (line.startsWith('+')) made.push(line.slice(1))
    else if (line.startsWith('-')) expect(lines[at++]).toBe(line.slice(1))
    else if (line.startsWith(' ')) {
      expect(lines[at]).toBe(line.slice(1))
      made.push(lines[at++] ?? '')
    }
  }
  return [...made, ...lines.slice(at)].map((line) => `${line}\n`).join('')
}

describe('unified diff', () => {
  it('shows hunks with three lines around', () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('')
    const after = before.replace('line 3\n', 'LINE 3\nmore\n').replace('line 25\n', '')
    expect(unifiedDiff('a.txt', before, after).split('\n')).toEqual([
      '--- a.txt',
      '+++ a.txt',
      '@@ -1,6 +1,7 @@',
      ' line 1',
      ' line 2',
      '-line 3',
      '+LINE 3',
      '+more',
      ' line 4',
      ' line 5',
      ' line 6',
      '@@ -22,7 +23,6 @@',
      ' line 22',
      ' line 23',
      ' line 24',
      '-line 25',
      ' line 26',
      ' line 27',
      ' line 28',
    ])
    expect(countChanges(unifiedDiff('a.txt', before, after))).toEqual({ added: 2, removed: 2 })
  })

  it('marks a missing last line end, new and emptied files', () => {
    expect(unifiedDiff('a', 'x\n', 'x')).toBe('--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+x\n\\ No newline at end of file')
    expect(unifiedDiff('a', '', 'x\n')).toBe('--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+x')
    expect(unifiedDiff('a', 'x\n', '')).toBe('--- a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x')
    expect(unifiedDiff('a', 'x', 'x')).toBe('')
  })

  it('turns the first text into the second when applied', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 25 })
      .map((lines) => lines.map((line) => `${line}\n`).join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = unifiedDiff('f', before, after)
        expect(diff === '' ? before : applied(before, diff)).toBe(after)
      }),
    )
  })

  it('handles large texts', () => {
    const lines = (seed: number): string => Array.from({ length: 200_000 }, (_, index) => `${index * seed}\n`).join('')
    expect(countChanges(unifiedDiff('f', lines(3), lines(7)))).toMatchObject({ added: expect.any(Number) as number })
  })
})
