import { describe, expect, it } from 'vitest'
import { chosenFilter, filterOf } from './filter-options.ts'

const here = { cwd: '/home/x/project', base: '/home/x/project' }
const none = { source: [], filter: [] }

describe('--filter', () => {
  it.each<[words: string[], filter: ReturnType<typeof filterOf>]>([
    [[], undefined],
    [['status=final'], { status: ['final'] }],
    [['year=1874'], { year: ['1874', 1874] }],
    [['open=true'], { open: ['true', true] }],
    [['title='], { title: ['', null] }],
    [['year=1874', 'year=x', 'a=b=c'], { year: ['1874', 1874, 'x'], a: ['b=c'] }],
    [["it's); DROP TABLE=1 OR 1=1"], { "it's); DROP TABLE": ['1 OR 1=1'] }],
    [['__proto__=x'], { ['__proto__']: ['x'] }],
  ])('%j', (filter, expected) => {
    expect(filterOf({ ...none, filter }, here)).toEqual(expected)
  })

  it('requires KEY=VALUE', () => {
    for (const word of ['x', '=x', '']) expect(() => filterOf({ ...none, filter: [word] }, here)).toThrow(/KEY=VALUE/)
  })
})

describe('--source', () => {
  const docs = { cwd: '/home/x/project/docs', base: '/home/x/project' }
  it.each<[word: string, from: typeof here, tests: unknown[]]>([
    ['*.md', here, [{ glob: '*.md' }]],
    ['!*.md', here, [{ glob: '!*.md' }]],
    ['docs/**', here, [{ glob: 'docs/**' }, { glob: '/home/x/project/docs/**' }]],
    ['./docs/', here, ['docs', { glob: 'docs/**' }, '/home/x/project/docs', { glob: '/home/x/project/docs/**' }]],
    ['api/*.md', docs, [{ glob: 'docs/api/*.md' }, { glob: '/home/x/project/docs/api/*.md' }]],
    ['../src/*', docs, [{ glob: 'src/*' }, { glob: '/home/x/project/src/*' }]],
    ['..', docs, ['**', { glob: '**/**' }]],
    ['.', here, ['**', { glob: '**/**' }]],
    ['https://example.com/a', here, ['https://example.com/a', { glob: 'https://example.com/a/**' }]],
    ['!docs', here, expect.arrayContaining([{ glob: '!/docs' }, { glob: '!docs/**' }])],
  ])('%s from %j', (word, from, expected) => {
    const found = filterOf({ ...none, source: [word] }, from)?.['source']
    expect(found).toEqual(expected)
  })

  it('is joined with --filter source=', () => {
    expect(filterOf({ source: ['*.md'], filter: ['source=a b.txt'] }, here)).toEqual({ source: ['a b.txt', { glob: '*.md' }] })
  })
})

describe('--source with a name as printed below an answer', () => {
  const held = new Set(['docs/a.md', 'report.pdf', 'api/docs/a.md', 'turn:1'])
  const holdsAny = async (filter: NonNullable<ReturnType<typeof filterOf>>): Promise<boolean> =>
    [filter['source']].flat().some((test) => typeof test === 'string' && held.has(test))
  const MEANT = {
    '/home/x/project': { 'docs/a.md': 'docs/a.md', 'report.pdf, pages 3, 7': 'report.pdf' },
    '/home/x/project/docs': { 'a.md': 'a.md' },
    '/home/x/project/api': { 'docs/a.md': 'docs/a.md' },
    '/elsewhere': {
      'docs/a.md': '/home/x/project/docs/a.md',
      '!docs/a.md:3': '!/home/x/project/docs/a.md',
      'turn:1': '/home/x/project/turn:1',
      'none.md:3': 'none.md:3',
    },
  }
  const rows = Object.entries(MEANT).flatMap(([cwd, words]) =>
    Object.entries(words).map(([word, meant]) => ({ cwd, word, meant })),
  )
  it.each(rows)('$word in $cwd', async ({ cwd, word, meant }) => {
    const from = { cwd, base: '/home/x/project' }
    expect(await chosenFilter({ ...none, source: [word] }, from, holdsAny)).toEqual(filterOf({ ...none, source: [meant] }, from))
  })
})
