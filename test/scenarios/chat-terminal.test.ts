/** Tests chats in a real terminal: killed processes, keys through the terminal driver, and the state of the terminal afterwards. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agentServer } from '../support/agent-server.ts'
import type { SentMessage } from '../support/agent-server.ts'
import { answer, chatServer } from '../support/chat-server.ts'
import { KEY } from '../support/chat-terminal.ts'
import { hasTerminal } from '../support/real-terminal.ts'
import { until } from '../support/processes.ts'
import { VirtualTerminal } from '../support/virtual-terminal.ts'
import { eachScene } from './command-line.ts'
import type { Running } from './command-line.ts'

const scene = eachScene()

function chat(words: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Running {
  return scene.place.start(['chat', '-m', 'openai-compatible/test', ...words], {
    inTerminal: true,
    isTyped: true,
    env: { OPENAI_COMPATIBLE_BASE_URL: scene.server?.url ?? '', OPENAI_COMPATIBLE_API_KEY: 'k', TERM: 'xterm-256color', ...env },
  })
}

describe.runIf(hasTerminal)('in a real terminal', () => {
  test('ENG-TOOL-001 a change is shown, allowed and made, and Ctrl-D restores the terminal', async () => {
    scene.place.write({ 'add.mjs': 'export const add = (a, b) => a - b\n' })
    scene.place.configure({ modelFacts: { 'openai-compatible/test': { contextWindow: 30_000, price: { input: 1, output: 2 } } } })
    scene.server = await agentServer([
      { calls: [{ name: 'read_file', input: { path: 'add.mjs' } }] },
      { calls: [{ name: 'edit_file', input: { path: 'add.mjs', old_string: 'a - b', new_string: 'a + b' } }] },
      { text: 'Mended.' },
    ])
    const { process, shows, ended } = chat()
    await shows('openai-compatible/test')
    process.stdin.write(`Fix it${KEY.enter}`)
    await shows('May edit_file do this?')
    process.stdin.write('y')
    await shows('Mended.')
    await shows('0 % of context · 45 tokens · $0.000054')
    expect(scene.place.read('add.mjs')).toContain('a + b')
    process.stdin.write(KEY.ctrlD)
    const { code, stdout } = await ended
    expect(code).toBe(0)
    expect(stdout).toContain('\u001B[32m+export const add = (a, b) => a + b\u001B[39m')
    // The terminal is restored, then the hint how to continue is printed.
    const [, left] = stdout.split('\u001B[?2004l\u001B[?25h\u001B[0m')
    expect(left).toContain('To continue: cria chat --resume ses_')
    expect(left?.trimEnd().split('\n')).toHaveLength(1)
  })

  test('a chat that was killed during a command continues in another process, and first reports the unknown effect', async () => {
    const command = 'echo $PPID > pid.tmp; mv pid.tmp pid; sleep 60'
    const run = { name: 'run_command', input: { command } }
    scene.server = await agentServer((messages: readonly SentMessage[]) =>
      messages.at(-1)?.role === 'user' && messages.at(-1)?.content?.includes('Go on') !== true
        ? { calls: [run] }
        : { text: `It was interrupted: ${String(messages.some(({ content }) => content?.includes('effects are unknown')))}` },
    )
    // The parent process id is valid only outside the sandbox.
    const first = chat(['--sandbox', 'off'])
    await first.shows('openai-compatible/test')
    first.process.stdin.write(`Deploy it${KEY.enter}`)
    await first.shows('May run_command do this?')
    first.process.stdin.write('y')
    await until(() => existsSync(join(scene.place.folder, 'pid')))
    process.kill(Number(scene.place.read('pid')), 'SIGKILL')
    await first.ended

    const second = chat(['--resume'])
    await second.shows('Deploy it')
    second.process.stdin.write(KEY.enter)
    await second.shows('The effects of these calls are unknown:')
    await second.shows('run_command echo $PPID')
    second.process.stdin.write(`Go on${KEY.enter}`)
    await second.shows('It was interrupted: true')
    await second.shows('tokens')
    second.process.stdin.write(KEY.ctrlD)
    const { code, stdout } = await second.ended
    expect(code).toBe(0)
    expect(stdout.indexOf('Nobody knows')).toBeLessThan(stdout.indexOf('Go on'))
  })

  test.each([60, 100, 160])(
    'in %i columns the hint on leaving works when it is pasted, in another folder too',
    async (columns) => {
      scene.place.write({ 'work/colour.txt': 'It is red.\n', 'docs/a.md': 'The mill stands.\n' })
      scene.server = await agentServer((messages: readonly SentMessage[]) =>
        messages.at(-1)?.content?.includes('Look') === true
          ? { calls: [{ name: 'read_file', input: { path: 'colour.txt' } }] }
          : { text: 'Seen **it**.' },
      )
      const env = {
        OPENAI_COMPATIBLE_BASE_URL: scene.server.url,
        OPENAI_COMPATIBLE_API_KEY: 'k',
        TERM: 'xterm-256color',
        ...(columns === 60 ? { NO_COLOR: '1' } : {}),
      }
      const inTerminal = { inTerminal: true, isTyped: true, columns, env }
      const work = join(scene.place.folder, 'work')
      const first = scene.place.start(['chat', '-m', 'openai-compatible/test', '--fetch', '--docs', '../docs'], {
        ...inTerminal,
        cwd: work,
      })
      await first.shows('openai-compatible/test')
      first.process.stdin.write(`Look${KEY.enter}`)
      await first.shows('Seen')
      await first.shows('tokens')
      first.process.stdin.write(KEY.ctrlD)
      const left = await first.ended
      const [, hint = ''] = /To continue: cria (chat --resume ses_\w+)/.exec(left.stdout) ?? []

      // Nothing but the hint, somewhere else.
      const second = scene.place.start(hint.split(' '), inTerminal)
      await second.shows('tools work in')
      await second.shows('continuing with ses_')
      second.process.stdin.write(`Look again${KEY.enter}`)
      await until(() => scene.server?.requests.length === 4)
      await second.shows('30 tokens')
      second.process.stdin.write(`/tools${KEY.enter}`)
      await second.shows('search_documents')
      await second.shows('fetch_url')
      second.process.stdin.write(KEY.ctrlD)
      const { code, stdout } = await second.ended
      expect(code).toBe(0)
      expect(stdout).toContain(work.slice(0, 30))
      const asked = (scene.server.requests as string[]).map(
        (body) => JSON.parse(body) as { model: string; messages: SentMessage[] },
      )
      expect(new Set(asked.map(({ model }) => model))).toEqual(new Set(['test']))
      expect(asked.at(-1)?.messages.at(-1)?.content).toContain('It is red.')
      // Earlier messages are shown unchanged.
      const terminal = new VirtualTerminal(columns)
      terminal.write(stdout)
      expect(terminal.strange).toEqual([])
      expect(terminal.text).toMatch(/> Look\n✓ read_file colour\.txt · .*\n\n?Seen it\./)
    },
  )

  test('without bracketed paste a paste is one message; changes are listed and undone, and commands run', async () => {
    scene.place.write({ 'add.mjs': 'export const add = (a, b) => a - b\n' })
    scene.server = await agentServer([
      { calls: [{ name: 'read_file', input: { path: 'add.mjs' } }] },
      { calls: [{ name: 'edit_file', input: { path: 'add.mjs', old_string: 'a - b', new_string: 'a + b' } }] },
      { text: 'Mended.' },
      { text: 'I see.' },
    ])
    const { process, shows, ended } = chat(['--allow', 'edit_file', '--bell', '0'], { NO_COLOR: '1' })
    await shows('openai-compatible/test')
    process.stdin.write('Fix it:\rthe sum\ris wrong\r')
    await shows('Mended.')
    expect(scene.server.requests).toHaveLength(3)
    expect((JSON.parse(scene.server.requests[0] ?? '{}') as { messages: SentMessage[] }).messages.at(-1)?.content).toContain(
      'Fix it:\nthe sum\nis wrong',
    )
    await shows('\u0007')
    process.stdin.write(`/changes${KEY.enter}`)
    await shows('1 line added, 1 removed')
    process.stdin.write(`/undo${KEY.enter}`)
    await shows('add.mjs is as it was before edit 1')
    expect(scene.place.read('add.mjs')).toContain('a - b')
    process.stdin.write(`!echo one; echo two >&2${KEY.enter}`)
    await shows('The output is sent to the model with your next message')
    process.stdin.write(`What is it?${KEY.enter}`)
    await shows('I see.')
    expect(scene.server.requests.at(-1)).toContain('one\\ntwo')
    process.stdin.write(`/cost${KEY.enter}`)
    await shows('2 turns')
    process.stdin.write(`/exit${KEY.enter}`)
    expect((await ended).code).toBe(0)
  })

  test('/model offers the models of the provider', async () => {
    scene.server = await chatServer((response, request) => {
      if (request.method !== 'GET') return answer('Here.')(response, request)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ data: [{ id: 'test' }, { id: 'large' }] }))
    })
    const { process, shows, ended } = chat()
    await shows('openai-compatible/test')
    process.stdin.write(`/model${KEY.enter}`)
    await shows('openai-compatible/large')
    process.stdin.write('2')
    await shows('continuing with openai-compatible/large')
    process.stdin.write(KEY.ctrlD)
    expect((await ended).code).toBe(0)
  })

  test('line mode: a paste is one message, an unclear answer is asked for again, a command lists its changes', async () => {
    scene.server = await agentServer([
      { calls: [{ name: 'run_command', input: { command: 'echo one; echo; echo three' } }] },
      { text: 'Done.' },
    ])
    const { process, shows, ended } = chat(['--plain'])
    for (const [shown, typed] of [
      ['> ', 'Do it\nand tell me\n'],
      ['May run_command do this?', 'xy\n'],
      ['"xy" is not one of them', 'y\n'],
      ['three', ''],
      ['Done.', '/changes\n'],
      ['no tool has written a file', '!echo mine\n'],
      ['The output is sent to the model with your next message', KEY.ctrlD],
    ] as const) {
      await shows(shown)
      process.stdin.write(typed)
    }
    const { code, stdout } = await ended
    expect(code).toBe(0)
    expect((JSON.parse(scene.server.requests[0] ?? '{}') as { messages: SentMessage[] }).messages.at(-1)?.content).toContain(
      'Do it\nand tell me',
    )
    expect(stdout).toMatch(/to continue: cria chat --resume ses_\w+/)
  })

  test('ENG-QUERY-001 /steer reaches the model before its next step, Enter after the turn', async () => {
    scene.place.configure({ rules: { allow: ['run_command'] } })
    const sent: (readonly SentMessage[])[] = []
    scene.server = await agentServer((messages: readonly SentMessage[]) => {
      sent.push(messages)
      const last = messages.at(-1)
      if (last?.role === 'user' && last.content?.includes('Look') === true)
        return { calls: [{ name: 'run_command', input: { command: 'touch begun; while [ ! -e go ]; do sleep 0.05; done' } }] }
      return { text: `Answer ${sent.length}.` }
    })
    const { process, shows, ended } = chat()
    await shows('openai-compatible/test')
    process.stdin.write(`Look${KEY.enter}`)
    await until(() => existsSync(join(scene.place.folder, 'begun')))
    process.stdin.write(`Then count them.${KEY.enter}`)
    process.stdin.write(`/steer Only the red ones.${KEY.enter}`)
    await shows('sent to the model before its next step')
    scene.place.write({ go: '' })
    await shows('Answer 3.')
    process.stdin.write(KEY.ctrlD)
    await ended
    const said = sent.map((messages) => messages.flatMap(({ role, content }) => (role === 'user' ? [content ?? ''] : [])))
    expect(said[1]?.slice(-2)).toEqual([expect.stringContaining('Look'), 'Only the red ones.'])
    expect(said[2]?.at(-1)).toContain('Then count them.')
    const { stdout } = await scene.place.run(['logs', 'export'])
    const [, first] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { events: { type: string; delivery?: string }[] })
    expect(first?.events.flatMap(({ type, delivery }) => (type === 'steering' ? [delivery] : []))).toEqual(['steer', 'follow_up'])
  })

  test('a simple terminal and --plain use line mode, and questions are answered with a letter', async () => {
    scene.server = await agentServer([
      { calls: [{ name: 'run_command', input: { command: 'echo made > made.txt' } }] },
      { text: 'Made.' },
    ])
    const { process, shows, ended } = chat([], { TERM: 'dumb' })
    await shows('> ')
    process.stdin.write('Make it\n')
    await shows('May run_command do this?')
    process.stdin.write('y\n')
    await shows('Made.')
    expect(scene.place.read('made.txt')).toBe('made\n')
    process.stdin.write(KEY.ctrlD)
    const { code, stdout } = await ended
    expect(code).toBe(0)
    expect(stdout).not.toContain('\u001B')
  })

  test('line mode: Ctrl-C stops a turn, and twice leaves', async () => {
    let asked = 0
    scene.server = await agentServer(() => (asked++ === 0 ? new Promise<never>(() => {}) : { text: 'Still here.' }))
    const { process, shows, ended } = chat(['--plain'])
    await shows('> ')
    process.stdin.write('Wait\n')
    await until(() => scene.server?.requests.length === 1)
    process.stdin.write(KEY.ctrlC)
    await shows('stopped; recorded as')
    process.stdin.write('Are you there?\n')
    await shows('Still here.')
    process.stdin.write(KEY.ctrlC)
    process.stdin.write(KEY.ctrlC)
    expect((await ended).code).toBe(130)
  })

  test('Ctrl-Z without a job-control shell continues at once', async () => {
    scene.server = await agentServer([{ text: 'Still here.' }])
    const { process, shows, ended } = chat()
    await shows('openai-compatible/test')
    process.stdin.write('\u001A')
    // The terminal is restored, and then set up again.
    await shows('\u001B[?2004l\u001B[?25h\u001B[0m\u001B[?2004h')
    process.stdin.write(`Hello${KEY.enter}`)
    await shows('Still here.')
    await shows('15 tokens')
    process.stdin.write(KEY.ctrlD)
    expect((await ended).code).toBe(0)
  })

  test('NO_COLOR removes colours and nothing else', async () => {
    scene.server = await agentServer([{ text: '**bold**' }])
    const { process, shows, ended } = chat([], { NO_COLOR: '1' })
    await shows('openai-compatible/test')
    process.stdin.write(`Hello${KEY.enter}`)
    await shows('bold')
    await shows('tokens')
    process.stdin.write(KEY.ctrlD)
    const { code, stdout } = await ended
    expect(code).toBe(0)
    // eslint-disable-next-line no-control-regex
    expect(stdout.match(/\u001B\[\d*m/g)?.filter((style) => style !== '\u001B[0m') ?? []).toEqual([])
  })
})
