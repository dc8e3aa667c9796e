/**
 * Generates the terminal pictures of the documentation from real output: `cria ask` over docs/, and `cria chat` with a scripted
 * model.
 *
 *     npm run pictures
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCommand } from '../src/cli/commands.ts'
import { parseCommandLine } from '../src/cli/parse.ts'
import { agentServer } from '../test/support/agent-server.ts'
import { chatTerminal, KEY } from '../test/support/chat-terminal.ts'
import type { ChatTerminal } from '../test/support/chat-terminal.ts'
import type { Drawn } from '../test/support/virtual-terminal.ts'
import { widthOf } from '../src/util/cells.ts'
import { ROOT } from './files.ts'

const COLUMNS = 92
const QUESTION = 'How do I let a bot use my own tool?'
const COLOURS: Readonly<Record<number, string>> = {
  31: '#e06c60',
  32: '#8fc27c',
  33: '#e0b560',
  34: '#9fc3e8',
  35: '#c39ad9',
  36: '#7fc4c4',
  90: '#8f8c83',
}
const [CELL, ROW, MARGIN] = [8.15, 19, 20]

/** Draws lines in a window, as SVG. */
function picture(label: string, lines: readonly (readonly Drawn[])[]): string {
  const height = 52 + lines.length * ROW
  const width = Math.ceil(2 * MARGIN + COLUMNS * CELL)
  const rows = lines.flatMap((line, row) => {
    let column = 0
    return line.flatMap(({ text, style }) => {
      const x = MARGIN + column * CELL
      column += widthOf(text)
      if (text.trim() === '') return []
      return `<text x="${x.toFixed(1)}" y="${50 + row * ROW}" textLength="${(widthOf(text) * CELL).toFixed(1)}"${attributes(style)}>${escaped(text)}</text>`
    })
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}" font-family="ui-monospace, SFMono-Regular, Menlo, monospace" font-size="13.5" fill="#e4e2dc" xml:space="preserve">`,
    `<rect width="${width}" height="${height}" rx="10" fill="#1d1f21"/>`,
    ...['#e06c60', '#e0b560', '#7fb56c'].map((fill, at) => `<circle cx="${22 + at * 20}" cy="20" r="6" fill="${fill}"/>`),
    ...rows,
    '</svg>\n',
  ].join('\n')
}

function attributes(style: readonly number[]): string {
  const colour = style.map((code) => COLOURS[code]).find((each) => each !== undefined)
  return [
    style.includes(1) ? ' font-weight="700"' : '',
    style.includes(3) ? ' font-style="italic"' : '',
    style.includes(2) ? ' fill="#8f8c83"' : colour === undefined ? '' : ` fill="${colour}"`,
  ].join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

async function run(words: readonly string[], { io }: ChatTerminal): Promise<number> {
  const found = findCommand(words)
  if (found === undefined) throw new Error(`There is no command ${words.join(' ')}`)
  const command = await found.entry.load()
  return command.run(parseCommandLine(command, found.rest), io)
}

async function ask(home: string): Promise<string> {
  const terminal = chatTerminal({ cwd: ROOT, env: { CRIA_HOME: home, TERM: 'xterm-256color' }, columns: COLUMNS, rows: 60 })
  terminal.terminal.write(`$ cria ask "${QUESTION}" --docs docs\n`)
  await run(['ask', QUESTION, '--docs', 'docs'], terminal)
  return picture(
    'A terminal: the question, the answer in quotations with markers, and their sources with lines',
    trimmed(terminal),
  )
}

async function chat(home: string, folder: string): Promise<string> {
  writeFileSync(join(folder, 'add.js'), 'export function add(a, b) {\n  return a - b\n}\n')
  const edit = { path: 'add.js', old_string: 'return a - b', new_string: 'return a + b' }
  await using server = await agentServer([
    { text: '`add` subtracts. I look at it first.', calls: [{ name: 'read_file', input: { path: 'add.js' } }] },
    { calls: [{ name: 'edit_file', input: edit }] },
    { text: 'Now it **adds**.' },
  ])
  const env = {
    CRIA_HOME: home,
    TERM: 'xterm-256color',
    OPENAI_COMPATIBLE_BASE_URL: server.url,
    OPENAI_COMPATIBLE_API_KEY: 'none',
  }
  const terminal = chatTerminal({ cwd: folder, env, columns: COLUMNS, rows: 40 })
  terminal.terminal.write('$ cria chat\n')
  const code = run(['chat', '-m', 'openai-compatible/test'], terminal)
  terminal.press(`add(2, 2) gives 0: why?${KEY.enter}`)
  await terminal.terminal.shows('May edit_file do this?')
  const drawn = picture('A terminal: a change is shown and asked about before it is made', trimmed(terminal))
  terminal.press('y')
  await terminal.terminal.shows('Now it adds.')
  terminal.press(KEY.ctrlD)
  await code
  return drawn
}

function trimmed({ terminal }: ChatTerminal): readonly (readonly Drawn[])[] {
  const lines = [...terminal.drawn]
  while (lines.at(-1)?.every(({ text }) => text.trim() === '') === true) lines.pop()
  return lines
}

const scratch = mkdtempSync(join(tmpdir(), 'cria-pictures-'))
try {
  const [home, folder] = [join(scratch, 'home'), join(scratch, 'project')]
  mkdirSync(folder)
  const images = join(ROOT, 'docs/images')
  writeFileSync(join(images, 'ask.svg'), await ask(home))
  writeFileSync(join(images, 'chat.svg'), await chat(home, folder))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
