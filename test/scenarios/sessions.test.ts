/** Tests how sessions and turns are listed, searched, shown, followed and continued. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SessionSummary, TurnList } from '../../src/core/recorder.ts'
import { openRecorder, query } from '../../src/index.ts'
import { ScriptedModel } from '../../src/testing.ts'
import { agentServer } from '../support/agent-server.ts'
import type { ChatServer } from '../support/chat-server.ts'
import { hasTerminal } from '../support/real-terminal.ts'
import { newPlace } from './command-line.ts'
import type { Ended, Place } from './command-line.ts'

let place: Place
let server: ChatServer
let elsewhere: string

beforeAll(async () => {
  place = newPlace()
  elsewhere = join(place.folder, 'elsewhere')
  mkdirSync(elsewhere)
  server = await agentServer((messages) => {
    const last = messages.at(-1)
    if (last?.content?.includes('Test it') === true)
      return { calls: [{ name: 'run_command', input: { command: 'echo needle_in_call' } }] }
    return { text: last?.role === 'tool' ? 'Tested.' : `Answer to ${last?.content ?? ''}` }
  })
  await chat('What is a mill?\nAnd a dam?\n')
  await chat('Test it\n', ['--allow', 'run_command'])
  await chat('Far away\n', [], elsewhere)
  await place.run(['logs', 'rate', (await turns())[0]?.turnId ?? '', '5'])
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  place[Symbol.dispose]()
})

function chat(input: string, words: readonly string[] = [], cwd = place.folder): Promise<Ended> {
  const env = { OPENAI_COMPATIBLE_BASE_URL: server.url, OPENAI_COMPATIBLE_API_KEY: 'k' }
  return place.run(['chat', '-m', 'openai-compatible/test', '--sandbox', 'off', ...words], { input, env, cwd })
}

async function turns(...words: readonly string[]): Promise<TurnList['turns']> {
  const { stdout, stderr } = await place.run(['logs', ...(words.length === 0 ? ['list'] : words), '--json'])
  expect(stderr).toBe('')
  return (JSON.parse(stdout) as TurnList).turns
}

const questions = async (...words: readonly string[]): Promise<string[]> =>
  (await turns(...words)).map(({ question }) => question)

async function sessions(...words: readonly string[]): Promise<readonly SessionSummary[]> {
  const { stdout } = await place.run(['logs', 'sessions', ...words, '--json'])
  return (JSON.parse(stdout) as { sessions: readonly SessionSummary[] }).sessions
}

describe('logs list and search', () => {
  test.each([
    [['list', '--tool', 'run_command'], ['Test it']],
    [['list', '--tool', 'edit_file'], []],
    [['list', '--bot', 'chat', '-n', '1'], ['Far away']],
    [['list', '--bot', 'QueryBot'], []],
    [['list', '--rating', '5'], ['Far away']],
    [['list', '--rating', 'none', '-n', '1'], ['Test it']],
    [['list', '--since', '1h', '-n', '1'], ['Far away']],
    [['list', '--since', '2100-01-01'], []],
    [['list', '--until', '1h'], []],
    [['list', '--until', '2100-01-01 08:00', '-n', '1'], ['Far away']],
    // Occurs only in the arguments of a tool call.
    [['search', 'NEEDLE_in_call'], ['Test it']],
    [['search', 'run_command', 'echo'], ['Test it']],
    [['search', 'run_command', 'mill'], []],
    [['search', '%', '_'], []],
    [['search', 'dam', '--since', 'today'], ['And a dam?']],
  ])('%j', async (words, found) => {
    expect(await questions(...words)).toEqual(found)
  })

  test.each([
    [['--since', 'soon'], /A time is 2026-01-31/],
    [['--since', '2026-13-45'], /A time is 2026-01-31/],
    [['--rating', '9'], /A rating is 1 to 5/],
  ])('refuses %j', async (words, message) => {
    expect(await place.run(['logs', 'list', ...words])).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
  })

  test('by user and tags', async () => {
    const recorder = await openRecorder(join(place.home, 'cria.db'))
    const model = new ScriptedModel(['Yes.'])
    await Array.fromAsync(query({ prompt: 'Ada here?', model, recorder, userId: 'ada', tags: ['beta'] }))
    await recorder.close()
    expect(await questions('list', '--user', 'ada')).toEqual(['Ada here?'])
    expect(await questions('list', '--tag', 'beta', '--tag', 'nothing')).toEqual([])
    expect((await place.run(['logs', 'stats', '--by', 'tag'])).stdout).toMatch(/^beta +1 /m)
    const { stdout } = await place.run(['logs', 'stats', '--user', 'ada', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ total: { turns: 1 } })
  })
})

describe('sessions', () => {
  test('are listed by folder, newest first, and found by their text and tool calls', async () => {
    expect((await sessions()).map(({ title, turns: count }) => [title, count])).toEqual([
      ['Test it', 1],
      ['What is a mill?', 2],
    ])
    expect((await sessions('dam')).map(({ title }) => title)).toEqual(['What is a mill?'])
    expect((await sessions('needle_in_call')).map(({ title }) => title)).toEqual(['Test it'])
    expect((await sessions('Far')).map(({ title }) => title)).toEqual([])
    const all = await sessions('--all')
    expect(all.find(({ title }) => title === 'Far away')).toMatchObject({
      folder: elsewhere,
      model: 'openai-compatible/test',
      settings: { model: 'openai-compatible/test' },
    })
    expect((await place.run(['logs', 'sessions', 'nothing', 'at', 'all'])).stderr).toContain('--all looks in all folders')
  })

  test.runIf(hasTerminal).each([60, 100, 160])(
    'are shown in %i columns, with what was asked and answered, oldest first',
    async (columns) => {
      const [mill] = await sessions('mill')
      const { sessionId = '' } = mill ?? {}
      const shown = await place.run(['logs', 'show', sessionId], {
        inTerminal: true,
        columns,
        env: { NO_COLOR: '1', TERM: 'xterm' },
      })
      expect(shown.code).toBe(0)
      const lines = shown.stdout.replaceAll('\r', '').split('\n')
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
      const text = lines.join('\n')
      expect(text).toContain(`cria chat --resume ${sessionId}`)
      expect(text.indexOf('> What is a mill?')).toBeLessThan(text.indexOf('> And a dam?'))
      expect(text).toContain('Answer to And a dam?')
      // eslint-disable-next-line no-control-regex
      expect(text).not.toMatch(/\u001B/)
      const { stdout } = await place.run(['logs', 'show', sessionId, '--json'])
      expect(JSON.parse(stdout)).toMatchObject({ session: { sessionId }, turns: [{}, {}], messages: [{}, {}, {}, {}] })
    },
  )

  test.runIf(hasTerminal).each([60, 100, 160])('and their turns are listed in %i columns', async (columns) => {
    for (const words of [
      ['logs', 'sessions', '--all'],
      ['logs', 'list'],
      ['logs', 'search', 'mill'],
    ]) {
      const { stdout } = await place.run(words, { inTerminal: true, columns, env: { NO_COLOR: '1', TERM: 'xterm' } })
      const lines = stdout.split(/\r?\n/)
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
      expect(stdout).toContain('What is a mill?')
    }
  })

  test('called tools are named, and an unknown id is reported', async () => {
    const [tested] = await sessions('needle_in_call')
    expect((await place.run(['logs', 'show', tested?.sessionId ?? ''])).stdout).toContain('tools: run_command')
    expect(await place.run(['logs', 'show', 'ses_nobody'])).toMatchObject({ code: 1, stderr: expect.stringContaining('no turn') })
  })
})

test('logs tail shows the last turns, and then each turn of another process once, when it has ended', async () => {
  const tail = place.start(['logs', 'tail', '-n', '1', '--bot', 'chat'])
  await tail.shows('Far away')
  await chat('A new one\n', [], elsewhere)
  await tail.shows('A new one')
  // Two looks of the tail.
  await sleep(1200)
  tail.process.kill('SIGINT')
  const { code, stdout } = await tail.ended
  expect(code).toBe(130)
  expect(stdout.match(/A new one/g)).toHaveLength(1)
  expect(stdout).not.toContain('mill')
})
