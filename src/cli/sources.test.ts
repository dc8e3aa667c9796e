import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Citation } from '../core/citation.ts'
import { placeOf, sourceLines, terminalLink } from './sources.ts'

const cite = (marker: string, source: string, line?: number, supported = true): Citation => ({
  marker,
  chunkId: 'c',
  source,
  start: 0,
  end: 1,
  quote: 'x',
  verdict: supported ? 'verified' : 'contradicted',
  supported,
  kind: supported ? 'verbatim' : 'number',
  claim: { start: 0, end: 1 },
  ...(line === undefined ? {} : { lines: [line, line + 3] }),
})

test.each([
  ['docs/a.md', [3, 9], '/home/ada', 'docs/a.md:3'],
  ['/home/ada/docs/a.md', [3, 9], '/home/ada', 'docs/a.md:3'],
  ['/home/ada', undefined, '/home/ada', '/home/ada'],
  ['/home/adam/a.md', undefined, '/home/ada', '/home/adam/a.md'],
  ['/home/ada/..a.md', undefined, '/home/ada', '..a.md'],
  ['https://example.org/a', undefined, '/home/ada', 'https://example.org/a'],
] as const)('%s %j seen from %s is %s', (source, lines, cwd, expected) => {
  expect(placeOf(source, { lines }, { cwd })).toBe(expected)
})

test('each marker once, by number, with its lines in order, and contradicted when one of its statements is', () => {
  const citations = [
    cite('10', 'c.md', 2),
    cite('2', 'b.md', 9),
    cite('1', 'a.md', 1),
    cite('2', 'b.md', 5, false),
    cite('2', 'b.md', 5),
  ]
  expect(sourceLines(citations, { cwd: '/' }).map(({ marker, place, verdict }) => [marker, place, verdict])).toEqual([
    ['1', 'a.md:1', 'verified'],
    ['2', 'b.md:5, 9', 'contradicted'],
    ['10', 'c.md:2', 'verified'],
  ])
})

test('QRY-RAG-022 what has pages is named with them, and opened at them', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cria-pages-')))
  writeFileSync(join(folder, 'report.pdf'), '')
  const [line] = sourceLines(
    [
      { ...cite('1', 'report.pdf'), page: 3 },
      { ...cite('1', 'report.pdf'), page: 7 },
    ],
    { cwd: folder },
  )
  rmSync(folder, { recursive: true })
  expect(line?.place).toBe('report.pdf, pages 3, 7')
  expect(line?.url).toMatch(/report\.pdf#page=3$/)
})

test('only what is there is a link, and its URL is encoded', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cria-sources-')))
  const name = 'a b\u001B]0;x\u0007#?%.md'
  writeFileSync(join(folder, name), '')
  const [there, gone, web, script] = sourceLines(
    [cite('1', name), cite('2', 'gone.md'), cite('3', 'https://example.org/ä'), cite('4', 'javascript:alert(1)')],
    { cwd: folder },
  )
  rmSync(folder, { recursive: true })
  expect(there?.url).toMatch(/\/a%20b%1B%5D0;x%07%23%3F%25\.md$/)
  expect(gone?.url).toBeUndefined()
  expect(web?.url).toBe('https://example.org/%C3%A4')
  expect(script?.url).toBeUndefined()
})

test('a link cannot be ended from inside', () => {
  const link = terminalLink('a\u001B\\b\u0007', 'file:///a\u001B\\b')
  expect(link.split('\u001B')).toHaveLength(5)
  expect(link).not.toContain('\u0007')
})

test('from another folder than the one that was indexed', () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cria-base-')))
  mkdirSync(join(base, 'docs'))
  writeFileSync(join(base, 'docs', 'a.md'), '')
  const places = (cwd: string): readonly string[] =>
    ['docs/a.md', 'docs/gone.md', 'turn:1'].map((source) => placeOf(source, {}, { cwd, base }))
  expect(places(base)).toEqual(['docs/a.md', 'docs/gone.md', 'turn:1'])
  expect(places(join(base, 'docs'))).toEqual(['a.md', 'docs/gone.md', 'turn:1'])
  expect(places('/elsewhere')).toEqual([join(base, 'docs', 'a.md'), 'docs/gone.md', 'turn:1'])
  const [line] = sourceLines([cite('1', 'docs/a.md')], { cwd: '/elsewhere', base })
  rmSync(base, { recursive: true })
  expect(line?.url).toMatch(/\/docs\/a\.md$/)
})

test('names the copies of a text, and counts those that are too many to name', () => {
  const at = (source: string): { id: string; source: string; start: number; end: number } => ({
    id: source,
    source,
    start: 0,
    end: 9,
  })
  const copied = { ...cite('1', 'a.md', 3), alsoIn: ['b.md', 'b.md', 'a.md', 'c.md', 'd.md', 'e.md'].map(at) }
  expect(sourceLines([copied], { cwd: '/home/ada' })).toMatchObject([{ place: 'a.md:3', alsoIn: 'b.md, c.md, d.md and 1 more' }])
  expect(sourceLines([cite('1', 'a.md')], { cwd: '/home/ada' })[0]?.alsoIn).toBeUndefined()
})
