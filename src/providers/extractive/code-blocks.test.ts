import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerFromPassages } from './answer.ts'
import { readCodeBlocks } from './code-blocks.ts'
import { readUnits } from './sentences.ts'

const blocksOf = (text: string): [string, string][] =>
  readCodeBlocks(text).map(({ kind, start, end }) => [kind, text.slice(start, end)])

test.each<[string, string, [string, string][]]>([
  [
    'a remark over lines, and what follows it',
    '/**\n * Opens the lock.\n *\n * It is slow.\n */\nexport function open(): Promise<Lock> {\n}\n',
    [
      ['sentence', 'Opens the lock.'],
      ['sentence', 'It is slow.'],
      ['code', 'export function open(): Promise<Lock> {'],
    ],
  ],
  [
    'lines of remarks',
    '// Width of the lock.\n// In metres.\nconst width = 12\n',
    [
      ['sentence', 'Width of the lock.\n// In metres.'],
      ['code', 'const width = 12'],
    ],
  ],
  [
    'a docstring in one line',
    'def fill():\n    """Fills the lock."""\n    return 3\n',
    [
      ['code', 'def fill():'],
      ['sentence', 'Fills the lock.'],
      ['code', 'return 3'],
    ],
  ],
  [
    'settings, and what is no remark',
    '#include <lock.h>\n# How long.\ntimeout: 30\n; old\n-- older\n',
    [
      ['code', '#include <lock.h>'],
      ['sentence', 'How long.'],
      ['code', 'timeout: 30'],
      ['sentence', 'old\n-- older'],
    ],
  ],
  ['a remark that is never closed', '/* Once\nagain', [['sentence', 'Once\nagain']]],
])('%s', (_, text, expected) => {
  expect(blocksOf(text)).toEqual(expected)
})

test('blocks lie in order within the text, and every letter of code is in one', () => {
  const piece = fc.constantFrom('/*', '*/', '"""', '// ', '# ', 'let a = 1', '\n', '\n\n', ' ', '* x', '<!--', '-->', '}')
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
      (text) => {
        let last = 0
        for (const { start, end } of readCodeBlocks(text)) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          last = end
        }
        expect(last).toBeLessThanOrEqual(text.length)
        for (const { start, end } of readUnits(text, { isCode: true })) expect(end).toBeGreaterThan(start)
      },
    ),
  )
})

const answerOf = (question: string, text: string): string =>
  answerFromPassages(question, [{ marker: '1', text, isCode: true, score: 1 }]).text

test('what a remark says is quoted without the code below it, unless that is its value', () => {
  expect(
    answerOf(
      'How often is an upload tried?',
      '/** An upload is tried five times, then it fails. */\nexport async function upload(send: () => Promise<Response>): Promise<Response> {\n  return send()\n}\n',
    ),
  ).toBe('An upload is tried five times, then it fails. [1]')
  expect(
    answerOf('At which depth does the lock open?', '// Depth at which the lock opens, in metres.\nconst depth = 3.5\n\nfill()\n'),
  ).toBe('`Depth at which the lock opens, in metres. const depth = 3.5` [1]')
  expect(answerOf('What is the largest depth in metres?', '# Of the lock.\n\n# Largest depth in metres.\nmax_depth: 12\n')).toBe(
    '`Largest depth in metres. max_depth: 12` [1]',
  )
  expect(answerOf('At which depth does the lock open?', '// The lock opens at a depth of 3 metres.\nreturn open(lock)\n')).toBe(
    'The lock opens at a depth of 3 metres. [1]',
  )
})

test.each(['//', '#', ' *', '--'])('a sentence over lines is quoted without the %j that begins them', (sign) => {
  const [open, close] = sign === ' *' ? ['/**\n', ' */\n'] : ['', '']
  const text = `${open}${sign} The lock of the northern canal opens\n${sign} at a depth of three metres.\n${close}fill()\n`
  expect(answerOf('At which depth does the lock of the northern canal open?', text)).toBe(
    'The lock of the northern canal opens at a depth of three metres. [1]',
  )
})
