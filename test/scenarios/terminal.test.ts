import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { widthOf } from '../../src/util/cells.ts'
import { answer, chatServer } from '../support/chat-server.ts'
import { hasTerminal } from '../support/real-terminal.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place
beforeEach(() => {
  place = newPlace()
})
afterEach(() => {
  place[Symbol.dispose]()
})

describe.runIf(hasTerminal)('in a real terminal', () => {
  test('output of a model is rendered, with visible, inert escape codes', async () => {
    const hostile = ['# Title\n\n', '**bold**', '\u001B]52;c;ZXZp', 'bA==\u0007\u001B[2J\u001B[8m\u009B2J\u001Bc', '\n']
    await using server = await chatServer(answer(...hostile))
    const { code, stdout } = await place.run(['ask', 'x', '-m', 'openai-compatible/test'], {
      inTerminal: true,
      env: { OPENAI_COMPATIBLE_BASE_URL: server.url, TERM: 'xterm-256color' },
    })
    expect(code).toBe(0)
    expect(stdout).toContain('\u001B[1mbold\u001B[22m')
    expect(stdout).toContain('␛]52;c;ZXZpbA==␇␛[2J␛[8m<U+009B>2J␛c')
    for (const code of ['\u001B]52', '\u001B[2J', '\u001B[8m', '\u009B', '\u001Bc']) expect(stdout).not.toContain(code)
  })

  test.each([20, 80, 160])(
    'a table of an answer is shown whole in %i columns, and again when it is replayed',
    async (columns) => {
      const cell = 'Add water and wait five minutes before the lid is opened and the tea is poured 茶を注ぐ'
      await using server = await chatServer(answer('| Step | What', ` to do |\n|---|---|\n| 1 | ${cell} |\n`, '\nDone.\n'))
      const env = { OPENAI_COMPATIBLE_BASE_URL: server.url, TERM: 'xterm-256color', NO_COLOR: '1' }
      const asked = await place.run(['ask', 'x', '-m', 'openai-compatible/test'], { inTerminal: true, columns, env })
      const [, turn = ''] = /(turn_\w+)/.exec(asked.stdout) ?? []
      const replayed = await place.run(['logs', 'replay', turn], { inTerminal: true, columns, env })
      for (const { code, stdout } of [asked, replayed]) {
        expect(code).toBe(0)
        const shown = stdout.replaceAll(/[\s│]/g, '')
        expect(shown).not.toContain('…')
        expect(shown).toContain(cell.replaceAll(' ', ''))
        const [table = ''] = stdout.split('Done.')
        for (const line of table.split('\r\n')) expect(widthOf(line)).toBeLessThanOrEqual(columns)
      }
    },
  )

  test.each([
    [
      ['ask', '--help'],
      80,
      '      --docs PATH…         files and folders to search; their index is kept for\r\n                           the next question',
    ],
    [['logs', '--help'], 50, '  logs show      show a turn: messages, events,\r\n                 spans\r\n'],
    [['--help'], 60, '  run         do a task with tools: read, change, run\r\n'],
    [['--help'], 30, '  run         do a task with\r\n              tools: read,\r\n              change, run\r\n'],
    [
      ['models', '--offline'],
      50,
      'openai             key from OPENAI_API_KEY\r\n                   https://api.openai.com/v1\r\n',
    ],
  ])('%j in %i columns wraps between words within its column', async (words, columns, expected) => {
    const env = { OPENAI_API_KEY: 'sk-0123456789', OPENAI_BASE_URL: '', TERM: 'xterm-256color' }
    const { code, stdout } = await place.run(words, { inTerminal: true, columns, env })
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(expected) })
  })

  test('a large file shows its progress', async () => {
    const line = (at: number): string => `Line ${at} of the log says that ship ${(at * 7919) % 10_007} came in.\n`
    place.write({ 'log.txt': Array.from({ length: 80_000 }, (_, at) => line(at)).join('') })
    const { code, stdout } = await place.run(['index', 'log.txt'], { inTerminal: true, env: { TERM: 'xterm-256color' } })
    expect(code).toBe(0)
    const shares = [...stdout.matchAll(/(\d+) % {2}0\/1 files/g)].map(([, share]) => Number(share))
    expect(shares.filter((share) => share > 10 && share < 100).length).toBeGreaterThan(0)
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
    expect(stdout).toContain('1 added')
  })

  test('long work shows a progress bar, and removes it', async () => {
    place.write(
      Object.fromEntries(
        Array.from({ length: 1500 }, (_, index) => [
          `docs/${index}.md`,
          `# File ${index}\n\n${'Some words stand here. '.repeat(40)}`,
        ]),
      ),
    )
    const { code, stdout } = await place.run(['index', 'docs'], { inTerminal: true, env: { TERM: 'xterm-256color' } })
    expect(code).toBe(0)
    expect(stdout).toMatch(/Indexing {2}[█▏▎▍▌▋▊▉░]+ +\d+ % {2}\d+\/1500 files/)
    expect(stdout).toContain('\r\u001B[Kdefault: 1500 files')
  })

  test('NO_COLOR', async () => {
    await using server = await chatServer(answer('**bold**\n'))
    const { stdout } = await place.run(['ask', 'x', '-m', 'openai-compatible/test'], {
      inTerminal: true,
      env: { OPENAI_COMPATIBLE_BASE_URL: server.url, TERM: 'xterm-256color', NO_COLOR: '1' },
    })
    expect(stdout).toContain('bold\r\n')
    expect(stdout).not.toContain('\u001B')
  })
})
