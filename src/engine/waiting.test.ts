/** Turns that end while calls wait for a decision, and are decided later. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeEach, describe, expect, it } from 'vitest'
import { rolesAndContents } from '../../test/support/shown.ts'
import { journalFolder } from '../../test/support/journal-folder.ts'
import { all, calling, collect, free, resultsOf, tool, toldTo } from '../../test/calls.ts'
import type { Call } from '../../test/calls.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Tool } from '../core/tool.ts'
import type { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { memoryStorage } from '../recorders/storage/memory.ts'
import { recorderOn } from '../recorders/storage/recorder.ts'
import type { EngineOptions } from './options.ts'
import { query } from './query.ts'

const SESSION = 'ses_waiting'
const DECIDER = join(import.meta.dirname, '../../test/support/deciding-turn.ts')

const journal = journalFolder()
const open = (): Promise<SqliteRecorder> => journal.open()
/** The effects of tools, in order. */
let effects: string[]
beforeEach(() => {
  effects = []
})

/** `look` needs no permission; `send` and `pay` do, and have effects. */
function tools(more: Partial<Tool> = {}): Tool[] {
  const effect = (name: string): Tool =>
    tool(
      name,
      (input) => {
        effects.push(`${name} ${JSON.stringify(input)}`)
        return `${name}: ok`
      },
      { needsPermission: true, ...(more as object) },
    )
  return [tool('look', () => 'seen', { ...free, isReadOnly: true }), effect('send'), effect('pay')]
}

async function waits(recorder: SqliteRecorder, calls: readonly Call[], more: Partial<EngineOptions> = {}): Promise<QueryEvent[]> {
  return collect({
    prompt: 'Send it.',
    sessionId: SESSION,
    recorder,
    model: calling(calls),
    tools: tools(),
    hasPermissionsToUseTool: () => 'wait',
    ...more,
  })
}

async function decide(
  recorder: SqliteRecorder,
  turnId: string,
  decisions: NonNullable<EngineOptions['decide']>['decisions'],
  more: Partial<EngineOptions> = {},
): Promise<QueryEvent[]> {
  const events: QueryEvent[] = []
  const options = { sessionId: SESSION, recorder, model: calling(), tools: tools(), ...more }
  for await (const event of query({ ...options, decide: { turnId, decisions } })) events.push(event)
  return events
}

const send: Call = { id: 'call_send', name: 'send', input: { to: 'ada' } }
const look: Call = { id: 'call_look', name: 'look' }

describe('a turn that waits for a decision', () => {
  it('ends as `waiting`, and another process runs the granted call once', async () => {
    const first = await open()
    const events = await waits(first, [look, send])
    const turnId = events[0]?.turnId ?? ''
    expect(events.at(-1)).toMatchObject({
      type: 'complete',
      result: { finishReason: 'waiting', waiting: [{ id: 'call_send', name: 'send', input: { to: 'ada' } }] },
    })
    expect(all(events, 'tool_result').map(({ result }) => [result.id, result.waiting])).toEqual([
      ['call_look', undefined],
      ['call_send', true],
    ])
    expect(first.read.turns({ status: 'waiting' }).turns.map((turn) => turn.turnId)).toEqual([turnId])
    expect(first.read.turns({ status: 'done' }).turns).toEqual([])
    await first.close()

    const second = await open()
    const model = calling()
    const decided = await decide(second, turnId, { call_send: { granted: true, reason: 'The boss said so.' } }, { model })
    expect(effects).toEqual(['send {"to":"ada"}'])
    expect(decided[0]).toMatchObject({ type: 'start', decides: turnId })
    expect(all(decided, 'tool_request').map((event) => event.tool.id)).toEqual(['call_send'])
    expect(all(decided, 'permission_request')).toEqual([])
    expect(all(decided, 'permission_decision')[0]?.decisions).toEqual([
      { id: 'call_send', granted: true, reason: 'The boss said so.' },
    ])
    expect(decided.at(-1)).toMatchObject({ type: 'complete', result: { text: 'Done.', finishReason: 'stop' } })
    // The request holds the question, its calls and all results in order.
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool'])
    expect(toldTo(model, 0)).toEqual([
      ['call_look', 'seen'],
      ['call_send', 'send: ok'],
    ])
    expect(second.read.turns({ status: 'waiting' }).turns).toEqual([])
    expect(second.read.turns({ status: 'done' }).turns.map(({ question }) => question)).toEqual(['Send it.', 'Send it.'])

    // The session holds each message once.
    const next = calling()
    await collect({ prompt: 'And now?', sessionId: SESSION, recorder: second, model: next, tools: tools() })
    expect(rolesAndContents(next.requests[0]?.messages)).toEqual([
      ['user', 'Send it.'],
      ['assistant', ''],
      ['tool', 'seen'],
      ['tool', 'send: ok'],
      ['assistant', 'Done.'],
      ['user', 'And now?'],
    ])
  })

  it('can be decided once, even by several callers at the same time', async () => {
    const recorders = [await open(), await open(), await open()]
    const turnId = (await waits(recorders[0] as SqliteRecorder, [send]))[0]?.turnId ?? ''
    const ends = await Promise.all(recorders.map(async (recorder) => (await decide(recorder, turnId, true)).at(-1)))
    expect(effects).toHaveLength(1)
    expect(ends.filter((end) => end?.type === 'complete')).toHaveLength(1)
    const again = (await decide(recorders[1] as SqliteRecorder, turnId, true)).at(-1)
    expect(again).toMatchObject({ type: 'error', error: { code: 'not_found' } })
    expect(effects).toHaveLength(1)
  })

  it('does not run a refused call, whatever the rules say by then', async () => {
    const recorder = await open()
    const turnId = (await waits(recorder, [send]))[0]?.turnId ?? ''
    const model = calling()
    await decide(
      recorder,
      turnId,
      { call_send: { granted: false, reason: 'Not to her.' } },
      { model, rules: { allow: ['send'] } },
    )
    expect(effects).toEqual([])
    expect(toldTo(model, 0)[0]?.[1]).toContain('Not to her.')
  })

  it('does not run a granted call that a rule forbids by then', async () => {
    const recorder = await open()
    const turnId = (await waits(recorder, [send]))[0]?.turnId ?? ''
    const events = await decide(recorder, turnId, true, { rules: { deny: ['send'] } })
    expect(effects).toEqual([])
    expect(resultsOf(events)[0]).toContain('Permission denied')
  })

  it('runs a call with the input that was granted instead', async () => {
    const recorder = await open()
    const turnId = (await waits(recorder, [send]))[0]?.turnId ?? ''
    await decide(recorder, turnId, { call_send: { granted: true, input: { to: 'bob' } } })
    expect(effects).toEqual(['send {"to":"bob"}'])
  })

  it('waits again for calls that were not decided', async () => {
    const recorder = await open()
    const pay = { id: 'call_pay', name: 'pay', input: { eur: 3 } }
    const turnId = (await waits(recorder, [look, send, pay]))[0]?.turnId ?? ''
    const again = await decide(recorder, turnId, { call_send: true }, { hasPermissionsToUseTool: () => 'wait' })
    expect(effects).toEqual(['send {"to":"ada"}'])
    expect(again.at(-1)).toMatchObject({ result: { finishReason: 'waiting', waiting: [{ id: 'call_pay' }] } })
    const model = calling()
    await decide(recorder, again[0]?.turnId ?? '', true, { model })
    expect(effects).toEqual(['send {"to":"ada"}', 'pay {"eur":3}'])
    expect(toldTo(model, 0).map(([id]) => id)).toEqual(['call_look', 'call_send', 'call_pay'])
  })

  it('delays calls that must not overtake a waiting one', async () => {
    const recorder = await open()
    const resources = (name: string): Partial<Tool> => ({ resources: () => ({ writes: [name] }) })
    const own = (name: string, needsPermission: boolean, file: string): Tool =>
      tool(name, () => (effects.push(name), 'ok'), { needsPermission, ...(resources(file) as object) })
    const mine = [own('ask', true, 'a'), own('same', false, 'a'), own('other', false, 'b')]
    const calls = ['ask', 'same', 'other'].map((name) => ({ id: name, name }))
    const turnId = (await waits(recorder, calls, { tools: mine }))[0]?.turnId ?? ''
    expect(effects).toEqual(['other'])
    await decide(recorder, turnId, true, { tools: mine })
    expect(effects).toEqual(['other', 'ask', 'same'])
  })

  it('waits in safe mode with all calls after it', async () => {
    const recorder = await open()
    const answers = [true, 'wait'] as const
    let asked = 0
    const calls = [send, { id: 'call_pay', name: 'pay' }, { id: 'call_last', name: 'send' }]
    const turnId =
      (await waits(recorder, calls, { safeMode: true, hasPermissionsToUseTool: () => answers[asked++] ?? true }))[0]?.turnId ?? ''
    expect([asked, effects.length]).toEqual([2, 1])
    const events = await decide(recorder, turnId, true, { safeMode: true, hasPermissionsToUseTool: () => true })
    expect(effects.map((effect) => effect.split(' ')[0])).toEqual(['send', 'pay', 'send'])
    expect(all(events, 'permission_request')[0]?.tools.map(({ id }) => id)).toEqual(['call_last'])
  })

  it('ends if its session continues without it', async () => {
    const recorder = await open()
    const turnId = (await waits(recorder, [send]))[0]?.turnId ?? ''
    const model = calling()
    await collect({ prompt: 'Never mind.', sessionId: SESSION, recorder, model })
    expect(toldTo(model, 0)[0]?.[1]).toContain('Not run')
    expect((await decide(recorder, turnId, true)).at(-1)).toMatchObject({ type: 'error', error: { code: 'not_found' } })
    expect(effects).toEqual([])
  })

  it('asks again if a hook changes the arguments that were shown', async () => {
    const recorder = await open()
    const turnId = (await waits(recorder, [send]))[0]?.turnId ?? ''
    const events = await decide(recorder, turnId, true, { hooks: { onToolCall: () => ({ input: { to: 'eve' } }) } })
    expect(effects).toEqual([])
    expect(resultsOf(events)[0]).toContain('nobody to ask')
  })

  it('refuses to wait without a journal, within a tool, and for a call that holds a secret', async () => {
    const secret = { ...send, input: { key: 'sk-abcdefghijklmnop123456' } }
    const without = await collect({ model: calling([send]), tools: tools(), hasPermissionsToUseTool: () => 'wait' })
    expect(resultsOf(without)[0]).toContain('Without a journal')
    const simple = await collect({
      model: calling([send]),
      tools: tools(),
      recorder: Object.assign(recorderOn(memoryStorage()), { keepsWaiting: false }),
      hasPermissionsToUseTool: () => 'wait',
    })
    expect(resultsOf(simple)[0]).toContain('does not support turns that wait')
    const recorder = await open()
    expect(resultsOf(await waits(recorder, [secret]))[0]).toContain('hold a secret')
    const inner = calling([send])
    const nesting = tool('nest', async () => {
      let last: QueryEvent | undefined
      for await (const event of query({ prompt: 'In.', model: inner, tools: tools() })) last = event
      return last?.type ?? ''
    })
    await collect({ model: calling([{ name: 'nest' }]), tools: [nesting], recorder, hasPermissionsToUseTool: () => 'wait' })
    expect(toldTo(inner)[0]?.[1]).toContain('cannot wait')
    expect(effects).toEqual([])
  })

  it('distinguishes calls with one id: a call that has run does not run again', async () => {
    const recorder = await open()
    const twins = tools().map((each) => (each.name === 'pay' ? { ...each, needsPermission: false } : each))
    const calls = [
      { id: 'same', name: 'pay' },
      { ...send, id: 'same' },
    ]
    const turnId = (await waits(recorder, calls, { tools: twins }))[0]?.turnId ?? ''
    await decide(recorder, turnId, true, { tools: twins })
    expect(effects.map((effect) => effect.split(' ')[0])).toEqual(['pay', 'send'])
  })

  it('refuses wrong options, and decisions about other calls, at once', async () => {
    const recorder = await open()
    const given = { model: calling(), recorder, sessionId: SESSION }
    const decision = { turnId: 'turn_x', decisions: true }
    expect(() => query({ ...given, decide: decision, prompt: 'Well?' })).toThrow('leave `prompt`')
    expect(() => query({ model: calling(), recorder, decide: decision })).toThrow('`sessionId`')
    expect(() => query({ ...given, decide: decision, executeTools: false })).toThrow('`executeTools`')
    expect(() => query({ ...given, decide: { turnId: '', decisions: true } })).toThrow('`decide.turnId`')
    expect(() => query({ ...given, decide: { turnId: 'x', decisions: 'yes' as never } })).toThrow(
      '`decide.decisions` must be true or false for all calls that wait, or { [id]: decision }, but is "yes".',
    )
    const turnId = (await waits(recorder, [send]))[0]?.turnId ?? ''
    expect((await decide(recorder, turnId, { call_other: true })).at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'configuration', hint: expect.stringContaining('call_send') as string },
    })
    expect(effects).toEqual([])
    // A refused decision leaves the turn undecided.
    expect((await decide(recorder, turnId, { call_send: true })).at(-1)).toMatchObject({ type: 'complete' })
    expect(effects).toHaveLength(1)
  })

  it('does not run a call again if the process that decided it was killed meanwhile', async () => {
    const recorder = await open()
    const turnId = (await waits(recorder, [send]))[0]?.turnId ?? ''
    const child = spawn(process.execPath, [DECIDER, journal.path, SESSION, turnId], { stdio: ['ignore', 'pipe', 'inherit'] })
    let keys = 0
    for await (const _ of createInterface({ input: child.stdout })) {
      keys += 1
      child.kill('SIGKILL')
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    expect(keys).toBe(1)
    expect((await decide(recorder, turnId, true)).at(-1)).toMatchObject({ type: 'error', error: { code: 'not_found' } })
    // The session records that the call may have had its effect, and the same call needs permission again.
    const model = calling([send])
    const events = await collect({
      prompt: 'Go on.',
      sessionId: SESSION,
      recorder,
      model,
      tools: tools({ needsPermission: false }),
    })
    expect(toldTo(model, 0)[0]?.[1]).toContain('effects are unknown')
    expect(resultsOf(events)[0]).toContain('interrupted before')
    expect(effects).toEqual([])
  })
})
