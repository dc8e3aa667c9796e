import { describe, expect, it } from 'vitest'
import type { EventBody } from '../core/event.ts'
import { assistant, toolResult, user } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import { EXACT_USAGE, openOf, stamper } from '../testing/turns.ts'
import { endLostTurn, spokenIn } from './unfinished.ts'
import type { LostTurn } from './unfinished.ts'

const turn: LostTurn = {
  turnId: 'turn_a',
  sessionId: 'session',
  model: 'test/model',
  bot: null,
  startedAt: 500,
  owner: '7 on host',
  startedCalls: new Map(),
}
const usage: EventBody = { type: 'usage', usage: EXACT_USAGE }
const text: EventBody = { type: 'text_delta', text: 'x', attempt: 1 }
const message: EventBody = { type: 'message', message: assistant('x') }
const request: EventBody = { type: 'tool_request', tool: { id: 'a', name: 'search', input: {} } }
const result: EventBody = { type: 'tool_result', result: { id: 'a', name: 'search', content: '', isError: false, durationMs: 1 } }

function endingAfter(...steps: readonly (readonly [step: number, body: EventBody])[]): ReturnType<typeof endLostTurn> {
  const at = stamper(openOf('turn_a'))
  return endLostTurn(
    turn,
    steps.map(([step, body]) => at(step, body)),
    0,
  )
}

describe('usage of a lost turn', () => {
  it.each<[when: string, steps: readonly (readonly [number, EventBody])[], exactness: Usage['exactness'], tokens: number | null]>(
    [
      ['before anything', [], 'unknown', null],
      ['in the first call', [[1, text]], 'unknown', null],
      [
        'after the only call',
        [
          [1, text],
          [1, usage],
          [1, message],
        ],
        'exact',
        100,
      ],
      [
        'while a tool runs',
        [
          [1, usage],
          [1, message],
          [1, request],
        ],
        'exact',
        100,
      ],
      [
        'when the tools are done, and the next call may have been sent',
        [
          [1, usage],
          [1, message],
          [1, request],
          [1, result],
        ],
        'estimated',
        100,
      ],
      [
        'in the second call',
        [
          [1, usage],
          [1, message],
          [2, text],
        ],
        'estimated',
        100,
      ],
      [
        'after the second call',
        [
          [1, usage],
          [1, request],
          [1, result],
          [2, usage],
          [2, message],
        ],
        'exact',
        200,
      ],
    ],
  )('%s', (_when, steps, exactness, tokens) => {
    const ending = endingAfter(...steps)
    expect([ending.usage.exactness, ending.usage.inputTokens]).toEqual([exactness, tokens])
  })
})

describe('a lost turn', () => {
  it('names the ended process, and has the code `turn_lost`', () => {
    const { error } = endingAfter([1, text])
    expect(error.code).toBe('turn_lost')
    expect(error.message).toContain('7 on host')
  })

  it('ended at its last sign of life', () => {
    const ending = endingAfter([0, { type: 'start', model: 'm' }], [1, text])
    expect(ending.endedAt).toBe(ending.events[0]?.at)
    expect(endingAfter().endedAt).toBe(500)
  })

  it('names the idempotency key of a started call, and none for a call that was not started', () => {
    const at = stamper(openOf('turn_a'))
    const ending = (startedCalls: ReadonlyMap<string, string>): unknown =>
      endLostTurn({ ...turn, startedCalls }, [at(1, request)], 0).events[0]
    expect(ending(new Map([['a', 'key']]))).toMatchObject({ result: { unknownEffects: { idempotencyKey: 'key' } } })
    expect(ending(new Map())).not.toHaveProperty('result.unknownEffects')
  })

  it('has a result for each request although an id occurs twice', () => {
    const ending = endingAfter([1, request], [1, result], [2, request])
    expect(ending.events.map(({ type, step }) => [type, step])).toEqual([
      ['tool_result', 2],
      ['error', 2],
    ])
  })
})

const asked = user('Do it.')
const called = assistant([
  { type: 'tool-call', id: 'a', name: 'search', input: {} },
  { type: 'tool-call', id: 'b', name: 'search', input: {} },
])
const toolAnswer = (id: string): Message => toolResult({ id, name: 'search', content: `result of ${id}` })

function spoken(messages: readonly Message[], shown: readonly EventBody[] = []): string[] {
  const at = stamper(openOf('turn'))
  const said = spokenIn(
    'turn',
    messages,
    shown.map((body) => at(1, body)),
  )
  return said.map(({ role, content, toolCalls }) => `${role}: ${toolCalls === undefined ? content : 'calls'}`)
}

describe('spokenIn', () => {
  it('puts results in the order of the calls', () => {
    expect(spoken([asked, called, toolAnswer('b'), toolAnswer('a')])).toEqual([
      'user: Do it.',
      'assistant: calls',
      'tool: result of a',
      'tool: result of b',
    ])
  })

  it('reports a call without a result as not run', () => {
    expect(spoken([asked, called, toolAnswer('b')])[2]).toMatch(/^tool: Not run/)
  })

  it('leaves out results without a call', () => {
    expect(spoken([asked, toolAnswer('a'), assistant('Done.')])).toEqual(['user: Do it.', 'assistant: Done.'])
  })

  it('leaves out empty answers, and a turn without other messages', () => {
    expect(spoken([asked, assistant('  ')])).toEqual([])
    expect(spoken([asked], [{ type: 'text_delta', text: '\n', attempt: 1 }])).toEqual([])
    expect(spoken([asked, assistant([{ type: 'thinking', text: 'Hm.' }])])).toEqual([])
    expect(spoken([asked], [{ type: 'text_delta', text: 'Once', attempt: 1 }])).toEqual(['user: Do it.', 'assistant: Once'])
  })

  it('keeps a conversation passed with the question', () => {
    const given = [user('One?'), assistant('One.'), user('Two?'), assistant('Two.')]
    expect(spoken(given)).toEqual(['user: One?', 'assistant: One.', 'user: Two?', 'assistant: Two.'])
  })
})
