import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defineTool, openRecorder, query } from '../../src/index.ts'
import { ScriptedModel } from '../../src/testing.ts'
import type { TurnDetail, TurnList } from '../../src/core/recorder.ts'
import { agentServer } from '../support/agent-server.ts'
import { answer, chatServer, refuse } from '../support/chat-server.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place
const QUESTIONS = ['What is compaction?', 'Who wrote "multi-agent" systems?', 'Does it fail?']

beforeAll(async () => {
  place = newPlace()
  let asked = 0
  await using server = await chatServer((response, request) => {
    const reply = asked === 3 ? refuse(400, 'no') : answer(`Answer ${asked}.`)
    return reply(response, request)
  })
  for (const question of QUESTIONS) {
    asked++
    await place.run(['ask', question, '-m', 'openai-compatible/test'], { env: { OPENAI_COMPATIBLE_BASE_URL: server.url } })
  }
})
afterAll(() => {
  place[Symbol.dispose]()
})

async function json<T>(...words: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await place.run([...words, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  return JSON.parse(stdout) as T
}

describe('REC-LOG-001 cria logs', () => {
  test('list: newest first, with the fields of the contract', async () => {
    const { turns } = await json<TurnList>('logs', 'list')
    expect(turns.map(({ question, status }) => [question, status])).toEqual([
      [QUESTIONS[2], 'failed'],
      [QUESTIONS[1], 'done'],
      [QUESTIONS[0], 'done'],
    ])
    expect(Object.keys(turns[0] ?? {}).toSorted()).toEqual(
      [
        'turnId',
        'sessionId',
        'status',
        'bot',
        'model',
        'question',
        'startedAt',
        'latencyMs',
        'usage',
        'costUsd',
        'rating',
        'userId',
        'tags',
      ].toSorted(),
    )
  })

  test('list: pages', async () => {
    const first = await json<TurnList>('logs', 'list', '-n', '2')
    expect(first.turns).toHaveLength(2)
    const second = await json<TurnList>('logs', 'list', '-n', '2', '--cursor', String(first.nextCursor))
    expect(second.turns.map(({ question }) => question)).toEqual([QUESTIONS[0]])
    expect(second.nextCursor).toBeNull()
    expect((await place.run(['logs', 'list', '--cursor', 'x'])).code).toBe(2)
  })

  test('list: as a table', async () => {
    const { stdout } = await place.run(['logs', 'list'])
    expect(stdout.split('\n')[0]).toMatch(
      /^\S+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}failed .* openai-compatible\/test {2}Does it fail\?$/,
    )
  })

  test.each([
    ['compaction', 1],
    ['multi-agent', 1],
    ['"multi-agent', 1],
    ['answer', 2],
    ['compaction AND nothing', 0],
    ['NEAR(', 0],
    ['*', 0],
    ['x:multi', 0],
  ])('search: %s is literal', async (words, count) => {
    expect((await json<TurnList>('logs', 'search', words)).turns).toHaveLength(count)
  })

  test('show: the turn with messages, events and spans', async () => {
    const detail = await json<TurnDetail>('logs', 'show', 'last')
    expect(detail.turn).toMatchObject({ question: QUESTIONS[2], status: 'failed', error: { code: 'invalid_request' } })
    const [, second] = (await json<TurnList>('logs', 'list')).turns
    const { turn, messages, events, spans } = await json<TurnDetail>('logs', 'show', second?.turnId ?? '')
    expect(turn.text).toBe('Answer 2.')
    expect(messages.map(({ role }) => role)).toContain('assistant')
    expect(events.at(-1)?.type).toBe('complete')
    expect(spans.map(({ name }) => name)).toContain('simplebot.ask')
  })

  test('show: as text', async () => {
    const { stdout } = await place.run(['logs', 'show', 'last'])
    expect(stdout).toContain('status   failed')
    expect(stdout).toContain('Does it fail?')
    expect(stdout).toContain('invalid_request')
    expect(stdout).toMatch(/Spans\n +start +took\nsimplebot\.ask +\+\d+ ms/)
  })

  test('show: an unknown id may be a turn or a session', async () => {
    const { code, stderr } = await place.run(['logs', 'show', 'ses_none'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('There is no turn or session "ses_none"') })
  })

  test('show: prints each tool call with its start, and the time to the first token', async () => {
    await using server = await agentServer([{ calls: [{ name: 'list_files', input: { path: '.' } }] }, { text: 'Nothing.' }])
    using other = newPlace()
    await other.run(['run', 'Look', '-m', 'openai-compatible/test'], { env: { OPENAI_COMPATIBLE_BASE_URL: server.url } })
    const { stdout } = await other.run(['logs', 'show', 'last'])
    expect(stdout).toMatch(/took +.*, the first token after \d+(?:\.\d)? m?s\n/)
    expect(stdout).toMatch(/\n {2}list_files +\+\d+(?:\.\d)? m?s +\d+(?:\.\d)? m?s +·*█+·*\n/)
    for (const columns of [60, 100, 160]) {
      const shown = await other.run(['logs', 'show', 'last'], { inTerminal: true, columns, env: { NO_COLOR: '1' } })
      const spans = shown.stdout.slice(shown.stdout.indexOf('Spans'))
      for (const line of spans.split('\r\n')) expect(line.length).toBeLessThanOrEqual(columns)
    }
    await using talker = await chatServer(answer('Boats sail to the island on every day of the week. '.repeat(9)))
    await other.run(['ask', 'When?', '-m', 'openai-compatible/test'], { env: { OPENAI_COMPATIBLE_BASE_URL: talker.url } })
    const shown = await other.run(['logs', 'show', 'last'], { inTerminal: true, columns: 60, env: { NO_COLOR: '1' } })
    for (const line of shown.stdout.split('\r\n')) expect(line.length).toBeLessThanOrEqual(60)
  })

  test('list: finds turns with calls that wait for a decision', async () => {
    using other = newPlace()
    const tool = defineTool({ name: 'send', description: 'Sends.', inputSchema: { type: 'object' }, call: () => 'Sent.' })
    const model = new ScriptedModel([{ toolCalls: [{ name: 'send', input: {} }] }, 'Later.'])
    const recorder = await openRecorder({ path: join(other.home, 'cria.db') })
    for (const [prompt, tools] of [['Send it.', [tool]] as const, ['Do you hear me?', []] as const])
      for await (const _ of query({ prompt, model, tools, recorder, hasPermissionsToUseTool: () => 'wait' }));
    await recorder.close()
    const { stdout } = await other.run(['logs', 'list', '--status', 'waiting', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ turns: [{ question: 'Send it.', status: 'waiting' }] })
  })

  test('list: shows ratings if there are any, and unknown values as a dash, also in sums', async () => {
    using other = newPlace()
    await using server = await chatServer(answer('Yes.'))
    const env = { OPENAI_COMPATIBLE_BASE_URL: server.url }
    for (const question of ['One?', 'Two?']) await other.run(['ask', question, '-m', 'openai-compatible/test'], { env })
    expect((await other.run(['logs', 'list'])).stdout).not.toContain('rated')
    await other.run(['logs', 'rate', 'last', '4'])
    const { stdout } = await other.run(['logs', 'list'])
    expect(stdout).toMatch(/ – {2}rated 4 {2}openai-compatible\/test {2}Two\?\n.* – {2}– +openai-compatible\/test {2}One\?\n/)
    expect((await other.run(['logs', 'stats'])).stdout).toMatch(/total +2 .* –\n/)
  })

  test('stats: turns by day and model, with unknown costs apart', async () => {
    const { days, total } = await json<{ days: object[]; total: object }>('logs', 'stats')
    expect(days).toHaveLength(1)
    expect(total).toMatchObject({ turns: 3, unfinished: 1, outputTokens: 6, unknownCost: 2 })
  })

  test('export: one turn per line', async () => {
    const { stdout } = await place.run(['logs', 'export'])
    const turns = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as TurnDetail)
    expect(turns.map(({ turn }) => turn.question)).toEqual(QUESTIONS.toReversed())
    expect((await place.run(['logs', 'export', '-n', '1'])).stdout.trimEnd().split('\n')).toHaveLength(1)
  })

  test('replay: the same answer and the same exit code, without asking a model', async () => {
    const [, second] = (await json<TurnList>('logs', 'list')).turns
    expect(await place.run(['logs', 'replay', second?.turnId ?? ''])).toEqual({ code: 0, stdout: 'Answer 2.\n', stderr: '' })
    expect((await place.run(['logs', 'replay', 'last'])).code).toBe(3)
  })

  test('rate: up, down, a number, and back', async () => {
    for (const [word, rating] of [
      ['up', 1],
      ['-1', -1],
      ['5', 5],
      ['none', null],
    ] as const) {
      expect(await json('logs', 'rate', 'last', word)).toMatchObject({ rating })
      expect((await json<TurnDetail>('logs', 'show', 'last')).turn.rating).toBe(rating)
    }
  })

  test('gc: lists the turns to remove, and then removes them', async () => {
    expect(await json('logs', 'gc')).toMatchObject({ turns: 0, dryRun: false })
    expect(await json('logs', 'gc', '--max-age', '0', '--dry-run')).toMatchObject({ turns: 3, dryRun: true })
    expect((await json<TurnList>('logs', 'list')).turns).toHaveLength(3)
  })
})

test.runIf(process.platform !== 'win32')('the journal is readable only by its owner', () => {
  expect(statSync(join(place.home, 'cria.db')).mode & 0o077).toBe(0)
  expect(statSync(place.home).mode & 0o077).toBe(0)
})

describe('a journal that cannot be used ends with 1, a message that names it, and nothing is overwritten', () => {
  test.each([
    ['another application’s file', 'This is no database, but it is long enough to be taken for one.'],
    ['a damaged file', `SQLite format 3\0${'x'.repeat(5000)}`],
  ])('%s', async (_what, content) => {
    using other = newPlace()
    mkdirSync(other.home)
    writeFileSync(join(other.home, 'cria.db'), content)
    const { code, stdout, stderr } = await other.run(['logs', 'list'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(join(other.home, 'cria.db'))
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(statSync(join(other.home, 'cria.db')).size).toBe(content.length)
  })

  test('a journal of a newer version', async () => {
    using other = newPlace()
    const { DatabaseSync } = await import('node:sqlite')
    await other.run(['ask', 'x', '-m', 'openai-compatible/test'], { env: { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1' } })
    const database = new DatabaseSync(join(other.home, 'cria.db'))
    database.exec('PRAGMA user_version = 999')
    database.close()
    const { code, stderr } = await other.run(['logs', 'list'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/newer version of cria.*999/)
    expect(stderr).toContain('Update cria, or name another file.')
    expect(stderr).not.toContain('free space')
  })
})
