/** Tests servers whose Chat Completions differ from OpenAI's: in tool calls, several choices, and refusals. */

import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { ask } from '../../test/support/ask-provider.ts'
import type { Outcome } from '../../test/support/ask-provider.ts'
import { wireServer } from '../../test/support/wire-server.ts'
import type { Reply, WireServer } from '../../test/support/wire-server.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { createProviderModel } from './create.ts'

let server: WireServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

async function answerTo(reply: Reply, model = 'openai-compatible/m', version = 'v1'): Promise<Outcome> {
  await server?.[Symbol.asyncDispose]()
  server = await wireServer([reply])
  return ask(createProviderModel(model, { baseURL: `${server.url}/${version}`, apiKey: 'sk-test-0123456789', env: {} }))
}

const END = 'data: [DONE]\n\n'
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: object, finish: string | null = null, index = 0): string =>
  event({ id: 'c', model: 'm', choices: [{ index, delta, finish_reason: finish }] })

/** A piece of a tool call; members that are `undefined` are not sent. */
interface Piece {
  readonly index?: number | null
  readonly id?: string | null
  readonly name?: string | null
  readonly args?: Json
}
/** What is `undefined` goes on its way to the wire. */
const called = ({ index, id, name, args }: Piece): object => ({ index, id, function: { name, arguments: args } })
/** Each list is an event. */
const calls = (...lists: readonly (readonly Piece[])[]): string =>
  [...lists.map((list) => chunk({ tool_calls: list.map(called) })), chunk({}, 'tool_calls'), END].join('')

const Q1: JsonObject = { q: 1 }
const Q2: JsonObject = { q: 2 }
const [ONE, TWO] = [JSON.stringify(Q1), JSON.stringify(Q2)]

describe('tool calls are distinguished with', () => {
  test.each<readonly [what: string, stream: string, expected: readonly (readonly [name: string, input: Json])[]]>([
    [
      'one number and new ids, without arguments',
      calls([{ index: 0, id: 'a', name: 'now', args: '' }], [{ index: 0, id: 'b', name: 'now', args: '' }]),
      [
        ['now', {}],
        ['now', {}],
      ],
    ],
    [
      'one number and new ids, the first without arguments',
      calls(
        [{ index: 0, id: 'a', name: 'now' }],
        [{ index: 0, id: 'b', name: 'find' }],
        [{ index: 0, args: ONE.slice(0, 3) }],
        [{ index: 0, args: ONE.slice(3) }],
      ),
      [
        ['now', {}],
        ['find', Q1],
      ],
    ],
    [
      'one number, interleaved, by the id of each piece',
      calls(
        [{ index: 0, id: 'a', name: 'find', args: '' }],
        [{ index: 0, id: 'b', name: 'find', args: '' }],
        [{ index: 0, id: 'a', args: ONE }],
        [{ index: 0, id: 'b', args: TWO }],
      ),
      [
        ['find', Q1],
        ['find', Q2],
      ],
    ],
    [
      'no numbers, in a list',
      calls([
        { id: 'a', name: 'find', args: ONE },
        { id: 'b', name: 'find', args: TWO },
      ]),
      [
        ['find', Q1],
        ['find', Q2],
      ],
    ],
    [
      'no numbers, by their position in the list',
      calls(
        [
          { id: 'a', name: 'find', args: '' },
          { id: 'b', name: 'find', args: '' },
        ],
        [{ args: ONE.slice(0, 3) }, { args: TWO.slice(0, 3) }],
        [{ args: ONE.slice(3) }, { args: TWO.slice(3) }],
      ),
      [
        ['find', Q1],
        ['find', Q2],
      ],
    ],
    [
      'no numbers, one after the other, the first without arguments',
      calls(
        [{ id: 'a', name: 'now', args: '' }],
        [{ id: 'b', name: 'find', args: '' }],
        [{ args: ONE.slice(0, 2) }],
        [{ args: ONE.slice(2) }],
      ),
      [
        ['now', {}],
        ['find', Q1],
      ],
    ],
    [
      'neither numbers nor ids',
      calls(
        [{ name: 'find', args: ONE }],
        [{ name: 'find', args: TWO }],
        [{ name: 'now', args: '' }],
        [{ name: 'now', args: '' }],
      ),
      [
        ['find', Q1],
        ['find', Q2],
        ['now', {}],
        ['now', {}],
      ],
    ],
    [
      'numbers, and one shared id that arrives last',
      calls(
        [{ index: 0, name: 'find', args: '' }],
        [{ index: 0, id: 'x', args: ONE }],
        [{ index: 1, name: 'find', args: '' }],
        [{ index: 1, id: 'x', args: TWO }],
      ),
      [
        ['find', Q1],
        ['find', Q2],
      ],
    ],
    [
      'id and name in each piece, which may begin as arguments do',
      calls(
        [{ index: 0, id: 'a', name: 'find', args: '' }],
        [{ index: 0, id: 'a', name: 'find', args: '{"where":' }],
        [{ index: 0, id: 'a', name: 'find', args: '{"q":1}' }],
        [{ index: 0, id: 'a', name: 'find', args: '}' }],
      ),
      [['find', { where: Q1 }]],
    ],
    [
      'pieces, then the whole call again',
      calls(
        [{ index: 0, id: 'a', name: 'find', args: '' }],
        [{ index: 0, args: ONE }],
        [{ index: 0, id: 'a', name: 'find', args: ONE }],
      ),
      [['find', Q1]],
    ],
    [
      'a new id in each piece',
      calls(
        [{ index: 0, id: 'a', name: 'find', args: '' }],
        [{ index: 0, id: 'b', args: ONE.slice(0, 4) }],
        [{ index: 0, id: 'c', args: ONE.slice(4) }],
      ),
      [['find', Q1]],
    ],
    ['a name that arrives late', calls([{ index: 0, id: 'a' }], [{ index: 0, name: 'find', args: ONE }]), [['find', Q1]]],
    ['no name at all', calls([{ index: 0, id: 'a', name: '', args: ONE }]), [['_', Q1]]],
    [
      'name and arguments beside the id',
      chunk({ tool_calls: [{ id: 'a', name: 'find', arguments: ONE }] }) + chunk({}, 'tool_calls') + END,
      [['find', Q1]],
    ],
  ])('%s', async (_, body, expected) => {
    const outcome = await answerTo({ body })
    expect(outcome.error).toBeUndefined()
    expect(outcome.calls.map(({ name, input }) => [name, input])).toEqual(expected)
    expect(outcome.calls.filter(({ invalid }) => invalid !== undefined)).toEqual([])
    expect(new Set(outcome.calls.map(({ id }) => id)).size).toBe(expected.length)
    expect(outcome.finish?.reason).toBe('tool-calls')
  })

  const input = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 3 })
  const call = fc.record({ name: fc.constantFrom('find', 'now'), input, cuts: fc.array(fc.nat(20), { maxLength: 4 }) })

  test('any way of numbering, however the stream is cut', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('number', 'id', 'id under one number', 'order', 'order under one number'),
        fc.boolean(),
        async (said, by, inTurn) => {
          const pieces = said.map(({ name, input: given, cuts }, at) => {
            const places = [0, ...cuts.toSorted((a, b) => a - b), Infinity]
            const text = JSON.stringify(given)
            const index = by === 'number' ? { index: at } : by.endsWith('one number') ? { index: 0 } : {}
            const each = by.startsWith('id') ? { id: `id_${at}` } : {}
            return [
              { ...index, id: `id_${at}`, name, args: '' },
              ...places.slice(1).map((end, part) => ({ ...index, ...each, args: text.slice(places[part], end) })),
            ]
          })
          const mixes = inTurn && !by.startsWith('order')
          const longest = Math.max(...pieces.map(({ length }) => length))
          const order = mixes
            ? Array.from({ length: longest }, (_, part) => pieces.flatMap((list) => list.slice(part, part + 1))).flat()
            : pieces.flat()
          const outcome = await answerTo({ body: calls(...order.map((piece) => [piece])) })
          expect(outcome.calls.map(({ id, name, input: got }) => [id, name, got])).toEqual(
            said.map(({ name, input: given }, at) => [`id_${at}`, name, JSON.parse(JSON.stringify(given)) as Json]),
          )
        },
      ),
      { numRuns: 60 },
    )
  })
})

test('the choice that begins first is the answer', async () => {
  const both = ['A', 'B'].map((text, index) => ({ index, delta: { content: text }, finish_reason: null }))
  const body = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'C' }, null, 2),
    chunk({ role: 'assistant', content: '' }, null, 1),
    chunk({ content: 'B' }, null, 1),
    event({ id: 'c', model: 'm', choices: both.toReversed() }),
    chunk({}, 'stop', 1),
    chunk({ content: 'A' }),
    chunk({}, 'length'),
    END,
  ]
  expect(await answerTo({ body: body.join('') })).toMatchObject({ text: 'AA', finish: { reason: 'length' } })

  const candidate = (text: string, index: number, finishReason?: string): JsonObject => ({
    content: { role: 'model', parts: [{ text }] },
    ...(index === 0 ? {} : { index }),
    ...(finishReason === undefined ? {} : { finishReason }),
  })
  const chunks = [[candidate('A', 0)], [candidate('B', 1, 'STOP')], [candidate('B', 1), candidate('A', 0, 'MAX_TOKENS')]]
  const gemini = chunks.map((candidates) => event({ candidates })).join('')
  expect(await answerTo({ body: gemini }, 'google/gemini-2.5-flash', 'v1beta')).toMatchObject({
    text: 'AA',
    finish: { reason: 'length' },
  })
})

describe('a refusal is text with the finish reason content-filter', () => {
  const choice = { index: 0, message: { role: 'assistant', content: null, refusal: 'I cannot.' }, finish_reason: 'stop' }
  test.each<readonly [what: string, reply: Reply]>([
    [
      'a stream',
      {
        body:
          chunk({ role: 'assistant', refusal: '' }) +
          chunk({ refusal: 'I ' }) +
          chunk({ refusal: 'cannot.' }) +
          chunk({}, 'stop') +
          END,
      },
    ],
    [
      'one piece',
      { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id: 'c', model: 'm', choices: [choice] }) },
    ],
  ])('in %s', async (_, reply) => {
    for (const model of ['openai-chat/gpt-4o', 'openai-compatible/m'])
      expect(await answerTo(reply, model)).toMatchObject({
        text: 'I cannot.',
        finish: { reason: 'content-filter', rawReason: 'stop' },
        error: undefined,
      })
  })
})

test('reasoning is read once, under either of its names', async () => {
  const deltas = [{ reasoning: 'Hm.' }, { reasoning_content: 'Hm.' }, { reasoning: 'Hm.', reasoning_content: 'Hm.' }]
  for (const delta of [...deltas, { reasoning: 'Hm.', reasoning_content: '' }, { reasoning: '', reasoning_content: 'Hm.' }]) {
    const stream = { body: chunk(delta) + chunk({ content: 'Yes.', reasoning_content: '' }) + chunk({}, 'stop') + END }
    const message = { role: 'assistant', content: 'Yes.', ...delta }
    const whole = { body: JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }) }
    for (const reply of [stream, whole])
      expect(await answerTo(reply)).toMatchObject({ text: 'Yes.', thinking: 'Hm.', finish: { reason: 'stop' } })
  }
})
