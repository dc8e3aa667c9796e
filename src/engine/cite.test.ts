import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Retrieved } from '../core/message.ts'
import { readCitations } from './cite.ts'
import { locate } from './locate.ts'

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

describe('locate', () => {
  it('finds every slice of a text in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), fc.nat(), (text, a, b) => {
        const slice = text.slice(Math.min(a, b) % (text.length + 1), Math.max(a, b) % (text.length + 1)).trim()
        const range = locate(slice, text)
        if (slice.replaceAll('\u00ad', '') !== '') expect(range).toBeDefined()
      }),
    )
  })
})
