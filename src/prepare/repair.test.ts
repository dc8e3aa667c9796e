import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostileTranscript, soundTranscript } from '../../test/support/transcripts.ts'
import { assistant, fromParts, system, toolResult, user } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { RequestMessage } from '../core/model.ts'
import type { Part, ToolCallPart } from '../core/part.ts'
import { repairHistory } from './repair.ts'

const call = (id: string, more: Partial<ToolCallPart> = {}): ToolCallPart => ({
  type: 'tool-call',
  id,
  name: 'look',
  input: {},
  ...more,
})
const calls = (...ids: readonly string[]): Message => assistant(ids.map((id) => call(id)))
const result = (id: string, content = `result of ${id}`): Message => toolResult({ id, name: 'look', content })

/** One line for each message: what it calls, what it answers, or what it says. */
function shown(messages: readonly RequestMessage[]): string[] {
  return messages.map(({ role, content, parts }) => {
    const ids = parts.flatMap((part) => (part.type === 'tool-call' || part.type === 'tool-result' ? [part.id] : []))
    return `${role}: ${ids.length === 0 ? content : ids.join(' ')}`
  })
}

const defects = (history: readonly RequestMessage[]): string[] => repairHistory(history).repairs.map(({ defect }) => defect)

describe('ENG-PREP-001 repairHistory', () => {
  it.each<[what: string, given: readonly Message[], sent: readonly string[], found: readonly string[]]>([
    [
      'an open call',
      [calls('a', 'b'), result('a'), user('And?')],
      ['assistant: a b', 'tool: a', 'tool: b', 'user: And?'],
      ['missing_result'],
    ],
    ['an open call at the end', [user('Go'), calls('a')], ['user: Go', 'assistant: a', 'tool: a'], ['missing_result']],
    ['a result without its call', [user('Go'), result('a')], ['user: Go'], ['orphan_result']],
    [
      'a call that is answered twice',
      [calls('a'), result('a'), result('a', 'again'), assistant('So.')],
      ['assistant: a', 'tool: a', 'assistant: So.'],
      ['repeated_result'],
    ],
    [
      'results in the order in which they came',
      [calls('a', 'b'), result('b'), result('a')],
      ['assistant: a b', 'tool: a', 'tool: b'],
      ['moved_result'],
    ],
    [
      'a result after something else',
      [calls('a'), user('Wait'), result('a')],
      ['assistant: a', 'tool: a', 'user: Wait'],
      ['moved_result'],
    ],
    [
      'a result before its call',
      [result('a'), user('Go'), calls('a')],
      ['user: Go', 'assistant: a', 'tool: a'],
      ['moved_result'],
    ],
    [
      'an id that is used again',
      [calls('a'), result('a'), calls('a'), result('a')],
      ['assistant: a', 'tool: a', 'assistant: a_2', 'tool: a_2'],
      ['repeated_call_id'],
    ],
    [
      'an id that is used again after an open call',
      [calls('a'), user('Again'), calls('a'), result('a')],
      ['assistant: a', 'tool: a', 'user: Again', 'assistant: a_2', 'tool: a_2'],
      ['repeated_call_id', 'missing_result'],
    ],
    [
      'two calls of one id',
      [calls('a', 'a'), result('a', '1'), result('a', '2')],
      ['assistant: a a_2', 'tool: a', 'tool: a_2'],
      ['repeated_call_id'],
    ],
    [
      'calls without an id',
      [calls('', ''), result('')],
      ['assistant: call_2 call_3', 'tool: call_2', 'tool: call_3'],
      ['repeated_call_id', 'repeated_call_id', 'missing_result'],
    ],
    [
      'empty texts',
      [
        user([
          { type: 'text', text: ' ' },
          { type: 'text', text: 'Go' },
        ]),
        assistant(''),
        user(' '),
      ],
      ['user: Go'],
      ['empty_part', 'empty_message', 'empty_part', 'empty_message'],
    ],
    [
      'an answer that was cut while it thought',
      [user('Go'), assistant([{ type: 'thinking', text: 'Hm.' }])],
      ['user: Go'],
      ['empty_message'],
    ],
    [
      'results that the user brings',
      [calls('a'), fromParts('user', [...result('a').parts, { type: 'text', text: 'Go' }])],
      ['assistant: a', 'tool: a', 'user: Go'],
      ['moved_result'],
    ],
    [
      'calls that the user makes',
      [fromParts('user', [call('a'), { type: 'text', text: 'Go' }])],
      ['user: Go'],
      ['misplaced_part'],
    ],
  ])('%s', (_what, given, sent, found) => {
    const repaired = repairHistory(given)
    expect(shown(repaired.messages)).toEqual(sent)
    expect(repaired.repairs.map(({ defect }) => defect)).toEqual(found)
  })

  it('reports unknown effects of a call without a result', () => {
    const { messages } = repairHistory([assistant([call('a'), call('b', { input: '{"x', invalid: 'cut' })])])
    expect(messages.slice(1).map(({ parts }) => parts[0])).toMatchObject(
      [
        { id: 'a', name: 'look', isError: true, content: /effects are unknown/ },
        { id: 'b', name: 'look', isError: true, content: 'Not run: its arguments were not valid JSON.' },
      ].map((part) => ({
        ...part,
        content: part.content instanceof RegExp ? (expect.stringMatching(part.content) as string) : part.content,
      })),
    )
  })

  it('reports each fault with its place', () => {
    expect(repairHistory([system('Be kind.'), calls('a'), user('And?')]).repairs).toEqual([
      { defect: 'missing_result', message: 1, id: 'a' },
    ])
  })

  it('removes repeated thinking from the second message, and keeps the pieces of one item together', () => {
    const thought: Part = { type: 'thinking', text: 'Hm.', providerData: { openai: { itemId: 'rs_1' } } }
    const said: Part = { type: 'text', text: 'So.' }
    const { messages, repairs } = repairHistory([assistant([thought, thought, said]), assistant([thought, said])])
    expect(messages.map(({ parts }) => parts.length)).toEqual([3, 1])
    expect(repairs).toEqual([{ defect: 'repeated_thinking', message: 1 }])
  })

  it('keeps an empty text with a signature', () => {
    const history = [assistant([{ type: 'text', text: '', providerData: { google: { thoughtSignature: 's' } } }])]
    expect(repairHistory(history).messages).toBe(history)
  })

  it('keeps several results in one message', () => {
    const history = [calls('a', 'b', 'c'), fromParts('tool', [...result('a').parts, ...result('b').parts]), result('c')]
    expect(repairHistory(history)).toEqual({ messages: history, repairs: [] })
  })

  it('returns the same list if it has no fault', () => {
    fc.assert(
      fc.property(soundTranscript('p/m'), (history) => {
        expect(repairHistory(history).messages).toBe(history)
      }),
    )
  })

  it('does not change messages without a fault', () => {
    fc.assert(
      fc.property(soundTranscript('p/m'), fc.nat(20), (history, place) => {
        const at = Math.min(place, history.length)
        const broken = [...history.slice(0, at), result('orphan'), ...history.slice(at)]
        const { messages } = repairHistory(broken)
        expect(messages).toHaveLength(history.length)
        messages.forEach((message, index) => expect(message).toBe(history[index]))
      }),
    )
  })

  it('is idempotent: every call has one result in its place, and ids are unique', () => {
    fc.assert(
      fc.property(hostileTranscript('p/m'), (history) => {
        const { messages } = repairHistory(history)
        expect(defects(messages)).toEqual([])
        const made = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))
        expect(new Set(made).size).toBe(made.length)
        const answered = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : [])))
        expect(answered).toEqual(made)
      }),
      { numRuns: 1000 },
    )
  })
})
