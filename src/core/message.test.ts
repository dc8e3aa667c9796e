import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rolesAndContents } from '../../test/support/shown.ts'
import { assistant, developer, fromParts, ROLES, system, toMessages, toolResult, user } from './message.ts'
import type { MessageInput } from './message.ts'

const CIRCULAR: Record<string, unknown> = {}
CIRCULAR['a'] = CIRCULAR
const ENDLESS: unknown[] = []
ENDLESS.push(ENDLESS)

describe('messages', () => {
  it('CORE-MSG-001 represents every role and kind of part', () => {
    expect(system('s')).toMatchObject({ role: 'system', content: 's', parts: [{ type: 'text', text: 's' }] })
    expect(developer('d').role).toBe('developer')
    expect(
      user([
        { type: 'text', text: 'look: ' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      ]),
    ).toMatchObject({ content: 'look: ' })
    expect(toolResult({ id: 'c', name: 'look', content: 'seen' })).toMatchObject({
      role: 'tool',
      content: 'seen',
      parts: [{ isError: false }],
    })
    const answer = assistant([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'tool-call', id: 'c', name: 'look', input: {} },
      { type: 'text', text: 'b' },
    ])
    expect(answer.content).toBe('ab')
    expect(answer.toolCalls).toMatchObject([{ id: 'c' }])
  })

  it('CORE-MSG-001 toMessages takes strings, messages and nested lists', () => {
    const messages = toMessages([
      'a',
      [user('b'), [{ role: 'assistant', content: 'c' }]],
      { role: 'system', parts: [{ type: 'text', text: 'd' }] },
    ])
    expect(rolesAndContents(messages)).toEqual([
      ['user', 'a'],
      ['user', 'b'],
      ['assistant', 'c'],
      ['system', 'd'],
    ])
  })

  it.each([
    [null, /null/],
    [7, /number/],
    [[['a'], { role: 'robot', content: '' }], /messages\[1\]\.role/],
    [{ role: 'user' }, /neither/],
    [[{ role: 'user', parts: 'x' }], /messages\[0\]\.parts must be a list/],
    [[{ role: 'user', parts: [null] }], /parts\[0\] must be a part, but is null/],
    [[{ role: 'user', parts: [{ type: 'video' }] }], /one of the types text, .* "video"/],
    [[{ role: 'user', parts: [{ type: 'text', text: 5 }] }], /text must be a string, but is of type number/],
    [[{ role: 'user', parts: [{ type: 'image', mediaType: 'image/png', data: 'http://' }] }], /Base64 data or an address/],
    [[{ role: 'assistant', parts: [{ type: 'tool-call', name: 'n', input: {} }] }], /id must be a string/],
    [[{ role: 'assistant', parts: [{ type: 'tool-call', id: 'a', name: 'n' }] }], /input must be JSON/],
    [[{ role: 'assistant', parts: [{ type: 'tool-call', id: 'a', name: 'n', input: { a: 1n } }] }], /input must be JSON/],
    [[{ role: 'assistant', parts: [{ type: 'tool-call', id: 'a', name: 'n', input: CIRCULAR }] }], /input must be JSON/],
    [[{ role: 'tool', parts: [{ type: 'tool-result', id: 'a', name: 'n', content: { a: 1 } }] }], /content must be a string/],
    [[{ role: 'tool', parts: [{ type: 'tool-result', id: 'a', name: 'n', content: '', attachments: [1] }] }], /images and files/],
    [[{ role: 'assistant', content: '', tool_calls: [{ id: 'a' }] }], /messages\[0\]\.tool_calls belongs to .* another API/],
    [[{ role: 'tool', content: '42', tool_call_id: 'a' }], /tool_call_id belongs/],
    [[{ role: 'assistant', toolCalls: [{ id: 'a' }] }], /toolCalls\[0\] is a part of type tool-call whose name/],
    [[{ role: 'assistant', content: 'x', toolCalls: {} }], /messages\[0\]\.toolCalls must be a list of calls/],
    [[{ role: 'retrieved', content: 'x', retrieved: {} }], /messages\[0\]\.retrieved must hold a marker/],
    [ENDLESS, /nested too deeply/],
  ])('CORE-MSG-001 refuses %o and says where', (input, message) => {
    expect(() => toMessages(input as MessageInput)).toThrow(message)
  })

  it('CORE-MSG-001 toMessages is idempotent', () => {
    const part = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: fc.string() }),
      fc.record({ type: fc.constant('tool-call' as const), id: fc.string(), name: fc.string(), input: fc.constant({}) }),
    )
    const like = fc.record({ role: fc.constantFrom(...ROLES), parts: fc.array(part) })
    const { tree } = fc.letrec<{ tree: MessageInput }>((tie) => ({
      tree: fc.oneof({ depthSize: 'small' }, fc.string(), like, fc.array(tie('tree'), { maxLength: 4 })),
    }))
    fc.assert(
      fc.property(tree, (input) => {
        const once = toMessages(input)
        const twice = toMessages(once)
        expect(twice).toEqual(once)
        twice.forEach((message, index) => expect(message).toBe(once[index]))
      }),
    )
  })

  it('CORE-MSG-001 keeps what only one form of a message holds, and is equal in all forms', () => {
    const call = { id: 'c', name: 'n', input: {} }
    const given = [
      { id: 'a', role: 'user', content: 'Said.', parts: [] },
      { id: 'b', role: 'assistant', content: 'Beside.', toolCalls: [call] },
      { id: 'd', role: 'user', content: 'Another text.', parts: [{ type: 'text', text: 'What is sent.' }] },
      { role: 'assistant', content: 'None.', tool_calls: [], function_call: null },
      { role: 'assistant', content: 'No calls.', toolCalls: null },
      { role: 'assistant', content: null, parts: [{ type: 'tool-call', ...call }] },
      {
        role: 'assistant',
        content: 'I look.',
        parts: [
          { type: 'thinking', text: 'Hm.' },
          { type: 'tool-call', ...call },
        ],
      },
    ] as MessageInput
    expect(toMessages(given)).toMatchObject([
      { id: 'a', content: 'Said.', parts: [{ type: 'text', text: 'Said.' }] },
      { id: 'b', content: 'Beside.', toolCalls: [call], parts: [{ type: 'text' }, { type: 'tool-call', ...call }] },
      { id: 'd', content: 'What is sent.' },
      { content: 'None.' },
      { content: 'No calls.' },
      { content: '', parts: [{ type: 'tool-call' }] },
      { content: 'I look.', parts: [{ type: 'thinking' }, { type: 'text', text: 'I look.' }, { type: 'tool-call' }] },
    ])
  })

  it('rebuilds a message whose calls were left out', () => {
    const { toolCalls: _, ...without } = fromParts('assistant', [{ type: 'tool-call', id: 'c', name: 'n', input: {} }])
    expect(toMessages(without)[0]?.toolCalls).toHaveLength(1)
  })
})
