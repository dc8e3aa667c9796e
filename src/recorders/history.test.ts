import { describe, expect, it } from 'vitest'
import { assistant, toolResult, user } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import { spokenMessages } from './unfinished.ts'

const asked = user('Do it.')
const called = assistant([
  { type: 'tool-call', id: 'a', name: 'search', input: {} },
  { type: 'tool-call', id: 'b', name: 'search', input: {} },
])
const resultOf = (id: string): Message => toolResult({ id, name: 'search', content: `result of ${id}` })

function spoken(messages: readonly Message[], rest: { unfinished?: string } = {}): string[] {
  const said = spokenMessages({ turnId: 'turn', messages, toolResults: [], unfinished: '', ...rest })
  return said.map(({ role, content, toolCalls }) => `${role}: ${toolCalls === undefined ? content : 'calls'}`)
}

describe('spokenMessages', () => {
  it('puts results in the order of the calls', () => {
    expect(spoken([asked, called, resultOf('b'), resultOf('a')])).toEqual([
      'user: Do it.',
      'assistant: calls',
      'tool: result of a',
      'tool: result of b',
    ])
  })

  it('says of a call without a result that it was not run', () => {
    expect(spoken([asked, called, resultOf('b')])[2]).toMatch(/^tool: Not run/)
  })

  it('leaves out results that no call asked for', () => {
    expect(spoken([asked, resultOf('a'), assistant('Done.')])).toEqual(['user: Do it.', 'assistant: Done.'])
  })

  it('leaves out answers that say nothing, and the turn where nothing is left', () => {
    expect(spoken([asked, assistant('  ')])).toEqual([])
    expect(spoken([asked], { unfinished: '\n' })).toEqual([])
    expect(spoken([asked, assistant([{ type: 'thinking', text: 'Hm.' }])])).toEqual([])
  })

  it('keeps a conversation that was given with the question', () => {
    const given = [user('One?'), assistant('One.'), user('Two?'), assistant('Two.')]
    expect(spoken(given)).toEqual(['user: One?', 'assistant: One.', 'user: Two?', 'assistant: Two.'])
  })
})
