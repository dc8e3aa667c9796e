import { describe, expect, it } from 'vitest'
import { calling, tool, resultsSentTo } from '../../test/calls.ts'
import type { QueryEvent } from '../core/event.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { agentTool } from './agent-tool.ts'
import { query } from './query.ts'
import type { QueryOptions } from './query.ts'

const collect = (options: QueryOptions): Promise<QueryEvent[]> => Array.fromAsync(query({ prompt: 'Go', ...options }))
const look = tool('look', () => 'seen')

describe('agentTool', () => {
  it('ENG-TOOL-004 runs a task with its own tools and system prompt, and returns only its answer', async () => {
    const inner = new ScriptedModel([{ toolCalls: [{ name: 'look', input: {} }] }, 'It is red.'], { ref: 'b/two' })
    const outer = calling([{ id: 'a', name: 'agent', input: { task: 'Which colour is it?' } }])
    const agent = agentTool({ tools: () => [look, agent], model: inner, system: 'You look.' })
    const events = await collect({ model: outer, tools: [agent] })
    expect(resultsSentTo(outer)).toEqual([['a', 'It is red.']])
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
    expect(resultsSentTo(outer, 2)).toEqual([
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
