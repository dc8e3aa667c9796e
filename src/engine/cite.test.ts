import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Retrieved } from '../core/message.ts'
import { readCitations } from './cite.ts'

const TEXT = 'The mill was built in 1874.\nIt ground rye for “three” villages — until the flood of 1902 took its wheel.'
const passage = (marker: string, text = TEXT): Retrieved => ({
  marker,
  origin: 'docstore',
  store: 'docs',
  chunk: {
    id: `chunk-${marker}`,
    text,
    source: 'mill.md',
    start: 100,
    end: 100 + text.length,
    lines: [7, 8],
    metadata: {},
    score: 1,
  },
})
const read = (answer: string): [string, boolean, string][] =>
  readCitations(answer, [passage('1'), passage('2', 'Nothing to do with it at all.')]).map(({ marker, supported, quote }) => [
    marker,
    supported,
    quote,
  ])

describe('readCitations', () => {
  it('QRY-RAG-022 names chunk, source, range and quoted text', () => {
    expect(readCitations('The mill was built in 1874. [1]', [passage('1')])).toEqual([
      {
        marker: '1',
        chunkId: 'chunk-1',
        source: 'mill.md',
        start: 100,
        end: 127,
        quote: 'The mill was built in 1874.',
        supported: true,
        lines: [7, 7],
        kind: 'verbatim',
      },
    ])
  })

  it.each([
    [
      'a quotation in the middle of a sentence',
      'They say it "ground rye for “three” villages", no more [1].',
      [['1', true, 'ground rye for “three” villages']],
    ],
    [
      'other quotes and dashes',
      `It ground rye for "three" villages - until the flood [1]`,
      [['1', true, 'It ground rye for “three” villages — until the flood']],
    ],
    ['words of its own', 'Until a flood took the wheel in 1902, it ground rye for villages. [1]', [['1', true, TEXT.slice(28)]]],
    ['an invented quotation', 'It "was painted blue by the miller" [1].', [['1', false, 'was painted blue by the miller']]],
    ['a number that is not there', 'The mill was built in 1875. [1]', [['1', false, 'The mill was built in 1875.']]],
    ['another passage', 'The mill was built in 1874. [2]', [['2', false, 'The mill was built in 1874.']]],
    ['a passage that does not exist', 'The mill was built in 1874. [9]', [['9', false, 'The mill was built in 1874.']]],
    [
      'two markers',
      'The mill was built in 1874. [1][2]',
      [
        ['1', true, 'The mill was built in 1874.'],
        ['2', false, 'The mill was built in 1874.'],
      ],
    ],
    [
      'two markers in one bracket',
      'The mill was built in 1874. [1, 2]',
      [
        ['1', true, 'The mill was built in 1874.'],
        ['2', false, 'The mill was built in 1874.'],
      ],
    ],
    [
      'a list',
      '- The mill was built in 1874. [1]\n- It was blue and of wood. [1]',
      [
        ['1', true, 'The mill was built in 1874.'],
        ['1', false, 'It was blue and of wood.'],
      ],
    ],
    ['a statement with code in it', 'The mill was built in `1874`. [1]', [['1', true, 'The mill was built in 1874.']]],
    [
      'code, then another statement',
      '`x` [1]\nThe mill was built in 1874. [1]',
      [
        ['1', false, 'x'],
        ['1', true, 'The mill was built in 1874.'],
      ],
    ],
    ['code', 'Use `a[1]` and\n```\nb[1]\n```', []],
    ['no marker', 'The mill was built in 1874.', []],
  ])('QRY-RAG-022 reads %s', (_, answer, expected) => {
    expect(read(answer)).toEqual(expected)
  })

  it('a supported citation is a slice of its chunk, whatever the answer says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (before, text) => {
        for (const { supported, start, end, quote } of readCitations(`${before} ${text} [1]`, [passage('1', text)])) {
          if (supported) expect(text.slice(start - 100, end - 100)).toBe(quote)
        }
      }),
    )
  })
})

describe('readings of an answer', () => {
  const kinds = (answer: string): (string | undefined)[][] =>
    readCitations(answer, [
      passage('1'),
      passage('2', 'Peter bought a barge. It did not sink. His sister sold salt [4] in Ludbury.'),
    ]).map(({ marker, kind, foundIn }) => (foundIn === undefined ? [marker, kind] : [marker, kind, foundIn]))

  it.each([
    ['a marker inside the quotation marks', '"The mill was built in 1874 [1]."', [['1', 'verbatim']]],
    ['a marker before its quotation', 'According to [1], "the mill was built in 1874".', [['1', 'verbatim']]],
    [
      'markers that lead their lines',
      '[1] The mill was built in 1874.\n[2] Peter bought a barge.',
      [
        ['1', 'verbatim'],
        ['2', 'verbatim'],
      ],
    ],
    ['a marker on a line of its own', '> The mill was built in 1874.\n\n[1]', [['1', 'verbatim']]],
    [
      'a range of markers',
      'The mill was built in 1874 [1-2].',
      [
        ['1', 'verbatim'],
        ['2', 'shifted', '1'],
      ],
    ],
    [
      'other brackets',
      'The mill was built in 1874【1】. Peter bought a barge [^2].',
      [
        ['1', 'verbatim'],
        ['2', 'verbatim'],
      ],
    ],
    ['a list of sources', 'The mill was built in 1874 [1].\n\nSources:\n[1] mill.md', [['1', 'verbatim']]],
    ['code between double backticks', 'Call ``a[`x`][1]`` first. Peter bought a barge. [2]', [['2', 'verbatim']]],
    ['a fence with its language', 'Thus:\n```text\nPeter bought a barge.\n```\n[2]', [['2', 'verbatim']]],
    ['a fence that is never closed', 'Peter bought a barge. [2]\n```\nb[1]', [['2', 'verbatim']]],
    ['a quotation that has a marker itself', '"His sister sold salt [4] in Ludbury" [2]', [['2', 'verbatim']]],
    [
      'a number beside a quotation',
      'In 1912 he noted: "Peter bought a barge" [2].',
      [
        ['2', 'verbatim'],
        ['2', 'unfounded'],
      ],
    ],
    [
      'one statement from two passages',
      'The mill was built in 1874, and Peter bought a barge [1][2].',
      [
        ['1', 'paraphrase'],
        ['2', 'paraphrase'],
      ],
    ],
    ['nothing', '[1]', [['1', 'uncheckable']]],
    ['an editor’s brackets', '"[T]he mill was built [sic] in 1874" [1]', [['1', 'verbatim']]],
    ['an ellipsis that hides a denial', '"It did … sink" [2]', [['2', 'edited']]],
    ['a denial of what is quoted', 'It did not "sink at all" [2].', [['2', 'invented']]],
  ])('QRY-RAG-022 %s', (_, answer, expected) => {
    expect(kinds(answer)).toEqual(expected)
  })

  it('QRY-RAG-022 says why, and which passage does say it', () => {
    const [changed] = readCitations('"The mill was built in 1875" [1]', [passage('1')])
    expect(changed).toMatchObject({ kind: 'edited', reason: 'says “1875” where the passage has “1874”' })
    const [moved] = readCitations('"The mill was built in 1874" [2]', [passage('1'), { ...passage('2', 'Salt.'), store: 'x' }])
    expect(moved).toMatchObject({ supported: false, foundIn: '1' })
  })

  it('QRY-RAG-022 notices that names have changed places', () => {
    const paid = passage('1', 'In spring Ida Marsh paid Berta Kohl for the barge.')
    expect(readCitations('In spring Ida Kohl paid Berta Marsh for the barge. [1]', [paid])).toMatchObject([{ supported: false }])
  })

  it('offsets count UTF-16 units, whatever stands before', () => {
    const text = '𝒜 🦙 ﬁrst—\u00adthe “mill”  was\nbuilt in 1874.'
    const [found] = readCitations('"first - the \'mill\' was built" [1]', [passage('1', text)])
    expect(found).toMatchObject({ supported: true, start: 100 + text.indexOf('ﬁrst'), end: 100 + text.indexOf(' in 1874') })
  })
})

describe('hostile answers and passages', () => {
  const sizes = [1, 2, 4]
  const steps = (make: (size: number) => readonly [answer: string, text: string]): number[] =>
    sizes.map((size) => {
      const [answer, text] = make(size * 1000)
      let counted = 0
      readCitations(answer, [passage('1', text), passage('2', 'Nothing.')], (count) => (counted = count))
      return counted / (answer.length + text.length)
    })

  const inputs: readonly (readonly [string, (size: number) => readonly [answer: string, text: string]])[] = [
    ['one word again and again', (size: number) => [`${'a '.repeat(size)}[1]`, 'a '.repeat(size * 10)]],
    [
      'many markers on one sentence',
      (size: number) => ['The mill was never built. [1] '.repeat(size), 'The mill was built. '.repeat(size)],
    ],
    ['many quotations', (size: number) => ['"a b c" d [1] '.repeat(size), 'a b c e '.repeat(size * 5)]],
    ['a quotation of ellipses', (size: number) => [`"${'a b … '.repeat(size)}" [1]`, 'a b '.repeat(size)]],
    ['characters without spaces', (size: number) => [`${'水'.repeat(size)} [1]`, '水'.repeat(size * 10)]],
  ]
  it.each(inputs)('%s cost steps in proportion to their length', (_, make) => {
    const [first = 0, , last = 0] = steps(make)
    expect(last).toBeLessThan(first * 1.5 + 0.5)
    expect(last).toBeLessThan(10)
  })

  it('what is said of tables is held against their cells once, however many of them there are', () => {
    const names = Array.from({ length: 40 }, (_, at) => `part${String.fromCodePoint(97 + at)}`)
    const row = (at: number): string =>
      names.map((name, column) => (column === 0 ? `Item${at} Pro` : `${name} ${at * 7 + column}`)).join()
    const table = [names.join(), ...Array.from({ length: 60 }, (_, at) => row(at))].join('\n')
    const passages = Array.from({ length: 20 }, (_, at) => passage(`${at + 1}`, table))
    const said = (at: number): string =>
      `The Item${at % 60} Pro has a parta of ${at} and a partb of ${at * 7}, while Item${(at + 3) % 60} Pro has ${at * 3} [${(at % 20) + 1}].`
    const answer = Array.from({ length: 200 }, (_, at) => said(at)).join('\n')
    expect(readCitations(answer, passages).length).toBeGreaterThanOrEqual(200)
  })

  it('a sentence as long as a book is not read against a table', () => {
    const long = `The mill of 1874 ${'was built again and '.repeat(5000)}fell [1].`
    const table = '| name | built |\n|---|---|\n| mill | 1874 |\n| barn | 1902 |'
    expect(readCitations(long, [passage('1', table)])).toMatchObject([{ supported: false }])
  })

  it('every answer is read without an error, markers or not', () => {
    const pieces = [
      '[1]',
      '[2, 1]',
      '“',
      '”',
      '"',
      '`',
      '```\n',
      '\n',
      '> ',
      '- ',
      '| ',
      'not ',
      '1874 ',
      '…',
      'The mill ',
      '水',
      ' ',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (list) => {
        for (const { kind, supported, reason } of readCitations(list.join(''), [passage('1')])) {
          expect(supported).toBe(kind === 'verbatim' || kind === 'elided' || kind === 'paraphrase')
          expect(reason === undefined).toBe(supported)
        }
      }),
    )
  })
})
