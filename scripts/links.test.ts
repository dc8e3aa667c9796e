import { expect, test } from 'vitest'
import { anchors, brokenLinks, readLinks } from './links.ts'

test('links are found inline, in images and in definitions, but not in code', () => {
  const text = ['[a](a.md "title") ![b](b.png)', '[ref]: c.md', '`[d](d.md)`', '```md', '[e](e.md)', '```', '[f](<f.md>)'].join(
    '\n',
  )
  expect(readLinks(text)).toEqual([
    { line: 1, target: 'a.md' },
    { line: 1, target: 'b.png' },
    { line: 2, target: 'c.md' },
    { line: 7, target: 'f.md' },
  ])
})

test('anchors follow the headings', () => {
  expect([...anchors('# The `cria` command: how?\n## Same\n## Same\n```sh\n# no heading\n```\n### [Link](x.md) & more')]).toEqual(
    ['the-cria-command-how', 'same', 'same-1', 'link--more'],
  )
})

test('a link leads to a file, a folder, a heading or out of the project', () => {
  const pages: Record<string, string> = {
    'README.md':
      '[1](docs/a.md) [2](docs) [3](docs/a.md#two) [4](#one) [5](https://example.org/x) [6](docs/none.md) [7](docs/a.md#none)\n# One',
    'docs/a.md': '## Two\n[up](../README.md) [out](../../x.md)',
  }
  const files = new Set(Object.keys(pages))
  const check = (path: string): string[] => brokenLinks(path, pages[path] ?? '', files, (other) => pages[other] ?? '')
  expect(check('README.md')).toEqual([
    'README.md:1  docs/none.md  there is no docs/none.md',
    'README.md:1  docs/a.md#none  docs/a.md has no heading #none',
  ])
  expect(check('docs/a.md')).toEqual(['docs/a.md:2  ../../x.md  there is no ../x.md'])
})
