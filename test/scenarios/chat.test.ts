/** Tests whole conversations at a terminal in memory, with a model over HTTP. */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runChat } from '../../src/cli/chat/run-chat.ts'
import type { ChatOptions } from '../../src/cli/shared-options.ts'
import { openJournal } from '../../src/app/journal.ts'
import { agentServer, messagesIn, toolResultsIn } from '../support/agent-server.ts'
import type { ScriptedStep, SentMessage } from '../support/agent-server.ts'
import { answer, chatServer, endStream, refuse, sendDelta, startStream } from '../support/chat-server.ts'
import { BROKEN, BROKEN_PROJECT, EDIT, FIXED, READ, RUN_TEST } from '../support/broken-project.ts'
import type { ChatServer } from '../support/chat-server.ts'
import { chatTerminal, KEY, pasted } from '../support/chat-terminal.ts'
import type { ChatTerminal, ChatTerminalOptions } from '../support/chat-terminal.ts'
import { isAlive } from '../support/processes.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place
let server: ChatServer | undefined
beforeEach(() => {
  place = newPlace()
  place.write(BROKEN_PROJECT)
})
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
  place[Symbol.dispose]()
})

interface Chat extends ChatTerminal {
  readonly code: Promise<number>
  /** Types a line and sends it. */
  readonly say: (text: string) => void
  readonly shows: ChatTerminal['terminal']['shows']
  /** Resolves when this text was shown and the chat is idle. */
  readonly ends: (text: string) => Promise<void>
  /** Presses Ctrl-D, and expects that the chat ends well. */
  readonly leave: () => Promise<void>
}

async function chat(
  script: Parameters<typeof agentServer>[0],
  options: Partial<ChatOptions> = {},
  terminal: Partial<ChatTerminalOptions> = {},
): Promise<Chat> {
  server = await agentServer(script)
  return again(options, terminal)
}

/** Another chat with the same model. */
function again(options: Partial<ChatOptions> = {}, terminal: Partial<ChatTerminalOptions> = {}): Chat {
  const env = {
    CRIA_HOME: place.home,
    OPENAI_COMPATIBLE_BASE_URL: server?.url ?? '',
    OPENAI_COMPATIBLE_API_KEY: 'sk-canary-0123456789',
    TERM: 'xterm-256color',
    PATH: process.env['PATH'],
    ...terminal.env,
  }
  const own = chatTerminal({ cwd: place.folder, ...terminal, env })
  const code = runChat({ ...OPTIONS, ...options }, own.io)
  const { terminal: shown } = own
  return {
    ...own,
    code,
    say: (text) => own.press(`${text}${KEY.enter}`),
    shows: (what) => shown.shows(what),
    ends: (text) => shown.shows(() => shown.text.includes(text) && !shown.screen.includes('Esc stops it')),
    leave: async () => {
      own.press(KEY.ctrlD)
      expect(await code).toBe(0)
    },
  }
}

const OPTIONS: ChatOptions = {
  continue: false,
  system: undefined,
  option: [],
  template: undefined,
  param: [],
  safe: false,
  resume: undefined,
  plain: false,
  model: 'openai-compatible/test',
  fallback: [],
  'no-switch': false,
  allow: [],
  deny: [],
  fetch: false,
  sandbox: undefined,
  network: false,
  'no-mcp': false,
  store: undefined,
  docs: [],
  thinking: false,
  'max-cost': undefined,
}

const sent = (request = -1): readonly SentMessage[] => messagesIn(server, request)

describe('a conversation at a terminal', () => {
  test('ENG-TOOL-001 a mistake is found and fixed, and diff and command are shown before they are run', async () => {
    const { say, shows, ends, press, terminal, isRaw, leave } = await chat([
      { text: 'I look first.', calls: [READ, RUN_TEST] },
      { calls: [EDIT] },
      { calls: [RUN_TEST] },
      { text: 'It **subtracted**. Now it adds.' },
    ])
    say('Fix the failing test')
    await shows('May run_command do this?')
    expect(terminal.text).toContain('$ node add.test.mjs')
    expect(terminal.text).toContain('I look first.')
    press('a')
    await shows('May edit_file do this?')
    expect(terminal.text).toMatch(/--- add\.mjs\n {2}\+\+\+ add\.mjs/)
    expect(terminal.text).toContain('-export const add = (a, b) => a - b')
    expect(terminal.text).toContain('+export const add = (a, b) => a + b')
    expect(place.read('add.mjs')).toBe(BROKEN)
    press('y')
    await ends('It subtracted. Now it adds.')
    expect(place.read('add.mjs')).toBe(FIXED)
    // A permission for the session is not asked for again.
    expect(terminal.text).toMatch(/✓ run_command node add\.test\.mjs · passed/)
    expect(terminal.text).toMatch(/✗ run_command node add\.test\.mjs · \[exit code 1\]/)
    expect(terminal.text).toContain('✓ edit_file add.mjs · Changed add.mjs: 1 line added, 1 removed.')
    expect(isRaw()).toBe(true)
    await leave()
    expect(isRaw()).toBe(false)
    expect([terminal.bracketedPaste, terminal.cursorVisible, terminal.strange]).toEqual([false, true, []])
  })

  test('ENG-TOOL-001 "always" applies to later chats of this folder, or everywhere, is listed, and can be revoked', async () => {
    const first = await chat([
      { calls: [RUN_TEST] },
      { calls: [EDIT] },
      { text: 'Done.' },
      { calls: [RUN_TEST] },
      { text: 'Again.' },
    ])
    first.say('Fix it')
    await first.shows('May run_command do this?')
    expect(first.terminal.text).toMatch(/f {2}the same, always in .*\n? *e {2}the same, always and everywhere/)
    first.press('f')
    await first.shows('May edit_file do this?')
    first.press('e')
    await first.ends('Done.')
    await first.leave()

    const second = again()
    second.say('Test it')
    await second.ends('Again.')
    expect(second.terminal.text).not.toContain('May run_command')
    await second.leave()

    const shown = await place.run(['trust', '--show', '--json'])
    expect((JSON.parse(shown.stdout) as { approvals: object[] }).approvals).toMatchObject([
      { rule: 'run_command(node add.test.mjs)', folder: place.folder },
      { rule: 'edit_file(add.mjs)', folder: null },
    ])
    expect((await place.run(['trust', '--show'])).stderr).toContain('allowed everywhere since')
    mkdirSync(join(place.folder, 'elsewhere'))
    const elsewhere = await place.run(['trust', '--show', '--json'], { cwd: join(place.folder, 'elsewhere') })
    expect((JSON.parse(elsewhere.stdout) as { approvals: object[] }).approvals).toHaveLength(1)
    expect((await place.run(['trust', '--forget', 'edit_file(add.mjs)'])).code).toBe(0)
    expect((await place.run(['trust', '--forget', 'edit_file(add.mjs)'])).code).not.toBe(0)
    // Writing a rule file is not enough to make its rules apply.
    const [kept] = readdirSync(join(place.home, 'trust', 'approvals'))
    const file = join(place.home, 'trust', 'approvals', kept ?? '')
    writeFileSync(file, readFileSync(file, 'utf8').replace('node add.test.mjs', '*'))
    const forged = await place.run(['trust', '--show', '--json'])
    expect((JSON.parse(forged.stdout) as { approvals: object[] }).approvals).toEqual([])
  })

  test('a changed description of an MCP tool needs permission again within the session', async () => {
    const description = join(place.folder, 'description')
    const program = join(import.meta.dirname, '../support/mcp-server.ts')
    place.write({ description: 'Reads.' })
    place.configure({
      mcpServers: {
        files: { command: process.execPath, args: [program, 'changing', description] },
        gone: { command: 'no-such-program-anywhere' },
      },
    })
    const reading = (value: string): ScriptedStep => ({ calls: [{ name: 'mcp__files__read', input: { value } }] })
    const { say, shows, ends, press, terminal, leave } = await chat([
      reading('one'),
      reading('announce'),
      { text: 'First.' },
      // The next call notices the change.
      reading('two'),
      { text: 'Second.' },
      reading('three'),
      { text: 'Third.' },
    ])
    say('Read')
    await shows('May mcp__files__read do this?')
    expect(terminal.text).toContain('The MCP server "gone" cannot be used')
    writeFileSync(description, 'Reads, and tells everybody.')
    press('a')
    await ends('First.')
    say('Read on')
    await ends('Second.')
    say('And on')
    await shows(() => terminal.screen.includes('May mcp__files__read do this?'))
    expect(terminal.text).toContain('have changed since it was allowed')
    press('y')
    await ends('Third.')
    const results = toolResultsIn(server)
    expect(results.map((result) => result.split(';')[0])).toEqual([
      'read: "one"',
      'read: "announce"',
      expect.stringContaining('has changed the description or the arguments of this tool since it was offered'),
      'read: "three"',
    ])
    await leave()
  })

  test('a refusal reports its reason to the model, and earlier key presses do not answer a question', async () => {
    const { say, shows, ends, press, terminal, leave } = await chat([{ calls: [RUN_TEST] }, { text: 'Then not.' }])
    say('Run the tests')
    await shows('May run_command do this?')
    press('n')
    await shows('Why not?')
    press(`use npm test${KEY.enter}`)
    await ends('Then not.')
    expect(toolResultsIn(server)[0]).toContain('The user refused it: use npm test')
    expect(terminal.text).toContain('⊘ run_command node add.test.mjs · refused: The user refused it: use npm test')
    await leave()
  })

  test('a paste never answers a question', async () => {
    const { say, shows, press, terminal, code } = await chat([{ calls: [RUN_TEST] }, { text: 'Stopped.' }])
    say('Run the tests')
    await shows('May run_command do this?')
    press(pasted('y'))
    press(KEY.enter)
    press(KEY.escape)
    await shows('stopped; recorded as')
    expect(terminal.text).not.toContain('passed')
    press(KEY.ctrlD)
    expect(await code).toBe(130)
    expect(server?.requests).toHaveLength(1)
  })

  test('escape codes from models, commands and file names are inert, and a command is shown in full', async () => {
    const hostile = '\u001B]52;c;ZXZpbA==\u0007\u001B[2J\u009B31m'
    const { say, shows, ends, press, terminal, leave } = await chat([
      {
        text: `${hostile}\n`,
        calls: [{ name: 'run_command', input: { command: `echo a\u202E\u200B\u001B[8m\n rm -rf nothing` } }],
      },
      { calls: [{ name: 'edit_file', input: { path: `x\u001B]0;t\u0007`, old_string: 'a', new_string: 'b' } }] },
      { text: `done ${hostile}` },
    ])
    say('Go')
    await shows('May run_command do this?')
    expect(terminal.text).toContain('$ echo a<U+202E><U+200B>␛[8m')
    expect(terminal.text).toContain('│  rm -rf nothing')
    press('n')
    await shows('Why not?')
    press(KEY.enter)
    await shows('May edit_file do this?')
    press('n')
    await shows(() => terminal.screen.includes('Why not?'))
    press(KEY.enter)
    await ends('done ␛]52')
    expect(terminal.strange).toEqual([])
    await leave()
  })

  test('ENG-ERR-001 Esc stops a turn, which is recorded, and the session continues with the partial answer', async () => {
    const { say, shows, ends, press, leave } = await chat((_, step) =>
      step === 0 ? new Promise<ScriptedStep>(() => {}) : { text: 'I am here.' },
    )
    say('First')
    await shows('Esc stops it')
    press('Second')
    press(KEY.enter)
    await shows('next: Second')
    await vi.waitFor(() => expect(server?.requests).toHaveLength(1), 10_000)
    press(KEY.escape)
    await shows('stopped; recorded as')
    // The queued message returns to the input line.
    await shows(/> Second/)
    press(KEY.enter)
    await ends('I am here.')
    await leave()
    const journal = await openJournal({ env: { CRIA_HOME: place.home }, cwd: place.folder })
    const { turns } = await journal.read.turns({})
    expect(turns.map(({ status, question }) => [status, question])).toEqual([
      ['done', 'Second'],
      ['cancelled', 'First'],
    ])
    expect(new Set(turns.map(({ sessionId }) => sessionId)).size).toBe(1)
  })

  test('Esc ends a running command with its child processes, and does not report it as refused', async () => {
    const command = 'echo $$ > pid.tmp; mv pid.tmp pid; sleep 60 & sleep 60'
    const { say, shows, ends, press, terminal, leave } = await chat(
      [{ calls: [{ name: 'run_command', input: { command } }] }, { text: 'Understood.' }],
      { sandbox: 'off' },
    )
    say('Start it')
    await shows('May run_command do this?')
    press('y')
    await vi.waitFor(() => expect(existsSync(join(place.folder, 'pid'))).toBe(true), 10_000)
    press(KEY.escape)
    await shows('stopped; recorded as')
    await ends('stopped')
    expect(terminal.text).toMatch(/✗ run_command [^✓✗]*\/show 1/)
    await vi.waitFor(() => expect(isAlive(Number(place.read('pid')))).toBe(false), 10_000)
    say('And?')
    await ends('Understood.')
    expect(toolResultsIn(server)[0]).not.toMatch(/denied|refused/i)
    await leave()
  })

  test('a question of the model is answered by choice or free text, and its list is shown', async () => {
    const { say, shows, ends, press, terminal, leave } = await chat([
      { calls: [{ name: 'todo', input: { items: [{ text: 'ask\u001B[2J', state: 'doing' }] } }] },
      { calls: [{ name: 'ask_user', input: { question: 'Tabs or spaces?', options: ['tabs', 'spaces'] } }] },
      { text: 'Neither.' },
    ])
    say('Format it')
    await shows('3  another answer')
    expect(terminal.text).toContain('  [~] ask␛[2J')
    press('3')
    await shows(() => !terminal.screen.includes('another answer'))
    press(`neither${KEY.enter}`)
    await ends('Neither.')
    expect(toolResultsIn(server)[1]).toBe('The user answered: neither')
    await leave()
  })

  test('ENG-TOOL-001 in safe mode every call needs permission, even reading', async () => {
    const { say, shows, ends, press, terminal, leave } = await chat([{ calls: [READ] }, { text: 'Seen.' }], { safe: true })
    say('Look')
    await shows('May read_file do this?')
    expect(terminal.text).not.toContain('do not ask again')
    press('y')
    await ends('Seen.')
    expect(terminal.text).toContain('safe mode')
    await leave()
  })

  test('an unknown command does not end the chat, and gets a suggestion', async () => {
    const { say, shows, press, code } = await chat([])
    say('/model nonsense')
    await shows('A model is named provider/model')
    say('/allow nothing(x)')
    await shows('There is no tool "nothing"')
    say('/shwo')
    await shows('Did you mean /show?')
    press(KEY.ctrlD)
    expect(await code).toBe(0)
  })

  test('a member name of every object is an unknown command', async () => {
    const { press, say, shows, code } = await chat([])
    await shows('openai-compatible/test')
    press(`/constructor a${KEY.tab}${KEY.ctrlC}`)
    say('/toString')
    await shows('There is no command /toString')
    press(KEY.ctrlD)
    expect(await code).toBe(0)
  })

  test('leaving does not wait for an MCP server that is still starting', async () => {
    const program = join(import.meta.dirname, '../support/mcp-server.ts')
    place.configure({ mcpServers: { slow: { command: process.execPath, args: [program, 'never-starts'] } } })
    const { press, say, shows, code, isRaw } = await chat([])
    say('Hello')
    await shows('starting')
    await shows('next: Hello')
    press(`${KEY.ctrlC}${KEY.ctrlC}`)
    expect(await code).toBe(0)
    expect(isRaw()).toBe(false)
  })

  test('a message typed while the model works is sent next', async () => {
    const first = Promise.withResolvers<ScriptedStep>()
    const { say, shows, ends, leave } = await chat((_, step) => (step === 0 ? first.promise : { text: 'And the second.' }))
    say('One')
    await shows('Esc stops it')
    say('Two')
    await shows('next: Two')
    first.resolve({ text: 'The first.' })
    await ends('And the second.')
    expect(
      sent()
        .map(({ content }) => content)
        .filter((content) => content === 'One' || content === 'The first.' || content === 'Two'),
    ).toEqual(['One', 'The first.', 'Two'])
    await leave()
  })

  test('Ctrl-C clears the line or stops a turn, and twice leaves and restores the terminal', async () => {
    const { say, press, shows, code, terminal, isRaw } = await chat(() => new Promise<ScriptedStep>(() => {}))
    press(`half a line${KEY.ctrlC}`)
    await shows(() => terminal.cursor.line === '>')
    say('Wait')
    await shows('Esc stops it')
    press(KEY.ctrlC)
    press(KEY.ctrlC)
    expect(await code).toBe(130)
    expect([isRaw(), terminal.bracketedPaste, terminal.cursorVisible]).toEqual([false, false, true])
    const { stdout } = await place.run(['logs', 'show', 'last', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ turn: { status: 'cancelled', question: 'Wait' } })
  })

  test('in a narrow terminal /help wraps within its column', async () => {
    const { say, shows, code, terminal } = await chat([], {}, { columns: 50 })
    say('/help')
    await shows('Ctrl-O')
    say('/exit')
    expect(await code).toBe(0)
    expect(terminal.text).toMatch(/^\/resume \[ID\] +continue/m)
    expect(terminal.text).toMatch(/^Ctrl-C +the same, or clear the\n {20,}line; twice: leave$/m)
  })

  test('read-only commands work while the model works, and /exit leaves', async () => {
    const { say, shows, code, terminal } = await chat(() => new Promise<ScriptedStep>(() => {}))
    say('Wait')
    await shows('Esc stops it')
    say('/cost')
    await shows('0 turns, 0 tokens in')
    say('/compact')
    await shows('next: /compact')
    say('/exit')
    expect(await code).toBe(130)
    expect(terminal.text).not.toContain('> /compact')
  })

  test('Ctrl-C twice while idle leaves with 0', async () => {
    const { press, shows, code, terminal } = await chat([])
    await shows('openai-compatible/test')
    press(KEY.ctrlC)
    await shows('Ctrl-C again leaves')
    press(KEY.ctrlC)
    expect(await code).toBe(0)
    expect(terminal.text).not.toContain('Ctrl-C again')
  })

  test('a signal restores the terminal', async () => {
    const { say, shows, stop, code, isRaw } = await chat(() => new Promise<ScriptedStep>(() => {}))
    say('Wait')
    await shows('Esc stops it')
    stop()
    await code
    expect(isRaw()).toBe(false)
  })

  test('an answer in single letters is shown like an answer at once', async () => {
    const text =
      '# Title\n\nSome **bold** words that are\nbroken.\n\n```js\nlet a = 1\n\nlet b = 2\n```\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.'
    const shown: string[] = []
    for (const deltas of [text.split(''), [text]]) {
      server = await chatServer(answer(...deltas))
      const { say, ends, press, code, terminal } = again()
      say('Go')
      await ends('The end.')
      press(KEY.ctrlD)
      await code
      shown.push(terminal.text.replace(/ses_\w+/, ''))
      await server[Symbol.asyncDispose]()
    }
    expect(shown[0]).toBe(shown[1])
    for (const part of ['Title\n\nSome bold words that are\nbroken.\n', 'let b = 2', '1. one\n2. two\n'])
      expect(shown[0]).toContain(part)
  })

  test('a provider failure does not end the session, and its message holds no key', async () => {
    let isKeyRight = false
    server = await chatServer((response, request) =>
      (isKeyRight ? answer('Welcome.') : refuse(401, 'Incorrect key sk-canary-0123456789'))(response, request),
    )
    const { say, shows, ends, terminal, leave } = again()
    say('Hello')
    await shows('Check the API key')
    expect(terminal.text).not.toContain('sk-canary-0123456789')
    isKeyRight = true
    await ends('Check the API key')
    say('Hello again')
    await ends('Welcome.')
    await leave()
  })

  test('a long paste is one message, shown in one line', async () => {
    const long = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\r\n')
    const { press, ends, shows, leave } = await chat([{ text: 'Read.' }])
    press(pasted(long))
    await shows('[pasted text 1: 40 lines]')
    press(` what is it?${KEY.enter}`)
    await ends('Read.')
    expect(sent().at(-1)?.content).toContain('line 0\nline 1\n')
    expect(sent().at(-1)?.content).toContain('line 39 what is it?')
    await leave()
  })

  test('a paste without bracketed paste is one message, sent by its final line end', async () => {
    const { press, ends, shows, terminal, leave } = await chat([{ text: 'Read.' }, { text: 'Again.' }])
    await shows('openai-compatible/test')
    press('first\rsecond\r')
    press('third')
    await shows(() => terminal.cursor.line.trim() === 'third')
    expect(server?.requests).toHaveLength(0)
    press(KEY.enter)
    await ends('Read.')
    expect(sent().at(-1)?.content).toBe('first\nsecond\nthird')
    press('\tone\r\n\ttwo\r\n')
    await ends('Again.')
    expect(sent().at(-1)?.content).toBe('one\n\ttwo')
    await leave()
  })

  test('the first output lines stand below a command, blank lines count, and waiting for the user is not timed', async () => {
    const { say, shows, ends, press, terminal, leave } = await chat([
      { calls: [{ name: 'run_command', input: { command: 'echo one; echo; for i in 3 4 5 6 7; do echo line $i; done' } }] },
      { text: 'Done.' },
    ])
    say('Run it')
    await shows('May run_command do this?')
    press('y')
    await ends('Done.')
    expect(terminal.text).toMatch(
      /· 7\n {2}lines · \/show 1\n {2}one\n\n {2}line 3\n {2}line 4\n {2}line 5\n {2}… 2 more lines\n/,
    )
    await leave()
  })

  test('an answer continues in the new width after a resize', async () => {
    const words = 'These words are all of one paragraph that has more of them than a narrow terminal has cells. '
    const rest = Promise.withResolvers<void>()
    server = await chatServer(async (response) => {
      startStream(response)
      sendDelta(response, `${words}\n\n`)
      await rest.promise
      sendDelta(response, `${words}\n\nThe end.`)
      endStream(response)
    })
    const { say, shows, ends, terminal, resize, leave } = again({}, { columns: 100 })
    say('Go')
    await shows('than a narrow')
    resize(40, 20)
    rest.resolve()
    await ends('The end.')
    const rows = terminal.text.slice(terminal.text.lastIndexOf('These words')).split('\n')
    expect(rows.slice(0, 3).map((row) => row.length <= 40)).toEqual([true, true, true])
    expect(terminal.text.match(/The end\./g)).toHaveLength(1)
    await leave()
  })

  test('a paste in pieces, cut anywhere, is whole', async () => {
    const text = `${'\u001B[31mred and 🦙\n'.repeat(200)}the end`
    const { press, ends, shows, terminal, leave } = await chat(() => ({ text: 'Read.' }))
    for (let size = 1; size <= 7; size += 3) {
      const keys = [...`${pasted(text)}!${KEY.enter}`]
      for (let at = 0; at < keys.length; at += size) press(keys.slice(at, at + size).join(''))
      await shows(() => terminal.text.split('Read.').length > Math.ceil(size / 3))
      await ends('Read.')
      expect(sent().at(-1)?.content).toBe(`${text}!`)
    }
    expect(terminal.strange).toEqual([])
    await leave()
  })

  test('a paste without its end mark does not block the keyboard, and its text is kept', async () => {
    const { press, ends, shows, code, terminal } = await chat([{ text: 'Read.' }])
    await shows('openai-compatible/test')
    press('\u001B[200~rm -rf\r')
    press(`and more${KEY.enter}`)
    await shows('a paste has not ended; Ctrl-C ends it')
    expect(server?.requests).toHaveLength(0)
    press(KEY.ctrlC)
    await shows(() => terminal.cursor.line.trim() === 'and more' || terminal.text.includes('> rm -rf'))
    expect(server?.requests).toHaveLength(0)
    press(KEY.enter)
    await ends('Read.')
    expect(sent().at(-1)?.content).toBe('rm -rf\nand more')
    // Pressed so fast that they arrive together, they clear the line and leave.
    press('\u001B[200~lost')
    press(KEY.ctrlC.repeat(4))
    expect(await code).toBe(0)
  })

  test('a line of a hundred thousand characters does not fill the screen, neither sent nor recalled', async () => {
    const { press, ends, shows, terminal, leave } = await chat([{ text: 'Read.' }, { text: 'Again.' }])
    press(`${pasted('x'.repeat(100_000))}${KEY.enter}`)
    await ends('Read.')
    expect(terminal.text).toContain('… 96000 more characters')
    expect(terminal.text.length).toBeLessThan(5000)
    press(KEY.up)
    await shows('> [pasted text 1: 100000 characters]')
    press(KEY.enter)
    await ends('Again.')
    expect(sent().at(-1)?.content).toHaveLength(100_000)
    await leave()
  })

  test('several lines, history, and completion of commands and paths', async () => {
    const { press, ends, shows, terminal, leave } = await chat([{ text: 'Yes.' }, { text: 'Again.' }])
    press(`one\\${KEY.enter}two add.t${KEY.tab}${KEY.enter}`)
    await ends('Yes.')
    expect(sent().at(-1)?.content).toContain('one\ntwo add.test.mjs')
    press(KEY.up)
    await shows(() => terminal.cursor.line.trim() === 'two add.test.mjs')
    press(`!${KEY.enter}`)
    await ends('Again.')
    press(`/to${KEY.tab}${KEY.enter}`)
    await shows(/run_command +asks/)
    await leave()
    expect(statSync(join(place.home, 'cria.history')).mode & 0o777).toBe(0o600)
    const next = again()
    await next.shows('openai-compatible/test')
    next.press(`${KEY.up}${KEY.up}`)
    await next.shows('two add.test.mjs!')
    next.press(`${KEY.ctrlC}${KEY.ctrlD}`)
    await next.code
  })

  test('a narrow, low or resized terminal shows no leftovers', async () => {
    const { press, ends, terminal, resize, leave } = await chat(
      [{ text: 'A long answer that has to be broken into several lines, however wide the screen is.' }],
      {},
      { columns: 40, rows: 8 },
    )
    press('a question that is longer than the forty cells of this screen')
    resize(30, 6)
    resize(80, 24)
    press(KEY.enter)
    await ends('however wide the screen')
    await leave()
    expect(terminal.text.match(/a question that is/g)).toHaveLength(1)
  })

  test('commands: show, cost, model, export, fork, compact, new', async () => {
    const { say, shows, ends, code, terminal } = await chat((messages) => {
      const last = messages.at(-1)?.content ?? ''
      if (last.includes('Summar') || last.includes('summar')) return { text: 'They looked at add.mjs.' }
      return messages.at(-1)?.role === 'user' && last.includes('Look')
        ? { calls: [READ] }
        : { text: `Answer to: ${last.slice(-20)}` }
    })
    say('Look at it')
    await ends('Answer to')
    expect(terminal.text).toMatch(/✓ read_file add\.mjs · .* · \/show 1/)
    say('/show')
    await shows('"path": "add.mjs"')
    say('/cost')
    await shows(/1 turn, .*in session\s+ses_/)
    say('/model openai-compatible/other')
    await shows('continuing with openai-compatible/other')
    say('/export talk.md')
    await shows('written to')
    expect(place.read('talk.md')).toContain('Look at it')
    expect(statSync(join(place.folder, 'talk.md')).mode & 0o777).toBe(0o600)
    say('/export talk.md')
    await shows('something of that name is in the way')
    say('/fork')
    await shows('is unchanged')
    say('And now?')
    await ends('And now?')
    expect(sent().some(({ content }) => content === 'Look at it')).toBe(true)
    say('/nonsense')
    await shows('There is no command /nonsense')
    say('/new')
    await shows('a new session')
    say('/compact')
    await shows('This session has no messages yet')
    say('/exit')
    expect(await code).toBe(0)
  })

  test('/changes lists changes, and /undo reverts them unless the file has changed since', async () => {
    const write = (path: string, content: string): ScriptedStep => ({ calls: [{ name: 'write_file', input: { path, content } }] })
    const { say, shows, ends, code, terminal } = await chat(
      [{ calls: [READ] }, { calls: [EDIT] }, write('new.txt', 'one\ntwo\n'), { text: 'Done.' }],
      { allow: ['edit_file', 'write_file'] },
    )
    say('/undo')
    await shows('There is no change to undo')
    say('Change them')
    await ends('Done.')
    say('/changes')
    await shows(/1 {2}add\.mjs +1 line added, 1 removed\n *2 {2}new\.txt +new, 2 lines added, 0 removed/)
    say('/changes 1')
    await shows('+export const add = (a, b) => a + b')
    say('/undo')
    await shows('new.txt is removed again')
    expect(existsSync(join(place.folder, 'new.txt'))).toBe(false)
    writeFileSync(join(place.folder, 'add.mjs'), `${FIXED}// mine\n`)
    say('/undo')
    await shows('it has changed since. Nothing was taken back')
    expect(place.read('add.mjs')).toContain('// mine')
    say('/changes')
    await shows(/add\.mjs .*changed since\n *2 {2}new\.txt .*undone/)
    writeFileSync(join(place.folder, 'add.mjs'), FIXED)
    say('/undo 1')
    await shows('add.mjs is as it was before edit 1')
    expect(place.read('add.mjs')).toBe(BROKEN)
    say('/undo 7')
    await shows('There is no edit 7')
    say('/exit')
    expect(await code).toBe(0)
    expect(terminal.strange).toEqual([])
  })

  test('edits of one file are undone one by one', async () => {
    place.write({ 'a.txt': 'one\r\n' })
    const edit = (old_string: string, new_string: string): ScriptedStep => ({
      calls: [{ name: 'edit_file', input: { path: 'a.txt', old_string, new_string } }],
    })
    const { say, shows, ends, code } = await chat(
      [{ calls: [{ name: 'read_file', input: { path: 'a.txt' } }] }, edit('one', 'two'), edit('two', 'three'), { text: 'Done.' }],
      { allow: ['edit_file'] },
    )
    say('Go')
    await ends('Done.')
    say('/undo 1')
    await shows('Take back edit 2 first: /undo 2')
    say('/undo')
    await shows('as it was before edit 2')
    expect(place.read('a.txt')).toBe('two\r\n')
    say('/undo')
    await shows('as it was before edit 1')
    expect(place.read('a.txt')).toBe('one\r\n')
    say('/exit')
    expect(await code).toBe(0)
  })

  test('!COMMAND runs a command of the user, shows it, and sends the output to the model as data', async () => {
    const { say, shows, ends, press, code, terminal } = await chat([{ text: 'I see.' }, { text: 'No more.' }])
    say('!echo hello; echo "$OPENAI_COMPATIBLE_API_KEY"; exit 3')
    await shows('It ended with exit code 3. The output is sent to the model with your next message.')
    expect(terminal.text).toContain('hello\n[redacted]\n')
    say('What does it say?')
    await ends('I see.')
    const texts = sent().map(({ role, content }) => [role, content ?? ''])
    expect(JSON.stringify(texts)).toContain('hello')
    expect(JSON.stringify(texts)).not.toContain('sk-canary')
    expect(texts.at(-1)?.[1]).toContain('What does it say?')
    say('And now?')
    await ends('No more.')
    say('!sleep 60')
    await shows('Esc stops it')
    press(KEY.escape)
    await shows('It was stopped.')
    say('/exit')
    expect(await code).toBe(0)
  })

  test('/model offers models of the providers and of config.json', async () => {
    place.configure({ models: { quick: 'openai-compatible/small' } })
    server = await chatServer((response, request) => {
      if (request.method !== 'GET') return answer('Here.')(response, request)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ data: [{ id: 'test' }, { id: 'large' }] }))
    })
    const { say, shows, press, code, terminal } = again()
    say('/model')
    await shows('Which model?')
    expect(terminal.screen).toMatch(
      /❯ 1 .*test \(current\)\n.*quick = openai-compatible\/small\n.*openai-compatible\/large\n.*type its name/,
    )
    press(`${KEY.down}${KEY.down}${KEY.enter}`)
    await shows('continuing with openai-compatible/large')
    say('/model')
    await shows('large (current)')
    press(KEY.escape)
    await shows(() => !terminal.screen.includes('Which model?'))
    say('/exit')
    expect(await code).toBe(0)
  })

  test('--bell rings when a long turn waits for the user, and when it ends', async () => {
    const { say, shows, ends, press, terminal, leave } = await chat([{ calls: [RUN_TEST] }, { text: 'Done.' }], { bell: '0' })
    say('Go')
    await shows('May run_command do this?')
    expect(terminal.bells).toBe(1)
    press('y')
    await ends('Done.')
    await shows(() => terminal.bells === 2)
    await leave()
    await expect(again({ bell: 'soon' }).code).rejects.toThrow('--bell takes seconds')
    const silent = again({ bell: '3600' })
    await silent.leave()
    expect(silent.terminal.bells).toBe(0)
  })

  test('/compact compacts the conversation, and the session continues from there', async () => {
    const long = 'All of it was said at some length. '.repeat(100)
    const { say, ends, shows, leave } = await chat((messages, step) =>
      messages.some(({ content }) => content?.includes('Paths are relative') === true)
        ? { text: `Answer ${step}. ${long}` }
        : { text: 'Notes: it was long.' },
    )
    for (const [index, text] of ['One', 'Two', 'Three'].entries()) {
      say(text)
      await ends(`Answer ${index}.`)
    }
    say('/compact')
    await shows('the conversation was shortened')
    say('Four')
    await ends('Answer 4.')
    expect(sent().map(({ content }) => content)).not.toContain('One')
    await leave()
  })
})

describe('a session is continued', () => {
  test('from a list, newest first, with its last messages', async () => {
    const first = await chat([{ text: 'Ada it is.' }, { text: 'Noted.' }, { text: 'Ada.' }])
    first.say('My name is Ada')
    await first.ends('Ada it is.')
    first.say('/new')
    await first.shows('a new session')
    first.say('Something else')
    await first.ends('Noted.')
    await first.leave()

    const { shows, press, say, ends, terminal, leave } = again({ resume: '' })
    await shows('Which session?')
    expect(terminal.text).toMatch(/❯ 1 .*1 turn .*Something else\n.*2 .*1 turn .*My name is Ada/)
    press(`${KEY.down}${KEY.enter}`)
    await shows('Ada it is.')
    // Shown as in the original chat.
    expect(terminal.text).toContain('> My name is Ada\n')
    say('Who am I?')
    await ends('Ada.')
    expect(sent().map(({ content }) => content)).toContain('My name is Ada')
    await leave()
  })

  test('with its last messages and calls shown as in the original chat', async () => {
    const { say, ends, terminal, leave } = await chat([{ calls: [READ] }, { text: 'It is **bold**:\n\n- one\n- two' }])
    say('Look')
    await ends('two')
    await leave()
    const spoken = (text: string): string => text.slice(text.indexOf('> Look'), text.indexOf('- two') + 5)
    const second = again({ resume: /ses_\w+/.exec(terminal.text)?.[0] ?? '' })
    await second.shows('continuing with ses_')
    expect(spoken(second.terminal.text)).toBe(spoken(terminal.text))
    expect(spoken(second.terminal.text)).toContain('✓ read_file add.mjs')
    second.say('/show 1')
    await second.shows('"path": "add.mjs"')
    await second.leave()
  })

  test('or a new one is begun, with a note, if none is chosen', async () => {
    const first = await chat([{ text: 'Ada it is.' }, { text: 'Who knows?' }])
    first.say('My name is Ada')
    await first.ends('Ada it is.')
    await first.leave()

    const { shows, press, say, ends, leave } = again({ resume: '' })
    await shows('Which session?')
    press(KEY.escape)
    await shows('your first message starts a new session')
    say('Who am I?')
    await ends('Who knows?')
    expect(sent().map(({ content }) => content)).not.toContain('My name is Ada')
    await leave()
  })

  test('an unknown session is an error', async () => {
    const { code } = await chat([], { resume: 'ses_nobody' })
    await expect(code).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('line mode', () => {
  const env = (): Record<string, string> => ({ OPENAI_COMPATIBLE_BASE_URL: server?.url ?? '', OPENAI_COMPATIBLE_API_KEY: 'k' })

  test('in a pipe each line is a message, answers go to standard output, and permissions are refused', async () => {
    server = await agentServer([{ text: 'One.' }, { calls: [RUN_TEST] }, { text: 'Two.' }])
    const input = 'first\\\nand more\n\n/cost\nsecond\n'
    const { code, stdout, stderr } = await place.run(['chat', '-m', 'openai-compatible/test'], { input, env: env() })
    expect({ code, stdout }).toEqual({ code: 4, stdout: 'One.\nTwo.\n' })
    expect(sent(0).at(-1)?.content).toContain('first\nand more')
    expect(toolResultsIn(server)[0]).toContain('No user is available')
    expect(stderr).toContain('1 turn')
  })

  test('empty input succeeds, and a wrong model is wrong usage', async () => {
    server = await agentServer([])
    expect(await place.run(['chat', '-m', 'openai-compatible/test'], { env: env() })).toMatchObject({ code: 0, stdout: '' })
    expect(await place.run(['chat'], { input: 'x' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('needs a model') as string,
    })
    expect((await place.run(['chat', '--resume', '-m', 'openai-compatible/test'], { env: env() })).code).toBe(2)
  })

  test('the configuration of an untrusted folder is ignored, with one note', async () => {
    server = await agentServer([{ calls: [RUN_TEST] }, { text: 'Refused.' }])
    place.write({ '.cria/config.json': JSON.stringify({ rules: { allow: ['run_command'] } }) })
    const { code, stderr } = await place.run(['chat', '-m', 'openai-compatible/test'], { input: 'go', env: env() })
    expect(code).toBe(4)
    expect(stderr.match(/cria trust/g)).toHaveLength(1)
    expect(existsSync(join(place.folder, 'made'))).toBe(false)
  })
})
