import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { calling, tool, toldTo } from '../../test/calls.ts'
import { callerOf } from '../../test/support/tool-call.ts'
import { AgentBot, ToolBot } from '../bots/tool-bots.ts'
import type { QueryEvent } from '../core/event.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../providers/scripted/scripted-model.ts'
import { findSandbox } from '../tools/sandbox/find-sandbox.ts'
import { agentTool, defaultTools, runCodeTool } from './agent-tools.ts'
import { query } from './query.ts'
import type { QueryOptions } from './query.ts'

const calls = (name: string, input: object): ScriptedAnswer => ({ toolCalls: [{ name, input: input as never }] })
const options = (...answers: ScriptedAnswer[]) => ({
  model: new ScriptedModel(answers),
  tools: defaultTools({ sandbox: 'off' }),
  recorder: false as const,
  streamTarget: 'none' as const,
})

const confined = (await findSandbox()).kind !== 'none'

describe('defaultTools()', () => {
  it('run without permission, and let an agent bot return an object to its user', async () => {
    const code = calls('run_code', { code: 'return [1, 2, 3].map((n) => n * n)', returnToUser: true })
    const bot = new AgentBot(options(code, 'There they are.', 'Nothing to hand out.'))
    expect(await bot.ask('The squares, please.')).toMatchObject({ content: 'There they are.', object: [1, 4, 9] })
    expect(await bot.ask('And now?')).not.toHaveProperty('object')
  })

  it('return an object that the model passes directly', async () => {
    const back = calls('return_object_to_user', { value: { fruits: ['fig'] } })
    expect(await new AgentBot(options(back, 'Done.')).ask('Fruits?')).toMatchObject({ object: { fruits: ['fig'] } })
    expect(await new ToolBot(options(back)).ask('Fruits?')).toMatchObject({ object: { fruits: ['fig'] }, invalidCalls: [] })
    expect(await new ToolBot(options('None.')).ask('Fruits?')).not.toHaveProperty('object')
  })

  it('report the time, and reject an unknown time zone', async () => {
    const call = callerOf(defaultTools())
    expect((await call('current_time', { timeZone: 'Asia/Tokyo' })).content).toMatch(/GMT\+9 \(\d{4}-\d\d-\d\dT.*Z\)$/)
    expect(await call('current_time', { timeZone: 'Mars/Base' })).toMatchObject({ isError: true })
  })

  it.runIf(confined)('do not let Python read the home of cria', async () => {
    const home = mkdtempSync(join(import.meta.dirname, '.home-'))
    vi.stubEnv('CRIA_HOME', home)
    writeFileSync(join(home, 'notes'), 'seen')
    try {
      const code = `import os\nresult = os.listdir(${JSON.stringify(home)})`
      const call = callerOf([runCodeTool({ python: true })])
      expect((await call('run_code', { code, language: 'python' })).content).not.toContain('notes')
    } finally {
      vi.unstubAllEnvs()
      rmSync(home, { recursive: true })
    }
  })

  it.each([
    [{ timeOut: 1 }, /timeOut/],
    [{ timeout: 0 }, /timeout/],
    [{ memory: 1 }, /memory/],
    [{ sandbox: 'maybe' }, /sandbox/],
  ])('refuse %j', (wrong, message) => {
    expect(() => runCodeTool(wrong as never)).toThrow(message)
  })
})

const collect = (options: QueryOptions): Promise<QueryEvent[]> => Array.fromAsync(query({ prompt: 'Go', ...options }))
const look = tool('look', () => 'seen')

describe('agentTool', () => {
  it('ENG-TOOL-004 runs a task with its own tools and system prompt, and returns only its answer', async () => {
    const inner = new ScriptedModel([{ toolCalls: [{ name: 'look', input: {} }] }, 'It is red.'], { ref: 'b/two' })
    const outer = calling([{ id: 'a', name: 'agent', input: { task: 'Which colour is it?' } }])
    const agent = agentTool({ tools: () => [look, agent], model: inner, system: 'You look.' })
    const events = await collect({ model: outer, tools: [agent] })
    expect(toldTo(outer)).toEqual([['a', 'It is red.']])
    expect(inner.requests[0]?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'You look.'],
      ['user', 'Which colour is it?'],
    ])
    // The tool itself is left out, which prevents endless recursion.
    expect(inner.requests[0]?.tools?.map(({ name }) => name)).toEqual(['look'])
    expect(events.filter(({ parent, type }) => parent?.callId === 'a' && type === 'tool_result')).toHaveLength(1)
  })

  it('ENG-TOOL-004 uses the model of the calling turn when no model is set', async () => {
    const model = new ScriptedModel([{ toolCalls: [{ name: 'agent', input: { task: 'Say it.' } }] }, 'Inner.', 'Outer.'])
    const events = await collect({ model, tools: [agentTool({ tools: [] })] })
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { text: 'Outer.' } })
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(['Say it.'])
  })

  it('ENG-TOOL-004 reports a failure or an unfinished task to the calling model', async () => {
    const outer = calling(
      [{ id: 'a', name: 'agent', input: { task: 'One' } }],
      [{ id: 'b', name: 'agent', input: { task: 'Two' } }],
    )
    const inner = new ScriptedModel([{ text: 'Looking.', toolCalls: [{ name: 'look', input: {} }] }])
    await collect({ model: outer, tools: [agentTool({ tools: [look], model: inner, maxSteps: 1 })] })
    expect(toldTo(outer, 2)).toEqual([
      ['a', 'Looking.\n[The agent stopped after 1 steps and may not be done.]'],
      ['b', expect.stringMatching(/^The tool failed: The agent ended with invalid_request: The script is over/)],
    ])
  })

  it('rejects wrong options', () => {
    expect(() => agentTool({} as never)).toThrow('needs `tools`')
    expect(() => agentTool({ tools: [], maxSteps: 0 })).toThrow('maxSteps')
    expect(() => agentTool({ tools: [], prompt: 'x' } as never)).toThrow('no option `prompt`')
  })
})
