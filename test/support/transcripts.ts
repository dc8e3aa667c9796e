/** Generates hostile and valid conversations. */

import fc from 'fast-check'
import { assistant, developer, fromParts, system, toolResult, user } from '../../src/core/message.ts'
import type { Message } from '../../src/core/message.ts'
import type { ImagePart, Part, ThinkingPart, ToolCallPart } from '../../src/core/part.ts'

const LONG = 'x'.repeat(90)
const id = fc.constantFrom('a', 'b', 'c', 'call_1', '', 'functions.look:0', LONG, 'ä b')
const name = fc.constantFrom('look', 'write', 'functions.look', 'no such tool!', '', LONG)
const words = fc.constantFrom('', ' \n', 'Hello.', 'Ends with a blank ', 'a\uD800b\0')

const input = fc.oneof(
  fc.constant<Pick<ToolCallPart, 'input' | 'invalid'>>({ input: {} }),
  fc.constant({ input: { path: 'a.ts' } }),
  fc.constant({ input: '{"path":"a', invalid: 'Unexpected end of JSON input' }),
  fc.constant({ input: [1] }),
  fc.constant({ input: null }),
)

/** Returns provider data of the model `ref`, in the format of each provider. */
function signed(ref: string, number: number): NonNullable<ThinkingPart['providerData']> {
  const mark = `sig${number}`
  return {
    anthropic: { signature: mark },
    google: { thoughtSignature: mark },
    openai: { itemId: `rs_${number}`, reasoningEncryptedContent: mark },
    cria: { model: ref },
  }
}

const call: fc.Arbitrary<Part> = fc
  .record({ id, name, input })
  .map((made) => ({ type: 'tool-call', id: made.id, name: made.name, ...made.input }))
const picture: ImagePart = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }
const result: fc.Arbitrary<Part> = fc
  .record({ id, name, content: words, isError: fc.boolean(), seen: fc.constantFrom({}, {}, { attachments: [picture] }) })
  .map(({ seen, ...made }) => ({ type: 'tool-result', ...made, ...seen }))
const text: fc.Arbitrary<Part> = words.map((said) => ({ type: 'text', text: said }))

function thinking(ref: string): fc.Arbitrary<Part> {
  return fc
    .record({
      text: words,
      maker: fc.constantFrom(ref, 'other/model', undefined),
      number: fc.option(fc.nat(5), { nil: undefined }),
    })
    .map(({ text: thought, maker, number }) => ({
      type: 'thinking',
      text: thought,
      ...(maker === undefined ? {} : { model: maker }),
      ...(number === undefined ? {} : { providerData: signed(maker ?? ref, number) }),
    }))
}

/** Generates every kind of message that was found in stored conversations, and more. */
export function hostileTranscript(ref: string): fc.Arbitrary<Message[]> {
  const of = (...parts: readonly fc.Arbitrary<Part>[]): fc.Arbitrary<Part[]> => fc.array(fc.oneof(...parts), { maxLength: 4 })
  const message = fc.oneof(
    { weight: 4, arbitrary: of(text, call, call, thinking(ref)).map((parts) => fromParts('assistant', parts)) },
    { weight: 4, arbitrary: of(result).map((parts) => fromParts('tool', parts)) },
    { weight: 2, arbitrary: words.map((said) => user(said)) },
    { weight: 1, arbitrary: words.map((said) => user([{ type: 'text', text: said }, picture])) },
    { weight: 1, arbitrary: words.map((said) => system(said)) },
    { weight: 1, arbitrary: words.map((said) => developer(said)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom<'user' | 'tool' | 'assistant'>('user', 'tool', 'assistant'), of(text, call, result, thinking(ref)))
        .map(([role, parts]) => fromParts(role, parts)),
    },
  )
  // Shuffled pieces of valid conversations are hostile too.
  const cutUp = soundTranscript(ref).chain((messages) => fc.shuffledSubarray(messages))
  return fc.oneof({ weight: 3, arbitrary: fc.array(message, { maxLength: 12 }) }, { weight: 1, arbitrary: cutUp })
}

/** Generates a conversation that every provider accepts unchanged. */
export function soundTranscript(ref: string): fc.Arbitrary<Message[]> {
  const step = fc.record({ calls: fc.nat(3), says: fc.boolean(), thinks: fc.boolean() })
  const turn = fc.record({ steps: fc.array(step, { maxLength: 3 }), thinks: fc.boolean() })
  return fc.array(turn, { maxLength: 4 }).map((turns) => {
    let number = 0
    const thought = (): Part[] => [{ type: 'thinking', text: 'Hm.', model: ref, providerData: signed(ref, ++number) }]
    return turns.flatMap(({ steps, thinks }) => [
      user('And now?'),
      ...steps.flatMap(({ calls, says, thinks: first }) => {
        const made = Array.from({ length: calls }, (): ToolCallPart => ({
          type: 'tool-call',
          id: `call_${++number}`,
          name: 'look',
          input: { number },
        }))
        if (made.length === 0) return []
        return [
          assistant([...(first ? thought() : []), ...(says ? [{ type: 'text' as const, text: 'Let me look.' }] : []), ...made]),
          ...made.map((asked) => toolResult({ id: asked.id, name: 'look', content: 'seen' })),
        ]
      }),
      assistant([...(thinks ? thought() : []), { type: 'text', text: 'There.' }]),
    ])
  })
}
