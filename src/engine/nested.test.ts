/** Turns started by tools: their inherited options, their events, and their limits. */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { journalForEach } from '../../test/support/journal.ts'
import { calling, collect, free, tool } from '../../test/calls.ts'
import { SimpleBot } from '../bots/simple-bot.ts'
import { isTerminal } from '../core/event.ts'
import type { QueryEvent } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import type { Tool } from '../core/tool.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import type { EngineOptions } from './options.ts'
import { query } from './query.ts'

let recorder: SqliteRecorder
journalForEach((opened) => {
  recorder = opened
})

/** A tool that makes a turn and returns its text. */
function delegate(options: () => EngineOptions, more: Parameters<typeof tool>[2] = {}): Tool {
  return tool(
    'delegate',
    async () => {
      const { text, result } = foldEvents(await Array.fromAsync(query(options())))
      return result === undefined ? 'It failed.' : text
    },
    more,
  )
}

const shape = (events: readonly QueryEvent[]): string[] =>
  events.map(({ type, parent }) => (parent === undefined ? type : `. ${type}`))

describe('a turn that a tool starts', () => {
  it('ENG-TOOL-004 is shown in the stream of the outer turn, keeps its numbers, and ends only itself', async () => {
    const child = new ScriptedModel([{ text: ['In', 'ner.'] }], { ref: 'b/two' })
    const events = await collect({
      model: calling([{ id: 'c', name: 'delegate' }]),
      tools: [delegate(() => ({ model: child, prompt: 'Inner?' }))],
      recorder,
    })
    expect(shape(events)).toEqual([
      'start',
      'usage',
      'message',
      'tool_request',
      '. start',
      '. text_delta',
      '. usage',
      '. message',
      '. complete',
      'tool_result',
      'text_delta',
      'usage',
      'message',
      'complete',
    ])
    const [start] = events
    const nested = events.filter(({ parent }) => parent !== undefined)
    expect(nested.every(({ parent }) => parent?.turnId === start?.turnId && parent?.callId === 'c')).toBe(true)
    for (const own of [nested, events.filter(({ parent }) => parent === undefined)])
      expect(own.map(({ seq }) => seq)).toEqual(own.map((_, index) => index))
    expect(events.filter(isTerminal)).toEqual([events.at(-1)])
    expect(foldEvents(events)).toMatchObject({ text: 'Done.', toolResults: [{ content: 'Inner.' }], result: { text: 'Done.' } })

    // Each turn holds its own events, and the nested one says where it comes from.
    const inner = nested[0]?.turnId ?? ''
    expect(recorder.read.events(inner)[0]).toMatchObject({ type: 'start', calledBy: { turnId: start?.turnId, callId: 'c' } })
    expect(shape(recorder.read.events(inner))).toEqual(['start', 'text_delta', 'usage', 'message', 'complete'])
    expect(recorder.read.events(start?.turnId ?? '').map(({ turnId }) => turnId)).not.toContain(inner)
    const [outer, own] = [recorder.read.turn(start?.turnId ?? ''), recorder.read.turn(inner)]
    expect(own?.turn.traceId).toBe(outer?.turn.traceId)
    expect(outer?.nested).toMatchObject([{ turnId: inner, callId: 'c', status: 'done', question: 'Inner?' }])
    expect(own?.nested).toEqual([])
    const root = own?.spans.find(({ name }) => name === 'query')
    expect(outer?.spans.find(({ spanId }) => spanId === root?.parentSpanId)?.name).toBe('execute_tool')
  })

  it('ENG-TOOL-004 inherits permissions, rules and safe mode, unless it has its own', async () => {
    const asked: string[] = []
    const write = tool('write', () => 'written', { needsPermission: true })
    const forbidden = tool('forbidden', () => 'never')
    const inner = (): ScriptedModel => calling([{ name: 'write' }, { name: 'forbidden' }])
    const models = [inner(), inner()]
    const outer: EngineOptions = {
      model: calling([{ name: 'delegate' }], [{ name: 'own' }]),
      tools: [
        delegate(() => ({ model: models[0] as ScriptedModel, prompt: 'Go', tools: [write, forbidden] })),
        {
          ...delegate(() => ({
            model: models[1] as ScriptedModel,
            prompt: 'Go',
            tools: [write, forbidden],
            rules: {},
            hasPermissionsToUseTool: () => false,
          })),
          name: 'own',
        },
      ],
      rules: { deny: ['forbidden'] },
      hasPermissionsToUseTool: (requests) => {
        asked.push(...requests.map(({ name }) => name))
        return true
      },
    }
    const events = await collect(outer)
    expect(asked).toEqual(['write'])
    const results = events.flatMap((event) =>
      event.type === 'tool_result' && event.parent !== undefined ? [event.result.isError] : [],
    )
    expect(results.filter((isError) => isError)).toHaveLength(2)
    expect(results).toHaveLength(4)
    expect(JSON.stringify(models[0]?.requests[1]?.messages)).toContain('Permission denied')
  })

  it('ENG-ERR-001 an abort and the time limit of the tool end it', async () => {
    const hanging = new ScriptedModel(() => ({ text: ['Half', 'whole'], hang: { after: 1 } }))
    const controller = new AbortController()
    const options = { tools: [delegate(() => ({ model: hanging, prompt: 'Go' }))], prompt: 'Go', recorder }
    const events = query({ ...options, model: calling([{ name: 'delegate' }]), abortSignal: controller.signal })
    for await (const event of events) if (event.type === 'text_delta') controller.abort()
    expect(hanging.open).toBe(0)
    expect(recorder.read.turns().turns.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])

    const timed = await collect({
      ...options,
      tools: [delegate(() => ({ model: hanging, prompt: 'Go' }), { timeout: 30 })],
      model: calling([{ name: 'delegate' }]),
    })
    expect(timed.at(-1)).toMatchObject({ type: 'complete' })
    await vi.waitFor(() => expect(hanging.open).toBe(0))
    expect(recorder.read.turns({ status: 'open' }).turns).toEqual([])
  })

  it('counts against the budget of the outer turn', async () => {
    const usage = { inputTokens: 400, outputTokens: 100, totalTokens: 500 }
    const child = new ScriptedModel(() => ({ text: 'Inner.', usage }), { ref: 'b/two', facts: { maxOutputTokens: 100 } })
    const model = new ScriptedModel(
      (_, call) => ({ toolCalls: [{ id: `c${call}`, name: 'delegate', input: { call } }], usage }),
      {
        facts: { maxOutputTokens: 100 },
      },
    )
    const events = await collect({
      model,
      tools: [delegate(() => ({ model: child, prompt: 'Go' }))],
      budget: { tokens: 2000 },
    })
    // Two rounds of 500 + 500 tokens, and nothing is left.
    expect(child.requests).toHaveLength(2)
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'budget_exceeded', details: { scope: 'turn', used: 2000 } },
    })
  })

  it('refuses a model of unknown price if the outer turn limits money', async () => {
    const child = new ScriptedModel(['Inner.'], { ref: 'b/two' })
    const outer = new ScriptedModel([{ toolCalls: [{ name: 'delegate', input: {} }] }, 'Done.'], {
      facts: { price: { input: 1, output: 1 } },
    })
    const events = await collect({
      model: outer,
      tools: [delegate(() => ({ model: child, prompt: 'Go' }))],
      budget: { costUsd: 1 },
    })
    expect(child.requests).toHaveLength(0)
    expect(events.findLast((event) => event.type === 'tool_result')).toMatchObject({
      result: { isError: true, content: expect.stringContaining('b/two') },
    })
  })

  it('two at once cannot spend the same money', async () => {
    const child = (): ScriptedModel =>
      new ScriptedModel(
        [{ text: 'Inner.', before: () => sleep(5), usage: { inputTokens: 10, outputTokens: 300, totalTokens: 310 } }],
        {
          facts: { maxOutputTokens: 400 },
        },
      )
    const models = [child(), child()]
    let next = 0
    const events = await collect({
      model: calling([
        { name: 'delegate', input: { n: 1 } },
        { name: 'delegate', input: { n: 2 } },
      ]),
      tools: [delegate(() => ({ model: models[next++] as ScriptedModel, prompt: 'Go', maxOutputTokens: 400 }), free)],
      budget: { tokens: 800 },
    })
    const limits = models.map(({ requests }) => requests[0]?.maxOutputTokens)
    expect(limits[0]).toBe(400)
    expect(limits[1]).toBeLessThan(400)
    expect(events.at(-1)?.type).toMatch(/complete|error/)
  })

  it('ENG-TOOL-004 a slow reader does not use the time of the tool', async () => {
    const child = new ScriptedModel([{ text: ['a', 'b', 'c'], before: () => sleep(1) }])
    const events: QueryEvent[] = []
    for await (const event of query({
      model: calling([{ name: 'delegate' }]),
      tools: [delegate(() => ({ model: child, prompt: 'Go' }), { timeout: 150 })],
      prompt: 'Go',
    })) {
      if (event.parent !== undefined) await sleep(60)
      events.push(event)
    }
    expect(events.findLast((event) => event.type === 'tool_result')).toMatchObject({ result: { content: 'abc', isError: false } })
  })

  it('ENG-QUERY-001 limits depth and number of turns, and reports it to the model', async () => {
    let depth = 0
    const forever: Tool = delegate(() => {
      depth++
      return { model: calling([{ name: 'delegate' }]), prompt: 'Deeper', tools: [forever] }
    })
    const deep = await collect({ model: calling([{ name: 'delegate' }]), tools: [forever] })
    expect(depth).toBe(5)
    expect(deep.filter(({ type }) => type === 'start')).toHaveLength(5)
    expect(JSON.stringify(deep)).toContain('may be nested 4 deep, and this one would be at depth 5')
    expect(deep.at(-1)).toMatchObject({ type: 'complete' })

    const many = await collect({
      model: calling(['1', '2', '3'].map((n) => ({ name: 'delegate', input: { n } }))),
      tools: [delegate(() => ({ model: calling(), prompt: 'Go' }))],
      nesting: { turns: 2 },
    })
    const results = many.flatMap((event) => (event.type === 'tool_result' ? [event.result] : []))
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true])
    expect(results[2]?.content).toContain('may start 2 turns')
  })

  it('ENG-QUERY-001 a bot in a tool uses the journal of the outer turn, or none, and has its own answer', async () => {
    for (const [own, turns] of [
      [{}, 2],
      [{ recorder: false as const }, 1],
    ] as const) {
      const journal = await SqliteRecorder.open({ path: ':memory:' })
      const bot = new SimpleBot({ model: new ScriptedModel(['Inner.']), streamTarget: 'none', ...own })
      const ask = tool('ask', async () => (await bot.ask('Why?')).content)
      const outer = new ScriptedModel([{ toolCalls: [{ name: 'ask', input: {} }] }, 'Outer.'])
      const events = await collect({ model: outer, tools: [ask], recorder: journal })
      expect(events.flatMap((event) => (event.type === 'tool_result' ? [event.result.content] : []))).toEqual(['Inner.'])
      expect(journal.read.turns().turns).toHaveLength(turns)
      await journal.close()
    }
  })
})
