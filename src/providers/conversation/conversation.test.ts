import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assistant, developer, retrieved, system, toolResult, user } from '../../core/message.ts'
import type { RequestMessage } from '../../core/model.ts'
import { toConversation } from './conversation.ts'
import type { Turn } from './conversation.ts'
import { ToolNames, wellFormed, wellFormedJson } from './names.ts'
import { fromProviderData, mergeMetadata, toProviderData } from './own-data.ts'
import { STYLES } from './style.ts'
import type { StyleName } from './style.ts'

const REF = 'anthropic/claude'
const prompt = (messages: readonly RequestMessage[], style: StyleName): Turn[] =>
  toConversation(messages, { ref: REF, style: STYLES[style], names: new ToolNames([]) })
const roles = (messages: readonly RequestMessage[], style: StyleName): string =>
  prompt(messages, style)
    .map(({ role }) => role)
    .join(' ')

describe('toConversation', () => {
  it('moves later instructions to the top only for APIs that require it', () => {
    const messages = [system('A'), user('x'), developer('B'), user('y')]
    expect(prompt(messages, 'messages')).toMatchObject([
      { role: 'system', text: 'A' },
      { role: 'system', text: 'B' },
      { role: 'user' },
      { role: 'user' },
    ])
    expect(prompt(messages, 'responses')).toMatchObject([
      { text: 'A' },
      { role: 'user' },
      { role: 'system', text: 'B' },
      { role: 'user' },
    ])
  })

  it('merges user messages only for servers whose templates require alternating turns', () => {
    const messages = [user('one'), user('two')]
    expect(prompt(messages, 'compatible')).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'one\n\ntwo' }] }])
    expect(prompt(messages, 'messages')).toHaveLength(2)
    const picture = { type: 'image', mediaType: 'image/png', data: 'aGk=' } as const
    expect(prompt([user('one'), user([picture])], 'compatible')).toMatchObject([{ parts: [{ text: 'one' }, { type: 'image' }] }])
  })

  it('puts an answer between a tool result and its files if templates require alternating turns', () => {
    const seen = {
      id: 'a',
      name: 'f',
      content: 'one',
      attachments: [{ type: 'image', mediaType: 'image/png', data: 'aGk=' }],
    } as const
    const messages = [user('q'), assistant([{ type: 'tool-call', id: 'a', name: 'f', input: {} }]), toolResult(seen)]
    expect(roles(messages, 'compatible')).toBe('user assistant tool assistant user')
    expect(roles(messages, 'chat')).toBe('user assistant tool user')
  })

  it('keeps the results of one message together', () => {
    const messages = [
      user('q'),
      assistant([
        { type: 'tool-call', id: 'a', name: 'f', input: {} },
        { type: 'tool-call', id: 'b', name: 'f', input: [1] },
      ]),
      toolResult({ id: 'a', name: 'f', content: 'one' }),
      toolResult({ id: 'b', name: 'f', content: '', isError: true }),
    ]
    expect(prompt(messages, 'gemini')).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [{ input: {} }, { input: { invalid_arguments: [1] } }] },
      {
        role: 'tool',
        results: [
          { text: 'one', isError: false },
          { text: '(no output)', isError: true },
        ],
      },
    ])
  })

  it('puts files of a tool result where the API accepts them', () => {
    const messages = [
      toolResult({
        id: 'a',
        name: 'look',
        content: 'seen',
        attachments: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }],
      }),
      toolResult({ id: 'b', name: 'look', content: 'more' }),
    ]
    expect(prompt(messages, 'messages')).toMatchObject([
      { role: 'tool', results: [{ text: 'seen', attachments: [{ type: 'image', mediaType: 'image/png' }] }, {}] },
    ])
    expect(prompt(messages, 'chat')).toMatchObject([
      {
        role: 'tool',
        results: [
          { text: 'seen', attachments: [] },
          { text: 'more', attachments: [] },
        ],
      },
      { role: 'user', parts: [{ type: 'text' }, { type: 'image', data: 'AAAA' }] },
    ])
  })

  it('sends thinking back by the rules of the API', () => {
    const signed = { providerData: { anthropic: { signature: 'sig' }, cria: { model: REF } } }
    const thought = (extra: object): RequestMessage =>
      assistant([
        { type: 'thinking', text: 'hm', ...extra },
        { type: 'text', text: 'so' },
      ])
    const kinds = (messages: readonly RequestMessage[], style: StyleName): string =>
      prompt(messages, style)
        .flatMap((turn) => (turn.role === 'assistant' ? [turn.parts.map(({ type }) => type).join('+')] : []))
        .join(' ')
    const plain = [user('q'), thought({}), user('q'), thought({})]
    expect(kinds(plain, 'messages')).toBe('text text')
    expect(kinds(plain, 'compatible')).toBe('text thinking+text')
    expect(kinds(plain, 'chat')).toBe('text text')
    expect(kinds([thought({ ...signed, model: REF })], 'messages')).toBe('thinking+text')
    expect(kinds([thought({ ...signed, model: 'anthropic/other' })], 'messages')).toBe('text')
  })

  it('sends an empty text only if it carries a signature', () => {
    const empty = assistant([
      { type: 'text', text: '', providerData: { google: { thoughtSignature: 's' }, cria: { model: REF } } },
    ])
    expect(prompt([user('q'), empty], 'gemini')).toMatchObject([
      { role: 'user' },
      { parts: [{ type: 'text', text: '', own: { google: { thoughtSignature: 's' } } }] },
    ])
    expect(prompt([empty], 'messages')).toEqual([])
    expect(prompt([user(' '), assistant('')], 'gemini')).toEqual([])
  })

  it('begins with a user message if the API requires it', () => {
    const greeting = [system('Be kind.'), assistant('Hello!'), user('q')]
    expect(roles(greeting, 'messages')).toBe('system user assistant user')
    expect(roles(greeting, 'responses')).toBe('system assistant user')
    expect(roles([system('Be kind.'), user('q')], 'messages')).toBe('system user')
  })

  it('merges two answers if a tool call must follow a user message', () => {
    const messages = [user('q'), assistant('I look.'), assistant([{ type: 'tool-call', id: 'a', name: 'f', input: {} }])]
    expect(prompt(messages, 'gemini')).toMatchObject([{}, { parts: [{ type: 'text' }, { type: 'tool-call' }] }])
    expect(prompt(messages, 'chat')).toHaveLength(3)
  })

  it('leaves out thinking at the end of an answer if the API refuses it', () => {
    const providerData = { openai: { itemId: 'rs_1' }, cria: { model: REF } }
    const cut = [
      user('q'),
      assistant([
        { type: 'text', text: 'So' },
        { type: 'thinking', text: 'hm', model: REF, providerData },
      ]),
    ]
    expect(prompt(cut, 'responses')).toMatchObject([{}, { parts: [{ type: 'text' }] }])
    expect(prompt(cut, 'gemini')).toMatchObject([{}, { parts: [{ type: 'text' }, { type: 'thinking' }] }])
  })

  it('sends ids that the API accepts, equal for a call and its result', () => {
    const idsIn = (id: string, style: StyleName): (string | undefined)[] =>
      prompt(
        [user('q'), assistant([{ type: 'tool-call', id, name: 'f', input: {} }]), toolResult({ id, name: 'f', content: 'x' })],
        style,
      ).flatMap((turn) => {
        if (turn.role === 'tool') return turn.results.map((result) => result.id)
        return turn.role === 'assistant' ? turn.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])) : []
      })
    expect(idsIn('call_1', 'messages')).toEqual(['call_1', 'call_1'])
    expect(idsIn('functions.f:0', 'chat')).toEqual(['functions.f:0', 'functions.f:0'])
    const [call, result] = idsIn('functions.f:0', 'messages')
    expect(call).toMatch(/^functions_f_0_[0-9a-f]{16}$/)
    expect(result).toBe(call)
    expect(idsIn('functions_f_0', 'messages')).not.toContain(call)
    expect(idsIn('x'.repeat(99), 'chat')[0]).toHaveLength(40)
  })

  it('refuses retrieved text that is not fenced', () => {
    const chunk = { id: '1', source: 'a.md', start: 0, end: 1, text: 'x', score: 1, metadata: {} }
    const message = retrieved({ marker: '1', origin: 'docstore', store: 's', chunk })
    expect(() => prompt([message], 'messages')).toThrow(/fenced/)
  })

  it('never sends an empty text, half a surrogate pair or a NUL', () => {
    const text = fc.string({ unit: 'binary' })
    const message = fc.oneof(
      text.map((content) => user(content)),
      text.map((content) => assistant(content)),
      text.map((content) => system(content)),
      text.map((content) => toolResult({ id: '1', name: 'f', content })),
      fc.jsonValue().map((input) => assistant([{ type: 'tool-call', id: '1', name: 'f', input: input as never }])),
    )
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 8 }),
        fc.constantFrom<StyleName>('messages', 'chat', 'compatible', 'gemini', 'responses'),
        (messages, style) => {
          const sent = JSON.stringify(prompt(messages, style))
          expect(sent).not.toContain('"text":""')
          expect(sent).not.toContain('\\u0000')
          expect(/\\ud[89a-f]/i.test(sent)).toBe(false)
        },
      ),
    )
  })
})

describe('ToolNames', () => {
  it('keeps names that every provider accepts', () => {
    const names = new ToolNames(['get_weather', '_x-1'])
    expect([names.out('get_weather'), names.back('get_weather'), names.out('_x-1')]).toEqual([
      'get_weather',
      'get_weather',
      '_x-1',
    ])
  })

  it('maps every set of names back, and keeps names distinct', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 100 }), { maxLength: 20 }), (offered) => {
        const names = new ToolNames(offered)
        const sent = offered.map((name) => names.out(name))
        expect(new Set(sent).size).toBe(offered.length)
        for (const name of sent) expect(name).toMatch(/^[A-Za-z_][\w-]{0,63}$/)
        expect(sent.map((name) => names.back(name))).toEqual(offered)
      }),
    )
  })

  it('returns a name that was not offered unchanged', () => {
    expect(new ToolNames(['a']).back('functions.search')).toBe('functions.search')
  })
})

describe('own data', () => {
  it('is marked with the model that made it, and sent to no other', () => {
    const data = toProviderData({ anthropic: { signature: 'sig', empty: '', nothing: null, annotations: [1] }, other: {} }, REF)
    expect(data).toEqual({ anthropic: { signature: 'sig' }, cria: { model: REF } })
    expect(fromProviderData(data, REF)).toEqual({ anthropic: { signature: 'sig' } })
    expect(fromProviderData(data, 'anthropic/other')).toBeUndefined()
    expect(fromProviderData({ anthropic: { signature: 'sig' } }, 'anthropic/other')).toEqual({ anthropic: { signature: 'sig' } })
  })

  it('is undefined if there is nothing to send back', () => {
    expect(toProviderData({ openai: { annotations: [] } }, REF)).toBeUndefined()
    expect(toProviderData(undefined, REF)).toBeUndefined()
  })

  it('merges later reports of the same part', () => {
    const first = mergeMetadata(undefined, { openai: { itemId: 'a', content: null } })
    expect(mergeMetadata(first, { openai: { content: 'x' } })).toEqual({ openai: { itemId: 'a', content: 'x' } })
  })
})

describe('well-formed text', () => {
  it('replaces lone surrogates and NUL, also in nested JSON', () => {
    expect(wellFormed('a\uD83Db\0c😀')).toBe('a\uFFFDb\uFFFDc😀')
    expect(wellFormedJson({ 'k\0': ['\uDE00', 1, null, { x: undefined }] })).toEqual({ 'k\uFFFD': ['\uFFFD', 1, null, {}] })
  })
})
