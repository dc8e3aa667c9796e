import { describe, expect, it } from 'vitest'
import { all, calling, collect, resultsOf, tool } from '../../test/calls.ts'
import { assistant, toolResult } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { Recorder } from '../core/recorder.ts'
import type { Tool } from '../core/tool.ts'
import { query } from '../engine/query.ts'
import type { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { quietRecorder } from '../../test/support/quiet-recorder.ts'
import { unsettledCalls } from './state.ts'

const called = (id: string, input = { to: 'live' }): Message => assistant([{ type: 'tool-call', id, name: 'deploy', input }])
const interrupted = (id: string): Message =>
  toolResult({ id, name: 'deploy', content: 'Interrupted.', isError: true, unknownEffects: { idempotencyKey: `key of ${id}` } })

describe('unsettledCalls', () => {
  it.each<[what: string, history: readonly Message[], open: readonly string[]]>([
    ['a call that was interrupted', [called('a'), interrupted('a')], ['key of a']],
    [
      'one that was made good',
      [called('a'), interrupted('a'), called('b'), toolResult({ id: 'b', name: 'deploy', content: 'ok' })],
      [],
    ],
    [
      'one that was refused or failed the second time',
      [called('a'), interrupted('a'), called('b'), toolResult({ id: 'b', name: 'deploy', content: 'no', isError: true })],
      ['key of a'],
    ],
    ['one that was interrupted twice', [called('a'), interrupted('a'), called('b'), interrupted('b')], ['key of b']],
    [
      'another call of the same tool in between',
      [called('a'), interrupted('a'), called('b', { to: 'test' }), toolResult({ id: 'b', name: 'deploy', content: 'ok' })],
      ['key of a'],
    ],
    ['a result without its call', [interrupted('a')], []],
  ])('%s', (_what, history, open) => {
    expect([...unsettledCalls(history).values()]).toEqual(open)
  })
})

describe('a call whose effects are unknown', () => {
  const history = [called('a'), interrupted('a')]
  const recorder: Recorder = quietRecorder(history)

  function deploy(keys: string[], more: Partial<Tool<Record<string, unknown>>> = {}): Tool {
    return tool('deploy', (_, ctx) => void keys.push(ctx.idempotencyKey), more)
  }

  const again = { to: 'live' }

  it('is the same call with the namespace that some models write before the name', async () => {
    const keys: string[] = []
    await collect({
      model: calling([{ name: 'functions.deploy', input: again }]),
      tools: [deploy(keys)],
      sessionId: 's',
      recorder,
    })
    expect(keys).toEqual([])
  })

  it('is not run again when no user can answer, though it needs no permission', async () => {
    const keys: string[] = []
    const events = await collect({
      model: calling([{ name: 'deploy', input: again }]),
      tools: [deploy(keys)],
      sessionId: 's',
      recorder,
      rules: { allow: ['deploy'] },
    })
    expect(keys).toEqual([])
    expect(resultsOf(events)[0]).toMatch(
      /^Permission denied: The same call was interrupted before, and its effects are unknown\./,
    )
  })

  it('is not run again when the conversation was passed in, before or after the question', async () => {
    const keys: string[] = []
    const [model, tools] = [(): ScriptedModel => calling([{ name: 'deploy', input: again }]), [deploy(keys)]]
    await collect({ model: model(), tools, messages: ['Deploy.', ...history], prompt: 'Go on.' })
    const messages = ['Deploy.', ...history]
    for await (const event of query({ model: model(), tools, messages })) expect(event.type).not.toBe('error')
    expect(keys).toEqual([])
  })

  it('is run under its first key when the user allows it, and then like any other call', async () => {
    const keys: string[] = []
    const asked: string[] = []
    await collect({
      model: calling([{ name: 'deploy', input: again }], [{ name: 'deploy', input: again }]),
      tools: [deploy(keys)],
      sessionId: 's',
      recorder,
      hasPermissionsToUseTool: (requests) => {
        asked.push(...requests.map(({ reason }) => reason ?? ''))
        return true
      },
    })
    expect(asked).toEqual(['The same call was interrupted before, and its effects are unknown.'])
    expect(keys[0]).toBe('key of a')
    expect(keys[1]).not.toBe('key of a')
  })

  it('is run again without asking when its tool is idempotent, under its first key', async () => {
    const keys: string[] = []
    const events = await collect({
      model: calling([{ name: 'deploy', input: again }]),
      tools: [deploy(keys, { isIdempotent: true })],
      sessionId: 's',
      recorder,
    })
    expect(keys).toEqual(['key of a'])
    expect(all(events, 'permission_decision')).toEqual([])
  })

  it('does not affect other calls of its tool', async () => {
    const keys: string[] = []
    await collect({
      model: calling([{ name: 'deploy', input: { to: 'test' } }]),
      tools: [deploy(keys)],
      sessionId: 's',
      recorder,
    })
    expect(keys).toHaveLength(1)
    expect(keys).not.toContain('key of a')
  })

  it('is reported to the user once, until a later answer', async () => {
    const noticesOf = async (said: readonly Message[]): Promise<string[]> =>
      all(await collect({ model: calling(), sessionId: 's', recorder: quietRecorder(said) }), 'notice').map(({ code }) => code)
    expect(await noticesOf(history)).toEqual(['effects_unknown'])
    expect(await noticesOf([...history, assistant('It may have happened.')])).toEqual([])
  })
})
