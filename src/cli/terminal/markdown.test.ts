import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { markdownStream } from './markdown.ts'

// eslint-disable-next-line no-control-regex
const STYLE = /\u001B\[[\d;]*m/g
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/

async function rendered(pieces: readonly string[], options: Partial<{ width: number; colour: boolean }> = {}): Promise<string> {
  const stream = await markdownStream({ width: 80, colour: false, ...options })
  return pieces.map((piece) => stream.push(piece)).join('') + stream.finish()
}

test('a line is returned as soon as it is complete', async () => {
  const stream = await markdownStream({ width: 80, colour: false })
  expect(stream.push('The first ')).toBe('')
  expect(stream.push('line.\nThe sec')).toBe('The first line.\n')
  expect(stream.finish()).toBe('The sec\n')
})

test('nested lists keep their indentation and numbers', async () => {
  expect(await rendered(['1. one\n2. two\n   - deeper\n     - deepest\n10. ten\n'])).toBe(
    '1. one\n2. two\n   - deeper\n     - deepest\n10. ten\n',
  )
})

test('a code block is shown as written', async () => {
  expect(await rendered(['```ts\n', 'const a = "![x](y)"\n', '```\n'])).toContain('const a = "![x](y)"')
})

test('links and images show their addresses', async () => {
  const text = await rendered(['[the bank](https://evil.example) ![](http://pixel.example/a.png)\n'], { colour: true })
  expect(text).toContain('https://evil.example')
  expect(text).toContain('http://pixel.example/a.png')
  expect(text).not.toContain('\u001B]8')
})

test.each([
  ['<ul> begins a list of bullets', '<ul> begins a list of bullets'],
  ['<!-- a comment -->', '<!-- a comment -->'],
  ['<details>\n<summary>More</summary>\nwords\n</details>', '<details>\n<summary>More</summary>\nwords\n</details>'],
  ['- <div>one</div>\n  - <p>two</p>', '- <div>one</div>\n  - <p>two</p>'],
  ['> <table>', '│ <table>'],
  ['1. <?php echo 1 ?>', '1. <?php echo 1 ?>'],
  ['<https://example.org/a> and <ada@example.org>', 'https://example.org/a and ada@example.org'],
  ['a <b>bold</b> word', 'a <b>bold</b> word'],
])('HTML is shown as written: %j', async (markdown, shown) => {
  expect(await rendered([`${markdown}\n`])).toBe(`${shown}\n`)
})

test('every word of any line is shown', async () => {
  const word = fc.stringMatching(/^[a-z]{3,9}$/)
  const mark = fc.constantFrom(
    '- ',
    '* ',
    '1. ',
    '> ',
    '# ',
    '**',
    '_',
    '`',
    '<div>',
    '</p>',
    '<!-- ',
    ' -->',
    '<br/>',
    '<?',
    '[',
    ']',
    '](',
    ')',
    '| ',
    ' |',
    '\n',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(mark, word, fc.constant(' ')), { maxLength: 20 }), async (pieces) => {
      const text = pieces.join('')
      const shown = await rendered([text])
      for (const [each] of text.matchAll(/[a-z]{3,}/g))
        expect({ text, shown, has: shown.replaceAll(/[^a-z]/g, '').includes(each) }).toEqual({ text, shown, has: true })
    }),
    { numRuns: 500 },
  )
})

/** The time a test may take is what holds it to a moment: the first of these took half a minute. */
test.each([
  ['_a', 100_000],
  ['>', 3000],
  ['> ', 3000],
  ['1. ', 3000],
  ['- ', 100_000],
  ['**a', 100_000],
  ['![', 100_000],
  ['[a](', 100_000],
  ['<a ', 100_000],
  ['*_', 20_000],
  ['`a', 100_000],
  ['|', 100_000],
  ['&lt;', 100_000],
  ['|a|\n|-|\n|_a', 50_000],
  ['| a ![', 50_000],
])('a line of nothing but %j is shown, rendered or as written', async (unit, times) => {
  const shown = await rendered([`${unit.repeat(times)}\nthe end\n`])
  expect(shown.length).toBeGreaterThan(1)
  expect(shown).toContain('the end')
  if (unit.includes('a')) expect(shown.replaceAll(/[^a]/g, '').length).toBeGreaterThanOrEqual(times)
})

test('a cell beyond the limits is shown as written, within its table', async () => {
  const shown = await rendered([`| a | b |\n|---|---|\n| ${'>'.repeat(3000)} | **bold** |\n`])
  expect(shown.replaceAll(/[^>]/g, '')).toHaveLength(3000)
  expect(shown).not.toContain('**bold**')
})

test('a long line that arrives in small pieces is rendered once', async () => {
  const stream = await markdownStream({ width: 80, colour: false })
  const began = process.cpuUsage().user
  let shown = ''
  for (let at = 0; at < 400_000; at++) shown += stream.push('ab ')
  shown += stream.finish()
  expect(shown.replaceAll(/[^ab]/g, '')).toHaveLength(800_000)
  expect(process.cpuUsage().user - began).toBeLessThan(5_000_000)
})

test('hostile Markdown is rendered quickly, and no word is lost', async () => {
  const unit = fc.constantFrom(
    '>',
    '> ',
    '- ',
    '1. ',
    '_a',
    '**b',
    '~~',
    '[x](',
    '![',
    '](',
    '<!--',
    '<b>',
    '|',
    '`',
    '\\',
    '&#27;',
    '# ',
    '\t',
    '    ',
    '\n',
    '\n```\n',
    '| a |\n|-|\n',
    '---',
    '\r',
    '\u0000',
  )
  const part = fc.tuple(unit, fc.constantFrom(1, 2, 70, 3000, 9000)).map(([mark, times]) => mark.repeat(times))
  const word = fc.stringMatching(/^[k-z]{6,9}$/).map((each) => `\n\n${each}\n`)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(part, word), { maxLength: 6 }), async (pieces) => {
      const shown = await rendered(pieces)
      const letters = shown.replaceAll(/[^k-z]/g, '')
      for (const piece of pieces) if (/^\n\n[k-z]/.test(piece)) expect(letters).toContain(piece.trim())
    }),
    { numRuns: 60 },
  )
}, 60_000)

test('text is wrapped at the width of the terminal', async () => {
  const text = await rendered([`${'word '.repeat(100)}\n`], { width: 40 })
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(40)
})

const WATER =
  '| Step | What to do |\n|---|---|\n| **Wait** | Add `cold water` and wait five minutes before [the lid](https://example.org/lid) is opened |\n'

test('a table is returned when it has ended, and no cell is cut', async () => {
  const stream = await markdownStream({ width: 80, colour: false })
  expect(stream.push(WATER)).toBe('')
  const shown = stream.push('\n')
  expect(shown).toBe(
    [
      '┌──────┬───────────────────────────────────────────────────────────────────────┐',
      '│ Step │ What to do                                                            │',
      '├──────┼───────────────────────────────────────────────────────────────────────┤',
      '│ Wait │ Add cold water and wait five minutes before the lid                   │',
      '│      │ (https://example.org/lid) is opened                                   │',
      '└──────┴───────────────────────────────────────────────────────────────────────┘',
      '\n',
    ].join('\n'),
  )
  expect(stream.push('after\n')).toBe('after\n')
})

test('a table uses the whole width of a wide terminal', async () => {
  const lines = (await rendered([WATER], { width: 160 })).split('\n')
  expect(lines[3]).toContain('wait five minutes before the lid (https://example.org/lid) is opened')
})

test('styles do not change the width of a table', async () => {
  const table = ['| a | b |\n|---|---|\n| **1** | 2 |\n\n']
  const [plain, styled] = [await rendered(table, { colour: false }), await rendered(table, { colour: true })]
  expect(plain).toContain('│ a │ b │')
  expect(stripVTControlCharacters(styled)).toBe(plain)
})

test('styles of a cell end before the frame', async () => {
  const text = await rendered(['| a | b |\n|---|---|\n| **one two three four** | five six seven |\n'], {
    width: 30,
    colour: true,
  })
  expect(text).toContain('│ \u001B[1mone two\u001B[0m')
})

test('cells that look like blocks, and escaped pipes, are unchanged', async () => {
  const text = await rendered(['| a | b |\n|---|---|\n| - | # x |\n| 1. | `a \\| b` |\n| c\\ |\n'])
  for (const cell of ['│ -  │', '│ # x   │', '│ 1. │', '│ a | b │', 'c']) expect(text).toContain(cell)
})

test('for any text, in any pieces, only our own style codes reach the terminal', async () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(
      '\u001B[2J',
      '\u009B2J',
      '&#27;[2J',
      '&#x9b;2J',
      '```\n',
      '| a | b |\n|---|---|\n',
      '**b**',
      '[t](\u001B]8;;x\u0007)',
      '\n',
      '\r\n',
      '- ',
      '`&#27;`',
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 10 }), async (pieces) => {
      const colourful = await rendered(pieces, { colour: true })
      expect(colourful.replace(STYLE, '')).not.toMatch(CONTROL)
    }),
  )
})
