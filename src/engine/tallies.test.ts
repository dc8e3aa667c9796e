import { describe, expect, it } from 'vitest'
import { OpenCalls } from './tallies.ts'

const request = (id: string) => ({ type: 'tool_request', tool: { id, name: 'look', input: {} } }) as const
const started = (callId: string) =>
  ({
    type: 'note',
    entry: { type: 'tool_start', step: 1, callId, name: 'look', input: '{}', idempotencyKey: `key ${callId}`, at: 1 },
  }) as const
const result = (id: string) =>
  ({ type: 'tool_result', result: { id, name: 'look', content: 'seen', isError: false, durationMs: 1 } }) as const

describe('OpenCalls', () => {
  it('ENG-TOOL-003 a tool runs from its start to its result', () => {
    const calls = new OpenCalls()
    calls.observe(request('a'))
    expect(calls.running).toBe(false)
    calls.observe(started('a'))
    expect(calls.running).toBe(true)
    calls.observe(result('a'))
    expect(calls.running).toBe(false)
    expect(calls.unanswered()).toEqual([])
  })

  it('ENG-TOOL-003 a started call has unknown effects, under its key; another has none', () => {
    const calls = new OpenCalls()
    for (const body of [request('a'), request('b'), started('b')]) calls.observe(body)
    const [waiting, begun] = calls.unanswered()
    expect(waiting).toEqual({ id: 'a', name: 'look', content: 'Not run: the turn ended before.', isError: true, durationMs: 0 })
    expect(begun).toMatchObject({ id: 'b', isError: true, unknownEffects: { idempotencyKey: 'key b' } })
  })
})
