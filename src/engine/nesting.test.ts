import { describe, expect, it } from 'vitest'
import type { QueryEvent } from '../core/event.ts'
import type { Tool } from '../core/tool.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { query } from './query.ts'

describe('queries that tools ask', () => {
  it('are nested eight deep at most, and the tool of the last one is told why', async () => {
    let asked = 0
    const results: string[] = []
    const again: Tool = {
      name: 'again',
      description: 'Asks the same again.',
      inputSchema: { type: 'object' },
      needsPermission: false,
      call: async () => {
        await ask()
        return 'done'
      },
    }
    async function ask(): Promise<readonly QueryEvent[]> {
      asked++
      const model = new ScriptedModel([{ toolCalls: [{ name: 'again', input: {} }] }, 'End.'])
      const events = await Array.fromAsync(query({ model, prompt: 'Go on.', tools: [again] }))
      for (const event of events) if (event.type === 'tool_result') results.push(event.result.content)
      return events
    }
    const events = await ask()
    expect(asked).toBe(9)
    expect(results[0]).toContain('not 8 deep')
    expect(results.slice(1)).toEqual(Array.from({ length: 7 }, () => 'done'))
    expect(events.at(-1)?.type).toBe('complete')
  })
})
