/** Hooks and repairs, through `query()`. */

import { describe, expect, it } from 'vitest'
import { defineTool } from './define-tool.ts'
import { all, calling, collect, resultsOf, tool, resultsSentTo } from '../../test/calls.ts'
import type { Hooks } from '../core/hook.ts'
import { Steering } from '../engine/steering.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { RepairToolCall } from '../core/tool.ts'

const SCHEMA = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false }
const ran: unknown[] = []
const count = tool('count', (input) => (ran.push(input), `counted ${String(input['n'])}`), { inputSchema: SCHEMA })
const model = (): ScriptedModel => calling([{ id: 'a', name: 'count', input: { n: 1 } }])
const run = (hooks: Hooks, more: object = {}): ReturnType<typeof collect> => {
  ran.length = 0
  return collect({ model: model(), tools: [count], hooks, ...more })
}

describe('onToolCall', () => {
  it('ENG-TOOL-005 may refuse, and the model receives the reason', async () => {
    const used = model()
    const events = await run(
      { onToolCall: ({ name, input }) => ({ refuse: `No ${name} of ${JSON.stringify(input)}.` }) },
      { model: used },
    )
    expect(ran).toEqual([])
    expect(resultsSentTo(used)).toEqual([['a', 'Refused by a hook: No count of {"n":1}.']])
    expect(all(events, 'hook')).toMatchObject([
      { hook: 'onToolCall', outcome: 'refused', id: 'a', reason: 'No count of {"n":1}.' },
    ])
  })

  it('ENG-TOOL-005 may change the input before permission is asked, and the changed input must fit the schema', async () => {
    const asked: unknown[] = []
    const guarded = { ...count, needsPermission: true }
    const options = {
      tools: [guarded],
      hasPermissionsToUseTool: (requests: readonly { input: unknown }[]) => (asked.push(requests[0]?.input), true),
    }
    await run({ onToolCall: () => ({ input: { n: 2 } }) }, options)
    expect([asked, ran]).toEqual([[{ n: 2 }], [{ n: 2 }]])
    const events = await run({ onToolCall: () => ({ input: { n: 'two' } }) })
    expect(ran).toEqual([])
    expect(resultsOf(events)[0]).toMatch(/^Refused by a hook: The changed input does not fit/)
  })

  it.each<[string, Hooks, RegExp]>([
    [
      'throws',
      {
        onToolCall: () => {
          throw new Error('with sk-abcdefgh12345678')
        },
      },
      /The hook failed: with sk-\[redacted\]/,
    ],
    ['never answers', { onToolCall: () => new Promise(() => {}), timeout: 20 }, /did not answer within 0\.02 s/],
    ['returns no object', { onToolCall: (() => 'yes') as never }, /must give an object or nothing/],
  ])('ENG-TOOL-005 a hook that %s lets no call pass', async (_, hooks, reason) => {
    const events = await run(hooks)
    expect(ran).toEqual([])
    expect(all(events, 'hook')).toMatchObject([{ outcome: 'failed', reason: expect.stringMatching(reason) }])
    expect(events.at(-1)).toMatchObject({ type: 'complete' })
  })

  it('ENG-TOOL-005 changes only what it returns, and may return nothing', async () => {
    const events = await run({
      onToolCall: (call) => {
        Object.assign(call.input as object, { n: 9 })
      },
      onToolResult: () => ({}),
      onPrompt: () => undefined,
    })
    expect(ran).toEqual([{ n: 1 }])
    expect(all(events, 'hook')).toEqual([])
  })

  it('ENG-ERR-001 an abort ends the wait for it', async () => {
    const controller = new AbortController()
    const hooks: Hooks = { onToolCall: () => (controller.abort(), new Promise(() => {})) }
    expect((await run(hooks, { abortSignal: controller.signal })).at(-1)).toMatchObject({ type: 'cancelled' })
  })
})

describe('onToolResult', () => {
  it('ENG-TOOL-005 may change or withhold the result for the model and the journal', async () => {
    const used = model()
    const events = await run(
      { onToolResult: ({ content, input }) => ({ content: `${content} of ${JSON.stringify(input)}` }) },
      { model: used },
    )
    expect(resultsOf(events)).toEqual(['counted 1 of {"n":1}'])
    expect(resultsSentTo(used)).toEqual([['a', 'counted 1 of {"n":1}']])
    const withheld = await run({ onToolResult: () => ({ refuse: 'It holds names.' }) })
    expect(all(withheld, 'tool_result')).toMatchObject([
      { result: { isError: true, content: 'The call ran. Its result was withheld by a hook: It holds names.' } },
    ])
    const failed = await run({ onToolResult: () => Promise.reject(new Error('oh')) })
    expect(JSON.stringify(failed)).not.toContain('counted 1')
  })
})

describe('onPrompt and onStop', () => {
  it('ENG-QUERY-001 onPrompt may refuse the turn, or add data to it', async () => {
    const refused = await run({ onPrompt: ({ prompt }) => ({ refuse: `No ${prompt}.` }) })
    expect(refused.at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'permission_denied', message: 'The prompt was refused by a hook: No Go.' },
    })
    expect(all(refused, 'message')).toEqual([])
    const used = model()
    await run({ onPrompt: () => ({ context: 'It is Sunday.' }) }, { model: used })
    const [added, question] = used.requests[0]?.messages ?? []
    expect(added).toMatchObject({ role: 'user', content: expect.stringContaining('It is Sunday.') })
    // As data, fenced.
    expect(added?.content).toMatch(/<<<[0-9a-f]+\n/)
    expect(question?.content).toBe('Go')
  })

  it('ENG-QUERY-001 onStop may let the model continue within its step limit; if it fails, the turn ends', async () => {
    const used = new ScriptedModel((_, call) => `Answer ${call + 1}.`)
    const events = await run({ onStop: ({ text }) => (text === 'Answer 3.' ? undefined : { goOn: 'More.' }) }, { model: used })
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { text: 'Answer 3.', steps: 3 } })
    expect(used.requests[2]?.messages.map(({ content }) => content)).toEqual(['Go', 'Answer 1.', 'More.', 'Answer 2.', 'More.'])
    const forever = await run({ onStop: () => ({ goOn: 'More.' }) }, { model: new ScriptedModel(() => 'Hm.'), maxSteps: 4 })
    expect(forever.at(-1)).toMatchObject({ type: 'complete', result: { steps: 4 } })
    const failed = await run({ onStop: () => Promise.reject(new Error('oh')) }, { model: new ScriptedModel(['Done.']) })
    expect(failed.at(-1)).toMatchObject({ type: 'complete', result: { text: 'Done.' } })
  })

  it('ENG-QUERY-001 onPrompt is called for steering messages, too', async () => {
    const steering = new Steering()
    const used = new ScriptedModel([
      { text: 'One.', before: (part) => (part === 0 ? (steering.steer('Secret!'), steering.steer('Fine.')) : undefined) },
      'Two.',
    ])
    const hooks: Hooks = { onPrompt: ({ prompt }) => (prompt === 'Secret!' ? { refuse: 'Not that.' } : undefined) }
    const events = await run(hooks, { model: used, steering })
    expect(used.requests[1]?.messages.map(({ content }) => content)).toEqual(['Go', 'One.', 'Fine.'])
    expect(all(events, 'hook')).toMatchObject([{ hook: 'onPrompt', outcome: 'refused', reason: 'Not that.' }])
  })

  it('ENG-QUERY-001 data that onPrompt adds for a steering message precedes that message', async () => {
    const steering = new Steering()
    const used = new ScriptedModel([
      { text: 'One.', before: (part) => (part === 0 ? steering.steer('And red?') : undefined) },
      'Two.',
    ])
    const hooks: Hooks = { onPrompt: ({ prompt }) => (prompt === 'And red?' ? { context: 'Red is sold out.' } : undefined) }
    await run(hooks, { model: used, steering })
    const said = used.requests[1]?.messages.map(({ content }) => content) ?? []
    expect(said.at(-1)).toBe('And red?')
    expect(said.at(-2)).toContain('Red is sold out.')
  })

  it('ENG-QUERY-001 an invalid hook result lets no call pass', async () => {
    for (const answer of [{ decision: 'block' }, { refuse: undefined }]) {
      const ran: string[] = []
      const used = new ScriptedModel([{ toolCalls: [{ name: 'note', input: {} }] }, 'Done.'])
      const note = defineTool({
        name: 'note',
        description: 'Notes.',
        inputSchema: { type: 'object' },
        needsPermission: false,
        call: () => (ran.push('note'), 'noted'),
      })
      await run({ onToolCall: () => answer as never }, { model: used, tools: [note] })
      expect(ran).toEqual([])
    }
  })

  it('refuses invalid hooks', async () => {
    await expect(run({ onToolcall: () => undefined } as never)).rejects.toThrow(/no option `onToolcall`/)
    await expect(run({ onStop: 'yes' } as never)).rejects.toThrow(/hooks\.onStop/)
  })
})

describe('repairToolCall', () => {
  const broken = (): ScriptedModel =>
    new ScriptedModel([
      {
        parts: [
          { type: 'tool-call', id: 'a', name: 'count', input: '{"n":1', invalid: 'Unexpected end' },
          { type: 'tool-call', id: 'b', name: 'Counter', input: { n: 2 } },
          { type: 'tool-call', id: 'c', name: 'count', input: { n: 'three' } },
          { type: 'tool-call', id: 'd', name: 'count', input: { n: 4 } },
          { type: 'finish', reason: 'tool-calls' },
        ],
      },
      'Done.',
    ])

  it('ENG-TOOL-005 repairs a call that does not fit, and the repaired call is checked', async () => {
    const problems: string[] = []
    const repairToolCall: RepairToolCall = ({ id, problem }, { tools }) => {
      problems.push(problem)
      expect(tools.map(({ name }) => name)).toEqual(['count'])
      if (id === 'a') return { input: { n: 1 } }
      return id === 'b' ? { name: 'count', input: { n: 2 } } : { input: { n: 'still wrong' } }
    }
    const events = await run({}, { model: broken(), repairToolCall })
    expect(problems).toHaveLength(3)
    expect(ran).toEqual([{ n: 1 }, { n: 2 }, { n: 4 }])
    expect(all(events, 'tool_result').map(({ result }) => [result.id, result.isError])).toEqual(
      expect.arrayContaining([
        ['a', false],
        ['b', false],
        ['c', true],
        ['d', false],
      ]),
    )
    expect(all(events, 'notice').map(({ code }) => code)).toEqual(['call_repaired', 'call_repaired'])
  })

  it('ENG-TOOL-005 when it throws or returns nothing, the model receives the problem', async () => {
    const throws = await run({}, { model: broken(), repairToolCall: () => Promise.reject(new Error('oh')) })
    expect(ran).toEqual([{ n: 4 }])
    expect(all(throws, 'notice').map(({ message }) => message)).toEqual(Array(3).fill('repairToolCall threw: oh'))
    await run({}, { model: broken(), repairToolCall: () => undefined })
    expect(ran).toEqual([{ n: 4 }])
  })
})
