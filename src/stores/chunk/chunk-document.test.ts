import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stopwatch } from '../../../test/support/stopwatch.ts'
import type { Chunk, DocumentFormat } from '../../core/store.ts'
import { chunkDocument } from './chunk-document.ts'

const FORMATS: readonly DocumentFormat[] = ['text', 'markdown', 'code', 'json', 'csv']

/** Fragments of documents that are hard to cut. */
const FRAGMENTS = [
  ['# One\n', '### Three\n', 'Title\n=====\n', '---\n', '\n', '\n\n', '\r\n', '\f', '\t', '    ', ' '],
  [
    'word ',
    'Sentence one. ',
    'Is it? ',
    'e.g. this, ',
    'https://example.org/a/b?c=d ',
    'x'.repeat(90),
    ' '.repeat(90),
    '\n'.repeat(90),
  ],
  ['```js\n', '~~~\n', '- item\n', '  - nested\n', '1. first\n', '| a | b |\n', '|---|---|\n', '> quote\n'],
  ['{', '}', '[', ']', '"', '"key": ', ',', ':', '\\', '"text, quoted"', 'a,b,c\n', 'a\tb\n'],
  ['function f() {\n', '  return 1\n', '}\n', '// why\n'],
  ['👩‍👩‍👧', 'e\u0301', '🇩🇪', '漢字。', 'かな、', 'ไทย', 'שלום ', '\ud83d', '\u0000', '\u00a0', '\ufeff'],
].flat()

const text = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 120, size: 'max' }).map((parts) => parts.join(''))
const maxChars = fc.integer({ min: 64, max: 400 })
const format = fc.constantFrom(...FORMATS)

const cut = (text: string, format: DocumentFormat = 'text', maxChars?: number): Chunk[] =>
  chunkDocument({ source: 'a.txt', text, format }, maxChars === undefined ? {} : { maxChars })

describe('every text in every format', () => {
  test('chunks are ranges of the text, in order, and leave out only white space', () => {
    fc.assert(
      fc.property(text, format, maxChars, (text, format, maxChars) => {
        let at = 0
        for (const chunk of cut(text, format, maxChars)) {
          expect(text.slice(chunk.start, chunk.end)).toBe(chunk.text)
          expect(chunk.start).toBeGreaterThanOrEqual(at)
          expect(text.slice(at, chunk.start).trim()).toBe('')
          expect(chunk.text.trim()).not.toBe('')
          at = chunk.end
        }
        expect(text.slice(at).trim()).toBe('')
      }),
      { numRuns: 1500 },
    )
  })

  test('no chunk is longer than the limit', () => {
    fc.assert(
      fc.property(text, format, maxChars, (text, format, maxChars) => {
        for (const chunk of cut(text, format, maxChars)) expect(chunk.text.length).toBeLessThanOrEqual(maxChars)
      }),
      { numRuns: 1500 },
    )
  })

  test('a text that fits is one chunk, and white space has no chunk', () => {
    fc.assert(
      fc.property(text, format, (text, format) => {
        expect(cut(text, format, Math.max(64, text.length))).toHaveLength(text.trim() === '' ? 0 : 1)
      }),
      { numRuns: 300 },
    )
  })

  test('no grapheme cluster is split', () => {
    const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
    fc.assert(
      fc.property(text, format, maxChars, (text, format, maxChars) => {
        const borders = new Set([...segmenter.segment(text)].map(({ index }) => index)).add(text.length)
        for (const chunk of cut(text, format, maxChars)) {
          expect(borders).toContain(chunk.start)
          expect(borders).toContain(chunk.end)
        }
      }),
      { numRuns: 800 },
    )
  })

  test('ids are unique within a document, lines count from 1', () => {
    fc.assert(
      fc.property(text, format, maxChars, (text, format, maxChars) => {
        const chunks = cut(text, format, maxChars)
        expect(new Set(chunks.map(({ id }) => id)).size).toBe(chunks.length)
        if (text.includes('\r') && !text.includes('\n')) return
        for (const { start, end, lines } of chunks) {
          expect(lines).toEqual([text.slice(0, start).split('\n').length, text.slice(0, end).split('\n').length])
        }
      }),
      { numRuns: 400 },
    )
  })
})

const sentences = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `Sentence number ${index + from} says something of its own about the matter.`).join(
    ' ',
  )

describe('prose', () => {
  test('is cut between paragraphs where they fit', () => {
    const paragraphs = Array.from({ length: 9 }, (_, index) => sentences(4, index * 4))
    const chunks = cut(paragraphs.join('\n\n'), 'text', 700)
    for (const { text } of chunks) for (const part of text.split('\n\n')) expect(paragraphs).toContain(part)
  })

  test('is cut between sentences where a paragraph does not fit, into parts of like size', () => {
    const chunks = cut(sentences(30), 'text', 1000)
    for (const { text } of chunks) expect(text).toMatch(/^Sentence number.*matter\.$/s)
    const sizes = chunks.map(({ text }) => text.length)
    expect(Math.min(...sizes)).toBeGreaterThan(400)
  })

  test('hard-wrapped prose is not cut at line ends', () => {
    const words = sentences(60).split(' ')
    const lines = ['']
    for (const word of words) {
      if ((lines.at(-1) ?? '').length + word.length > 72) lines.push(word)
      else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim()
    }
    for (const { text } of cut(lines.join('\n'), 'text', 900)) expect(text).toMatch(/^Sentence.*matter\.$/s)
  })

  test('intentional lines, as in a log, are not split', () => {
    const log = Array.from(
      { length: 60 },
      (_, index) => `10:00:${index} worker started. Queue has ${'#'.repeat((index * 7) % 40)} jobs left`,
    )
    for (const { text } of cut(log.join('\n'), 'text', 500)) for (const line of text.split('\n')) expect(log).toContain(line)
  })

  test.each([
    ['abbreviations', 'Dr. Smith met Mrs. Jones, e.g. at No. 7 of St. James. '],
    ['initials', 'The book is by J. R. R. Tolkien, not by C. S. Lewis at all. '],
    ['decimals and versions', 'It grew by 3.5 percent from 1.2.3 to 1.3.0 in a year. '],
    ['quotes', 'He said "Stop. Now." and left the room without a word! '],
  ])('%s do not end a sentence', (_, sentence) => {
    const whole = sentence.trim()
    for (const { text } of cut(sentence.repeat(20), 'text', 200)) {
      expect(text.startsWith(whole.slice(0, 10))).toBe(true)
      expect(text.endsWith(whole.slice(-6))).toBe(true)
    }
  })

  test('sentences of scripts without spaces are cut after their full stops', () => {
    for (const { text } of cut('これは一つの文です。次の文も同じ長さです！'.repeat(30), 'text', 100))
      expect(text).toMatch(/[。！]$/u)
  })

  test('a word longer than the limit is cut', () => {
    const chunks = cut('x'.repeat(10_000))
    expect(chunks.map(({ text }) => text.length)).toEqual([2000, 2000, 2000, 2000, 2000])
  })

  test('underlined lines are headings', () => {
    const chunks = cut(`Guide\n=====\n\n${sentences(40)}\n\nSetup\n-----\n\n${sentences(40)}`)
    expect(chunks[0]?.headings).toEqual(['Guide'])
    expect(chunks.at(-1)?.headings).toEqual(['Guide', 'Setup'])
  })

  test('pages are counted at form feeds', () => {
    const pages = [1, 2, 3].map((page) => `Page ${page}. ${sentences(30)}`)
    const chunks = chunkDocument({ source: 'a.pdf', text: pages.join('\f'), extracted: true, metadata: { kind: 'pdf' } })
    expect(chunks.find(({ text }) => text.startsWith('Page 2.'))?.metadata).toEqual({ kind: 'pdf', page: 2 })
    expect(chunks[0]?.lines).toBeUndefined()
  })
})

describe('Markdown', () => {
  test('a section that is large enough is a chunk of its own under its path', () => {
    const chunks = cut(
      `# Top\n\n${sentences(20)}\n\n## Left *and* \`right\`\n\n${sentences(20)}\n\n# [Other](x.md) ##\n\n${sentences(20)}`,
      'markdown',
    )
    expect(chunks.map(({ headings }) => headings)).toEqual([['Top'], ['Top', 'Left and right'], ['Other']])
    expect(chunks.map(({ text }) => text.split('\n')[0])).toEqual(['# Top', '## Left *and* `right`', '# [Other](x.md) ##'])
  })

  test('small sections are joined under their common headings', () => {
    const chunks = cut(
      `# Top\n\n${Array.from({ length: 30 }, (_, index) => `## Part ${index}\n\n${sentences(2)}\n`).join('\n')}`,
      'markdown',
    )
    expect(chunks.length).toBeLessThan(6)
    for (const { headings } of chunks) expect(headings).toEqual(['Top'])
  })

  test('a heading stays with its text', () => {
    const chunks = cut(`# A\n\n## B\n\n### C\n\n${'x'.repeat(1990)}\n\n## D\n\n${sentences(80)}`, 'markdown')
    for (const { text } of chunks) expect(text.trim()).not.toMatch(/^(#+ \w\s*)+$|# \w$/)
  })

  test('code fences and tables that fit stay whole, also inside lists and with headings in them', () => {
    const fence = ['```sh', '# no heading', 'run --it', '', 'run --again', '```'].join('\n')
    const nested = ['- item', '', '  ```sh', '  # no heading', '', '  ```', '- next'].join('\n')
    const table = ['| a | b |', '|---|---|', ...Array.from({ length: 8 }, (_, row) => `| ${row} | ${row * row} |`)].join('\n')
    const source = Array.from({ length: 12 }, () => [sentences(3), fence, sentences(2), table, nested].join('\n\n')).join('\n\n')
    const chunks = cut(source, 'markdown', 700)
    for (const { text, headings } of chunks) {
      expect((text.match(/```/g) ?? []).length % 2).toBe(0)
      expect((text.match(/\| a \| b \|/g) ?? []).length).toBe((text.match(/\| 7 \| 49 \|/g) ?? []).length)
      expect(headings).toBeUndefined()
    }
  })

  test('a long table is cut between rows, and its chunks name the columns', () => {
    const rows = Array.from({ length: 80 }, (_, row) => `| name ${row} | a value that goes on for a while, number ${row} |`)
    const chunks = cut(`# Options\n\n| Name | Value |\n|---|---|\n${rows.join('\n')}`, 'markdown')
    expect(chunks.length).toBeGreaterThan(2)
    expect(chunks[0]?.headings).toEqual(['Options'])
    for (const { text, headings } of chunks.slice(1)) {
      expect(headings).toEqual(['Options', 'Name | Value'])
      for (const line of text.split('\n')) expect(rows).toContain(line)
    }
  })

  test('a long list is cut between items, a long item between its blocks', () => {
    const items = Array.from({ length: 40 }, (_, index) => `${index + 1}. ${sentences(2, index)}\n   - with a detail`)
    for (const { text } of cut(items.join('\n'), 'markdown')) expect(text).toMatch(/^\d+\. .*detail$/s)
    const long = `- Item\n\n${Array.from({ length: 9 }, () => `  ${sentences(6)}`).join('\n\n')}\n- Next`
    for (const { text } of cut(long, 'markdown').slice(1)) expect(text).toMatch(/^ {2}Sentence.*(matter\.|- Next)$/s)
  })

  test('a block stays with the sentence that introduces it with a colon', () => {
    const source = `${sentences(20)}\n\nThe command is:\n\n\`\`\`\nrun\n\`\`\`\n\n${sentences(24)}`
    expect(cut(source, 'markdown').some(({ text }) => text.includes('The command is:\n\n```\nrun\n```'))).toBe(true)
  })

  test('front matter is one block, and is not a heading', () => {
    const chunks = cut(`---\ntitle: A\n# comment\n---\n\n# Top\n\n${sentences(60)}`, 'markdown')
    expect(chunks[0]?.text).toMatch(/^---\ntitle: A\n# comment\n---\n\n# Top/)
    expect(chunks.at(-1)?.headings).toEqual(['Top'])
  })
})

describe('source code', () => {
  const definition = (name: string, lines: number): string =>
    [
      `/** What ${name} does. */`,
      `export function ${name}(input: string): string {`,
      ...Array.from({ length: lines }, (_, line) => `  step(${line}, input)`),
      '}',
    ].join('\n')

  test('a definition that fits stays whole, with the comment above it', () => {
    const source = Array.from({ length: 12 }, (_, index) => definition(`f${index}`, 30)).join('\n\n')
    for (const { text } of cut(source, 'code')) {
      expect(text).toMatch(/^\/\*\* What/)
      expect(text.endsWith('\n}')).toBe(true)
    }
  })

  test('a longer definition is cut between lines, under its name', () => {
    const source = `class Reader:\n    """Reads."""\n\n    def read(self):\n${'        self.step()\n'.repeat(300)}\n    def close(self):\n        pass\n`
    const chunks = cut(source, 'code')
    expect(chunks.length).toBeGreaterThan(2)
    for (const { text } of chunks) for (const line of text.split('\n')) expect(source.split('\n')).toContain(line)
    expect(chunks[1]?.headings).toEqual(['class Reader', 'def read(self)'])
    expect(chunks[1]?.text.startsWith('        self.step()')).toBe(true)
  })

  test('branches and brackets on their own line belong to the block above', () => {
    const branch = 'if (a) {\n  one()\n}\nelse {\n  two()\n}'
    const source = Array.from({ length: 200 }, () => branch).join('\n')
    for (const { text } of cut(source, 'code')) expect(text).toMatch(/^if \(a\).*\}$/s)
  })
})

describe('data', () => {
  test('JSON is cut between members that fit, under their keys', () => {
    const server = (index: number): object => ({ name: `server ${index}`, ports: [index, index + 1], note: sentences(3) })
    const source = JSON.stringify(
      { version: 1, servers: Array.from({ length: 40 }, (_, index) => server(index)), end: true },
      null,
      2,
    )
    const chunks = cut(source, 'json')
    for (const { text, headings } of chunks.slice(1, -1)) {
      expect(text).toMatch(/^\s*\{.*\},?$/s)
      expect(headings).toEqual(['servers'])
    }
  })

  test('JSON lines are cut between lines', () => {
    const lines = Array.from({ length: 60 }, (_, index) => JSON.stringify({ id: index, text: sentences(2), tags: ['a', 'b'] }))
    for (const { text } of cut(lines.join('\n'), 'json')) for (const line of text.split('\n')) expect(lines).toContain(line)
  })

  test('CSV is cut between rows, also where a field has line breaks, and names its columns', () => {
    const rows = Array.from({ length: 80 }, (_, row) => `${row},"line one\nline ""two"", of ${row}",${sentences(1)}`)
    const chunks = cut(`id,note,text\n${rows.join('\n')}`, 'csv')
    expect(chunks.length).toBeGreaterThan(3)
    for (const { text, headings } of chunks.slice(1)) {
      expect(headings).toEqual(['id, note, text'])
      expect(text).toMatch(/^\d+,"line one/)
    }
  })

  test.each([
    ['digits in their names', 'region,q1,q2', 'South,14,22'],
    ['years for names', 'city,2021,2022', 'Oslo,140,155'],
    ['decimals with a comma', 'Produkt;Preis;Gewicht', 'Zange;8,50;0,4'],
    ['a title above', 'Figures of May\nregion,q1,q2', 'South,14,22'],
  ])('columns of a table with %s are named above its parts', (_, head, row) => {
    const chunks = cut(`${head}\n${`${row}\n`.repeat(300)}`, 'csv')
    expect(chunks.length).toBeGreaterThan(1)
    const names = (head.split('\n').at(-1) ?? '').split(/[,;]/).join(', ')
    for (const { headings } of chunks.slice(1)) expect(headings).toEqual([names])
  })

  test('an unclosed quote does not turn the rest of the file into one cell', () => {
    const rows = Array.from({ length: 4000 }, (_, row) => `${row},a "quoted" word,"${row === 3 ? 'open' : 'closed"'}`)
    const chunks = cut(rows.join('\n'), 'csv')
    for (const { text } of chunks) expect(text).toMatch(/^\d+,/)
  })
})

describe('ids', () => {
  const section = (name: string): string => `## ${name}\n\n${sentences(10)} ${name}.\n`
  const source = ['a', 'b', 'c', 'd'].map(section).join('\n')

  test('an insertion does not change the ids below it', () => {
    const before = cut(source, 'markdown').map(({ id }) => id)
    const after = cut(`## New\n\n${sentences(20)}\n\n${source}`, 'markdown').map(({ id }) => id)
    expect(after.slice(1)).toEqual(before)
  })

  test('equal passages have distinct ids, within a document and across documents', () => {
    const chunks = cut('x'.repeat(6000))
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(3)
    expect(chunkDocument({ source: 'b.txt', text: 'x' })[0]?.id).not.toBe(chunkDocument({ source: 'a.txt', text: 'x' })[0]?.id)
  })

  test('a paragraph inserted into a long text without headings changes few ids', () => {
    const paragraphs = Array.from({ length: 300 }, (_, index) => sentences(1 + ((index * 7) % 5), index * 10))
    const before = new Set(cut(paragraphs.join('\n\n')).map(({ text }) => text))
    const after = cut(['A new beginning.', ...paragraphs].join('\n\n'))
    expect(after.filter(({ text }) => !before.has(text)).length).toBeLessThan(after.length / 3)
  })
})

test('a chunk of Markdown names the headings inside it, not the comments of its code', () => {
  const [chunk] = cut(
    '# Using it\n\nText.\n\n## Uninstalling\n\n```sh\n# a comment\nrm it\n```\n\nMore\n----\n\nEnd.',
    'markdown',
  )
  expect(chunk?.names).toEqual(['Using it', 'Uninstalling', 'More'])
  expect(cut('No heading.', 'markdown')[0]).not.toHaveProperty('names')
  expect(cut('# Not Markdown')[0]).not.toHaveProperty('names')
})

test('title and metadata are copied, and an invalid limit is refused', () => {
  const [chunk] = chunkDocument({ source: 'a.md', text: 'Hello.', title: 'A', metadata: { team: 'docs' } })
  expect(chunk).toMatchObject({ title: 'A', metadata: { team: 'docs' }, start: 0, end: 6, lines: [1, 1] })
  expect(() => cut('x', 'text', 10)).toThrow(/maxChars must be a whole number of at least 64, but is 10/)
  expect(() => cut('x', 'text', 100.5)).toThrow(/maxChars/)
})

test.each(FORMATS)('cuts a line of many megabytes in linear time as %s', (format) => {
  const timeOf = (size: number): number => {
    const text = 'lorem ipsum, '.repeat(size / 13)
    const elapsed = stopwatch()
    expect(cut(text, format).length).toBeGreaterThan(size / 2100)
    return elapsed()
  }
  timeOf(1_000_000)
  const small = timeOf(2_000_000)
  expect(timeOf(16_000_000)).toBeLessThan(Math.max(small * 8 * 4, 2000))
})
