/** The pure parts of the screen, in tables. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ZERO_USAGE } from '../../core/usage.ts'
import { exactText } from '../../util/terminal.ts'
import { fit, rowsOf, widthOf } from '../../util/cells.ts'
import { commonStart, complete } from './composer.ts'
import { exportText, isImmediate, slashOf } from './slash.ts'
import { draftRows, regionOf, tailRows } from './screen.ts'
import type { RegionState } from './screen.ts'
import { describeRequest } from './permission.ts'
import { costOf, formatTokens, NOTHING_SPENT, spentAfter, statusLine } from './status.ts'

describe('cells', () => {
  test.each([
    ['plain', 5],
    ['日本', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    // A vowel sign that stands beside its letter has a cell; one above or below has none.
    ['\u0928\u093F', 2],
    ['\u0928\u0941', 1],
    // One Korean syllable, whole and in its parts.
    ['\uD55C', 2],
    ['\u1112\u1161\u11AB', 2],
    // A soft hyphen is drawn.
    ['a\u00ADb', 3],
    ['\u001B[1mbold\u001B[22m', 4],
  ])('%j', (text, cells) => {
    expect(widthOf(text)).toBe(cells)
  })

  test('a character wider than a row is broken', () => {
    const grapheme = `\u0928${'\u093E'.repeat(20)}`
    expect(rowsOf(grapheme, 8).map(widthOf)).toEqual([8, 8, 5])
    const { rows } = draftRows({ text: grapheme, cursor: grapheme.length }, 11, 5)
    expect(rows.map(widthOf)).toEqual([10, 10, 7])
  })

  test('rows hold the whole text and are never wider than the screen', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 2, max: 20 }), (text, columns) => {
        const rows = rowsOf(text, columns)
        expect(rows.join('')).toBe(text)
        expect(Math.max(...rows.map(widthOf))).toBeLessThanOrEqual(Math.max(columns, 2))
        expect(widthOf(fit(text, columns))).toBeLessThanOrEqual(columns)
      }),
    )
  })
})

describe('the status', () => {
  const known = { ...ZERO_USAGE, inputTokens: 12_000, outputTokens: 345 }
  const status = {
    model: 'a/model',
    spent: spentAfter(NOTHING_SPENT, known, 0.02),
    contextTokens: 34_000,
    window: 100_000,
    isSafe: false,
  }
  test.each([
    [80, 'a/model · 34 % of context · 12.3k tokens · $0.02'],
    [40, 'a/model · 34 % of context · 12.3k tokens'],
    [20, 'a/model'],
    [5, 'a/mo…'],
  ])('in %i columns', (columns, line) => {
    expect(statusLine(status, columns)).toBe(line)
  })

  test('a session without turns shows where to find help', () => {
    expect(statusLine({ ...status, spent: NOTHING_SPENT, contextTokens: null, isSafe: true }, 80)).toBe(
      'a/model · safe mode · /help lists commands and keys',
    )
  })

  test('unknown tokens and costs are marked as lower bounds', () => {
    const spent = spentAfter(status.spent, { ...known, inputTokens: null }, null)
    expect(statusLine({ ...status, spent, contextTokens: null }, 80)).toBe('a/model · at least 12.7k tokens · at least $0.02')
    expect(costOf(spentAfter(NOTHING_SPENT, known, null))).toBe('cost unknown')
    expect([999, 1000, 99_949, 1_500_000].map(formatTokens)).toEqual(['999 tokens', '1.0k tokens', '99.9k tokens', '1.5M tokens'])
  })
})

describe('the draft on the screen', () => {
  test('is wrapped, shows its cursor, and makes escape sequences visible', () => {
    expect(draftRows({ text: 'abcdefgh', cursor: 6 }, 8, 5)).toEqual({
      rows: ['> abcde', '  fgh'],
      cursor: { row: 1, column: 3 },
    })
    expect(draftRows({ text: 'a\u001B[2J', cursor: 0 }, 20, 5).rows).toEqual(['> a␛[2J'])
  })

  test('shows the rows around the cursor', () => {
    const text = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n')
    const { rows, cursor } = draftRows({ text, cursor: text.length }, 40, 4)
    expect(rows).toHaveLength(4)
    expect(rows.at(-1)).toBe('  line 29')
    expect(cursor).toEqual({ row: 3, column: 9 })
  })

  test('an incomplete text shows its last rows', () => {
    expect(tailRows('one\ntwo\nthree', 20, 2)).toEqual(['two', 'three'])
    expect(tailRows('  \n', 20, 2)).toEqual([])
    expect(tailRows('a harbour with boats and a lighthousekeeper', 12, 9)).toEqual([
      'a harbour',
      'with boats',
      'and a',
      'lighthousek',
      'eeper',
    ])
  })

  test('earlier rows of a growing text do not change', () => {
    const long = 'the boats sail to the island on every day. '.repeat(100)
    const [first, ...rest] = tailRows(long, 40, 6)
    expect(tailRows(`${long}${'x'.repeat(39)}`, 40, 6).slice(0, 4)).toEqual(rest.slice(0, 4))
    expect(first).toBeDefined()
    expect(tailRows(long.repeat(20), 40, 6)).toHaveLength(6)
  })
})

test('any content of the region fits the screen, and the cursor is within it', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 300 })
  const state: fc.Arbitrary<RegionState> = fc.record({
    draft: text.map((text) => ({ text, cursor: text.length })),
    tail: text,
    running: fc.constant([]),
    elapsed: fc.option(fc.nat(), { nil: undefined }),
    queued: fc.array(text, { maxLength: 6 }),
    candidates: fc.array(text, { maxLength: 20 }),
    question: fc.option(
      fc.record({
        text,
        choices: fc.option(fc.array(fc.record({ key: fc.constant('y'), label: text }), { minLength: 1, maxLength: 30 }), {
          nil: undefined,
        }),
        selected: fc.constant(-1),
        draft: fc.constant({ text: '', cursor: 0 }),
      }),
      { nil: undefined },
    ),
    status: text,
    hint: fc.option(text, { nil: undefined }),
  })
  fc.assert(
    fc.property(state, fc.integer({ min: 12, max: 120 }), fc.integer({ min: 8, max: 50 }), (state, columns, rows) => {
      const painting = regionOf(state, { columns, rows, style: (_style, text) => text })
      expect(painting.rows.length).toBeLessThan(rows)
      expect(Math.max(...painting.rows.map(widthOf))).toBeLessThanOrEqual(columns)
      expect(painting.cursor.row).toBeLessThan(painting.rows.length)
      expect(painting.cursor.column).toBeLessThan(columns)
      expect(painting.rows.join('')).not.toMatch(/\p{Cc}/u)
    }),
  )
})

describe('completion', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cria-completion-'))
  mkdirSync(join(folder, 'source'))
  mkdirSync(join(folder, 'with space'))
  for (const name of ['source/one.ts', 'source/other.ts', 'some.md', '.hidden', 'with space/a b.md'])
    writeFileSync(join(folder, name), '')
  const from = { commands: ['model', 'compact', 'cost'], values: { model: ['main', 'a/b'] }, cwd: folder }

  const CANDIDATES: Readonly<Record<string, readonly string[]>> = {
    '/co': ['/compact ', '/cost '],
    '/model m': ['main'],
    'look at so': ['some.md', 'source/'],
    '@source/o': ['source/one.ts', 'source/other.ts'],
    '.h': ['.hidden'],
    'see @with': ['"with space/'],
    'see @"with sp': ['"with space/'],
    'see @"with space/a': ['"with space/a b.md"'],
    'see with': ['with space/'],
    'source/none': [],
    'nowhere/x': [],
    'a ': [],
  }
  test.each(Object.entries(CANDIDATES))('%j', async (text, candidates) => {
    expect((await complete(text, from)).candidates).toEqual(candidates)
  })

  test('the common beginning of candidates never ends inside a character', () => {
    expect(commonStart(['source/one', 'source/other'])).toBe('source/o')
    expect(commonStart(['a😀', 'a😁'])).toBe('a')
    expect(commonStart([])).toBe('')
    rmSync(folder, { recursive: true })
  })
})

describe('commands', () => {
  const COMMANDS = {
    '/help': { name: 'help', argument: '' },
    '/model  a/b ': { name: 'model', argument: 'a/b' },
    '/quit': { name: 'exit', argument: '' },
    '!git status': { name: 'run', argument: 'git status' },
  }
  test.each(Object.entries(COMMANDS))('%j is a command', (text, expected) => {
    expect(slashOf(text)).toEqual(expected)
  })

  test.each(['/usr/bin/env is a path', 'a /help', '//'])('%j is a message', (text) => {
    expect(slashOf(text)).toBeUndefined()
  })

  test('a command that changes the conversation waits for the current turn', () => {
    expect(['/show 1', '/q', '/steer now'].filter((line) => !isImmediate(line))).toEqual([])
    expect(['/new', '/undo', '!ls', '/nothing', 'show'].filter(isImmediate)).toEqual([])
  })
})

test('the file and the counts of a long diff are repeated below it', () => {
  const front = { style: (_: unknown, text: string) => text, columns: 60 }
  const request = { name: 'edit_file' }
  const title = 'src/a.ts'
  const diff = (lines: number): string =>
    [
      '--- src/a.ts',
      '+++ src/a.ts',
      `@@ -1 +1,${lines} @@`,
      '-old',
      ...Array.from({ length: lines }, (_, at) => `+new ${at}`),
    ].join('\n')
  const text = describeRequest(request, { text: diff(30), kind: 'diff', title }, front)
  expect(text.trimEnd().split('\n').at(-1)).toBe('  edit_file src/a.ts: 30 lines added, 1 removed')
  expect(describeRequest(request, { text: diff(3), kind: 'diff', title }, front)).not.toContain('lines added')
})

test('an export uses fences that no tool output can close', () => {
  const text = exportText(
    [
      { id: 'm1' as never, role: 'user', content: 'Hi', parts: [{ type: 'text', text: 'Hi' }] },
      {
        id: 'm2' as never,
        role: 'tool',
        content: '',
        parts: [{ type: 'tool-result', id: 'c', name: 'read_file', content: '````\nx', isError: false }],
      },
    ],
    'ses_1',
    false,
  )
  expect(text).toContain('## User\n\nHi')
  expect(text).toContain('`````\n````\nx\n`````')
})

describe('a permission request', () => {
  const shown = (command: string, columns = 40): string[] => {
    const preview = { text: command, kind: 'command', title: command } as const
    const text = describeRequest({ name: 'run_command' }, preview, { style: (_, part) => part, columns })
    return text.split('\n').slice(2, -1)
  }

  test('spaces cannot make the end of a command look like another line', () => {
    const rows = shown(`ls${' '.repeat(40)}$ rm -rf .`)
    expect(rows.map((row) => row.slice(0, 4))).toEqual(['  $ ', '  ↳ '])
    expect(rows[1]).toMatch(/^ {2}↳ +\$ rm -rf \.$/)
  })

  test('shows the whole command, each row after a mark and none wider than the screen', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 25, max: 80 }), (command, columns) => {
        const rows = shown(command, columns)
        for (const row of rows) expect(row).toMatch(/^ {2}[$│↳] /)
        expect(Math.max(...rows.map(widthOf))).toBeLessThan(columns)
        const lines = rows.map((row) => (row.startsWith('  ↳ ') ? '' : '\n') + row.slice(4)).join('')
        expect(lines.slice(1)).toBe(exactText(command.replaceAll('\r\n', '\n').replace(/\n$/, '')))
      }),
    )
  })
})
