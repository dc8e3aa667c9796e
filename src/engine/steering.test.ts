/** Steering messages, and settings of single steps. */

import { describe, expect, it } from 'vitest'
import { journalForEach } from '../../test/support/journal.ts'
import { all, calling, collect, tool } from '../../test/calls.ts'
import { CriaError } from '../core/error.ts'
import { user } from '../core/message.ts'
import type { ModelRequest } from '../core/model.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { query } from './query.ts'
import { Steering } from './steering.ts'
import type { StepEnd, StepState } from './options.ts'

let recorder: SqliteRecorder
journalForEach((opened) => {
  recorder = opened
})

const sent = (request: ModelRequest | undefined): string[] =>
  request?.messages.map(({ role, content }) => `${role}: ${content}`) ?? []

describe('steering', () => {
  it('ENG-QUERY-001 reaches the model before its next step, in order, and is recorded', async () => {
    const steering = new Steering()
    const look = tool('look', () => {
      steering.steer('Only the north.')
      steering.steer([user('And the'), 'east.'])
      return 'seen'
    })
    const model = calling([{ id: 'c', name: 'look' }])
    const events = await collect({ model, tools: [look], steering, recorder })
    expect(sent(model.requests[1])).toEqual([
      'user: Go',
      'assistant: ',
      'tool: seen',
      'user: Only the north.',
      'user: And the',
      'user: east.',
    ])
    expect(all(events, 'steering')).toMatchObject([
      { delivery: 'steer', step: 2, message: { content: 'Only the north.' } },
      { message: { content: 'And the' } },
      { message: { content: 'east.' } },
    ])
    const { sessionId } = events[0] as { sessionId: string }
    expect(recorder.read.history(sessionId).map(({ role, content }) => `${role}: ${content}`)).toEqual([
      ...sent(model.requests[1]),
      'assistant: Done.',
    ])
  })

  it('ENG-QUERY-001 continues a turn that would end, if it has steps left', async () => {
    for (const [maxSteps, texts] of [
      [5, ['One.', 'Two.']],
      [1, ['One.']],
    ] as const) {
      const steering = new Steering()
      const model = new ScriptedModel([
        { text: 'One.', before: (part) => (part === 0 ? steering.steer('More?') : undefined) },
        'Two.',
      ])
      const events = await collect({ model, steering, maxSteps })
      expect(all(events, 'message').map(({ message }) => message.content)).toEqual(texts)
      expect(events.at(-1)).toMatchObject({ type: 'complete', result: { text: texts.at(-1) } })
      expect(steering.waiting).toHaveLength(maxSteps === 1 ? 1 : 0)
      expect(all(events, 'notice').map(({ code }) => code)).toEqual(maxSteps === 1 ? ['steering_waits'] : [])
    }
  })

  it('ENG-QUERY-001 survives an abort: the next turn begins with it', async () => {
    const steering = new Steering()
    const controller = new AbortController()
    const model = new ScriptedModel([{ text: ['One', 'Two'], hang: { after: 1 } }, 'Good.'])
    const events = query({ model, prompt: 'Go', steering, recorder, sessionId: 's', abortSignal: controller.signal })
    for await (const event of events) {
      if (event.type !== 'text_delta') continue
      steering.steer('Stop there.')
      steering.followUp('Then the rest.')
      controller.abort()
    }
    const { turnId } = recorder.read.turns().turns[0] as { turnId: string }
    expect(recorder.read.events(turnId).slice(-3)).toMatchObject([
      { type: 'steering', delivery: 'follow_up', message: { content: 'Then the rest.' } },
      { type: 'notice', code: 'steering_waits', details: { messages: ['Stop there.'] } },
      { type: 'cancelled' },
    ])
    await collect({ model, prompt: [...steering.takeFollowUps()], steering, recorder, sessionId: 's' })
    expect(sent(model.requests[1])).toEqual(['user: Go', 'assistant: One', 'user: Stop there.', 'user: Then the rest.'])
    expect(steering.waiting).toEqual([])
    expect(recorder.read.history('s').map(({ content }) => content)).toEqual([
      'Go',
      'One',
      'Stop there.',
      'Then the rest.',
      'Good.',
    ])
  })

  it('ENG-QUERY-001 a follow-up is not sent in this turn, is recorded once, and can be taken back', async () => {
    const steering = new Steering()
    const look = tool('look', () => (steering.followUp('Later.'), steering.followUp('Never.'), 'seen'))
    const model = calling([{ name: 'look' }], [])
    const events = await collect({ model, tools: [look], steering })
    expect(JSON.stringify(model.requests)).not.toContain('Later.')
    expect(all(events, 'steering').map(({ message }) => message.content)).toEqual(['Later.', 'Never.'])
    expect(steering.takeBack()?.content).toBe('Never.')
    expect(steering.takeFollowUps().map(({ content }) => content)).toEqual(['Later.'])
    expect(steering.followUps).toEqual([])
  })

  it('ENG-QUERY-001 is kept if the model fails, and refused if it is empty', async () => {
    const steering = new Steering()
    steering.steer('First.')
    const model = new ScriptedModel([{ fail: { after: 0, error: new CriaError('auth', 'No key.') } }])
    await collect({ model, steering })
    // The message was part of the prompt.
    expect(sent(model.requests[0])).toEqual(['user: First.', 'user: Go'])
    for (const wrong of ['', [], [{ role: 'assistant', content: 'x' }], 5])
      expect(() => steering.steer(wrong as never)).toThrow(/message|say something|must be/)
    expect(() => query({ model, prompt: 'Go', steering: {} as never })).toThrow(/steering/)
  })
})

describe('prepareStep', () => {
  const look = tool('look', () => 'seen')
  const other = tool('other', () => 'done')

  it('ENG-QUERY-001 changes model, tools, tool choice and system for one step, and events say so', async () => {
    const first = calling([{ name: 'look' }], [{ name: 'look' }])
    const second = new ScriptedModel([{ toolCalls: [{ name: 'other', input: {} }] }], { ref: 'b/two' })
    const seen: StepState[] = []
    const events = await collect({
      model: first,
      tools: [look],
      system: 'Be brief.',
      prepareStep: (state) => {
        seen.push(state)
        return state.step === 2 ? { model: second, tools: [other], toolChoice: 'required', system: 'Be long.' } : undefined
      },
    })
    expect(all(events, 'prepare_step')).toMatchObject([
      { step: 2, model: 'b/two', tools: ['other'], toolChoice: 'required', system: 'Be long.' },
    ])
    expect(second.requests).toMatchObject([{ tools: [{ name: 'other' }], toolChoice: 'required' }])
    expect(sent(second.requests[0])[0]).toBe('system: Be long.')
    expect(all(events, 'tool_result').map(({ result }) => result.content)).toEqual(['seen', 'done', 'seen'])
    expect(first.requests).toHaveLength(3)
    for (const { messages, tools } of first.requests) {
      expect(messages[0]?.content).toBe('Be brief.')
      expect(tools?.map(({ name }) => name)).toEqual(['look'])
    }
    expect(seen.map(({ step, model, messages }) => [step, model, messages.length])).toEqual([
      [1, 'scripted/model', 1],
      [2, 'scripted/model', 4],
      [3, 'scripted/model', 6],
      [4, 'scripted/model', 8],
    ])
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { model: 'scripted/model' } })
  })

  it('ENG-QUERY-001 can require a call in every step', async () => {
    const model = calling([{ name: 'look' }], [{ name: 'look' }])
    await collect({ model, tools: [look], maxSteps: 2, prepareStep: () => ({ toolChoice: 'required' }) })
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', 'required'])
  })

  it('ENG-QUERY-001 falls back from a failed model of one step to those of the turn', async () => {
    const broken = new ScriptedModel([{ fail: { after: 0, error: new CriaError('model_unavailable', 'Gone.') } }], {
      ref: 'b/two',
    })
    const events = await collect({ model: calling(), prepareStep: () => ({ model: broken }) })
    expect(all(events, 'model_switch')).toMatchObject([{ from: 'b/two', to: 'scripted/model' }])
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { text: 'Done.' } })
  })

  it.each<[string, () => unknown, RegExp]>([
    [
      'throws',
      () => {
        throw new Error('oh')
      },
      /`prepareStep` threw: oh/,
    ],
    ['names an unknown option', () => ({ modle: 1 }), /has no option `modle`/],
    ['names a tool that is not there', () => ({ toolChoice: { tool: 'no' } }), /not one of `tools`/],
    ['gives no model', () => ({ model: 'a/b' }), /model/],
  ])('ENG-QUERY-001 one that %s ends the turn and says so', async (_, prepareStep, message) => {
    const events = await collect({ model: calling(), prepareStep: prepareStep as never })
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'configuration', message: expect.stringMatching(message) },
    })
  })
})

describe('stopWhen', () => {
  it('ENG-QUERY-001 ends the loop after a step, and the result says so', async () => {
    const ends: StepEnd[] = []
    const model = new ScriptedModel((_, call) => ({
      toolCalls: [{ id: `c${call}`, name: 'look', input: {} }],
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    }))
    const events = await collect({
      model,
      tools: [tool('look', () => 'seen')],
      stopWhen: (end) => {
        ends.push(end)
        return end.step === 2
      },
    })
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { finishReason: 'stop-when', steps: 2 } })
    expect(ends).toMatchObject([
      { step: 1, toolResults: [{ id: 'c0', name: 'look', content: 'seen', isError: false }], usage: { totalTokens: 2 } },
      { step: 2, message: { role: 'assistant' }, usage: { totalTokens: 4 } },
    ])
  })

  it('ENG-QUERY-001 an abort ends the wait for a callback that never answers', async () => {
    const controller = new AbortController()
    const look = tool('look', () => (setImmediate(() => controller.abort()), 'seen'))
    const events = await collect({
      model: calling([{ name: 'look' }]),
      tools: [look],
      abortSignal: controller.signal,
      stopWhen: () => new Promise<boolean>(() => {}),
    })
    expect(events.at(-1)).toMatchObject({ type: 'cancelled' })
  })

  it('ENG-QUERY-001 maxSteps is the exact number of steps', async () => {
    for (const maxSteps of [1, 2, 3]) {
      const model = new ScriptedModel((_, call) => ({ toolCalls: [{ id: `c${call}`, name: 'look', input: { call } }] }))
      const events = await collect({ model, tools: [tool('look', () => 'seen')], maxSteps })
      expect(model.requests).toHaveLength(maxSteps)
      expect(events.at(-1)).toMatchObject({ result: { finishReason: 'max-steps', steps: maxSteps } })
    }
  })
})
