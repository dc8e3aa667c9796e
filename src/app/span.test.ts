import { afterEach, describe, expect, it } from 'vitest'
import { AgentBot } from '../bots/tool-bots.ts'
import { SimpleBot } from '../bots/simple-bot.ts'
import { CriaError } from '../core/error.ts'
import type { Recorder } from '../core/recorder.ts'
import type { SpanRecord } from '../core/span.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { defineTool } from '../tools/define-tool.ts'
import { openRecorder } from './journal.ts'
import { getSpans, span } from './span.ts'

const open: Recorder[] = []
async function journal(): ReturnType<typeof openRecorder> {
  const recorder = await openRecorder(':memory:')
  open.push(recorder)
  return recorder
}
afterEach(async () => {
  for (const recorder of open.splice(0)) await recorder.close()
})

/** `name < parent` of each span. */
function tree(spans: readonly SpanRecord[]): string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]))
  return spans.map(({ name, parentSpanId }) => `${name} < ${parentSpanId === null ? '' : (names.get(parentSpanId) ?? '?')}`)
}

describe('span()', () => {
  it('REC-SPAN-001 nests around bots and inside their tools, in one trace', async () => {
    const recorder = await journal()
    const look = defineTool({
      name: 'look',
      description: 'Looks something up.',
      inputSchema: { type: 'object', properties: {} },
      isReadOnly: true,
      call: () => span('database', { table: 'fruits' }, () => 'three'),
    })
    const model = new ScriptedModel([{ toolCalls: [{ name: 'look', input: {} }] }, 'Three.', 'Fine.'])
    const bot = new AgentBot({ model, tools: [look], recorder, streamTarget: 'none', rules: { allow: ['look'] } })
    const text = await span(
      'report',
      { customer: 7 },
      async (own) => {
        const { content } = await bot.ask('How many?')
        own.set({ words: 1 })
        await span('check', () => new SimpleBot({ model, recorder, streamTarget: 'none' }).ask('Is that right?'))
        return content
      },
      { recorder },
    )
    expect(text).toBe('Three.')
    const traceId = bot.lastTurn?.traceId ?? ''
    const spans = await getSpans(traceId, { recorder })
    expect(tree(spans)).toEqual(
      expect.arrayContaining(['report < ', 'agentbot.ask < report', 'check < report', 'simplebot.ask < check']),
    )
    const database = spans.find(({ name }) => name === 'database')
    expect(spans.find(({ spanId }) => spanId === database?.parentSpanId)?.name).toBe('execute_tool')
    expect(database).toMatchObject({ attributes: { table: 'fruits' }, turnId: bot.lastTurn?.turnId, status: 'ok' })
    expect(spans.find(({ name }) => name === 'report')?.attributes).toEqual({ customer: 7, words: 1 })
    // Spans around a turn are read with it.
    const turn = await recorder.read.turn(bot.lastTurn?.turnId ?? '')
    expect(turn?.spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['report', 'agentbot.ask']))
  })

  it('fails with its work, and rethrows its error', async () => {
    const recorder = await journal()
    let traceId = ''
    const failing = span(
      'broken',
      {},
      (own) => {
        traceId = own.traceId
        throw new CriaError('not_found', 'No such report.')
      },
      { recorder },
    )
    await expect(failing).rejects.toMatchObject({ code: 'not_found' })
    expect(await getSpans(traceId, { recorder })).toMatchObject([
      { name: 'broken', status: 'error', error: 'No such report.', attributes: { 'error.type': 'not_found' } },
    ])
    expect(await getSpans('none', { recorder })).toEqual([])
  })

  it('accepts a recorder without attributes', async () => {
    const recorder = await journal()
    const bot = new SimpleBot({ model: new ScriptedModel(['Yes.']), recorder, streamTarget: 'none' })
    await span('plain', () => bot.ask('Is it?'), { recorder })
    expect(tree(await getSpans(bot.lastTurn?.traceId ?? '', { recorder }))).toContain('plain < ')
    await expect(span('plain', () => 1, { journal: recorder } as never)).rejects.toThrow('span() has no option `journal`')
  })

  it('works without a recorder, and with a failing recorder', async () => {
    expect(await span('nowhere', {}, () => 1, { recorder: false })).toBe(1)
    const recorder = await journal()
    const failing: Recorder = Object.assign(Object.create(recorder) as Recorder, {
      span: () => Promise.reject(new Error('full')),
    })
    expect(await span('lost', { a: 1 }, () => 2, { recorder: failing })).toBe(2)
  })

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['a name', () => span('', () => 1), /needs a name/],
    ['a function', () => span('a', {}, undefined as never), /needs a function/],
    ['options that exist', () => span('a', {}, () => 1, { record: 1 } as never), /record/],
    ['a recorder', () => span('a', {}, () => 1, { recorder: 1 as never }), /recorder/],
  ])('asks for %s', async (_what, work, message) => {
    await expect(work()).rejects.toThrow(message)
  })
})

describe('lastTurn', () => {
  it('describes the last ended turn, successful or not', async () => {
    const states: string[] = []
    const model = new ScriptedModel(['Fine.', { fail: { after: 0, error: new CriaError('auth', 'No.') } }])
    const bot = new SimpleBot({
      model,
      recorder: false,
      streamTarget: 'none',
      onQueryCompleted: ({ state }) => states.push(state),
    })
    expect(bot.lastTurn).toBeUndefined()
    const { turnId } = await bot.ask('One?')
    expect(bot.lastTurn).toMatchObject({ turnId, state: 'done', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) as string })
    await expect(bot.ask('Two?')).rejects.toMatchObject({ code: 'auth' })
    expect(bot.lastTurn).toMatchObject({ state: 'failed', errors: 1 })
    expect(states).toEqual(['done', 'failed'])
  })
})
