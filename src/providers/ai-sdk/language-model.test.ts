import { describe, expect, it } from 'vitest'
import { ask } from '../../../test/support/ask-provider.ts'
import { assistant, toolResult, user } from '../../core/message.ts'
import type { ToolResultPart } from '../../core/part.ts'
import { fromAiSdkModel, isAiSdkModel } from './language-model.ts'
import type { AiSdkModel } from './language-model.ts'

interface Scripted extends AiSdkModel {
  readonly asked: Record<string, unknown>[]
}

/** An AI SDK model that streams these parts for every request. */
function scripted(specificationVersion: string, parts: readonly object[], result: object = {}): Scripted {
  const asked: Record<string, unknown>[] = []
  return {
    specificationVersion,
    provider: 'acme.chat',
    modelId: 'thing-1',
    asked,
    doStream: async (options: never) => {
      asked.push(options)
      return { stream: ReadableStream.from(parts) }
    },
    doGenerate: async (options: never) => {
      asked.push(options)
      return result
    },
  }
}

const FINISH = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'end' },
  usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } },
}
const TEXT = [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hello' },
  { type: 'text-end', id: '1' },
]

describe('any AI SDK language model', () => {
  it('is recognised', () => {
    expect(isAiSdkModel(scripted('v4', []))).toBe(true)
    for (const value of [undefined, null, 'openai/gpt-5', {}, { stream() {}, ref: 'x/y' }])
      expect(isAiSdkModel(value)).toBe(false)
  })

  it('of version 4 answers', async () => {
    const model = fromAiSdkModel(
      scripted('v4', [{ type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'seed' }] }, ...TEXT, FINISH]),
    )
    expect(model.ref).toBe('acme/thing-1')
    expect(model.facts).toEqual({ contextWindow: null, maxOutputTokens: null })
    expect(await ask(model)).toMatchObject({
      text: 'Hello',
      finish: { reason: 'stop', rawReason: 'end' },
      usage: { inputTokens: 3, outputTokens: 2, exactness: 'exact' },
      warnings: ['"seed"'],
      error: undefined,
    })
  })

  it('of version 2 answers, and receives options of version 2', async () => {
    const older = scripted('v2', [
      ...TEXT,
      { type: 'finish', finishReason: 'stop', usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } },
    ])
    const messages = [
      user([
        { type: 'text', text: 'Look' },
        { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      ]),
    ]
    expect(await ask(fromAiSdkModel(older), { messages, thinking: 'high' })).toMatchObject({
      text: 'Hello',
      finish: { reason: 'stop' },
      usage: { totalTokens: 5 },
    })
    expect(older.asked[0]).toMatchObject({ prompt: [{ content: [{ type: 'text' }, { type: 'file', data: 'AAAA' }] }] })
    expect(older.asked[0]).not.toHaveProperty('reasoning')
  })

  it.each([
    [
      'v2',
      'ok',
      [
        { type: 'media', data: 'AAAA' },
        { type: 'text', text: 'https://x.example/a.pdf' },
      ],
    ],
    [
      'v3',
      'ok',
      [
        { type: 'file-data', data: 'AAAA' },
        { type: 'file-url', url: 'https://x.example/a.pdf' },
      ],
    ],
    [
      'v4',
      'ok',
      [
        { type: 'file', data: { type: 'data', data: 'AAAA' } },
        { type: 'file', data: { type: 'url' } },
      ],
    ],
    ['v4', 'Error: ok', [{ type: 'file' }, { type: 'file' }]],
  ])('of %s receives files of a tool result in the format of its version (%s)', async (version, text, files) => {
    const model = { ...scripted(version, [...TEXT, FINISH]), provider: 'acme' }
    const attachments: ToolResultPart['attachments'] = [
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'file', mediaType: 'application/pdf', data: 'https://x.example/a.pdf' },
    ]
    const isError = text !== 'ok'
    const messages = [
      user('Look'),
      assistant([{ type: 'tool-call', id: 'a', name: 'look', input: {} }]),
      toolResult({ id: 'a', name: 'look', content: 'ok', isError, attachments }),
    ]
    await ask(fromAiSdkModel(model), { messages })
    const output = { type: 'content', value: [{ type: 'text', text }, ...files] }
    expect(model.asked[0]).toMatchObject({ prompt: [{}, {}, { role: 'tool', content: [{ output }] }] })
  })

  it('answers without streaming', async () => {
    const content = [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Hello' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'f', input: '{"x":1}' },
    ]
    const model = fromAiSdkModel(
      scripted('v4', [], {
        content,
        finishReason: { unified: 'tool-calls' },
        usage: FINISH.usage,
        response: { id: 'r', modelId: 'm' },
      }),
    )
    expect(await ask(model, { stream: false })).toMatchObject({
      text: 'Hello',
      thinking: 'hm',
      calls: [{ id: 'a', name: 'f', input: { x: 1 } }],
      response: { id: 'r', model: 'm' },
    })
  })

  it('marks arguments that are nested too deeply as invalid, and keeps them unchanged', async () => {
    const nested = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)
    const content = [3, 100_000].map((levels) => ({
      type: 'tool-call',
      toolCallId: `of ${levels}`,
      toolName: 'f',
      input: nested(levels),
    }))
    const model = fromAiSdkModel(
      scripted('v4', [], { content, finishReason: { unified: 'tool-calls' }, usage: FINISH.usage, response: {} }),
    )
    expect((await ask(model, { stream: false })).calls).toEqual([
      expect.objectContaining({ input: { a: { a: { a: 1 } } } }),
      expect.objectContaining({ input: nested(100_000), invalid: 'More than 500 levels of nesting' }),
    ])
  })

  it('keeps calls and results of tools that ran at the provider as opaque parts', async () => {
    const ran = [
      { type: 'tool-input-start', id: 's', toolName: 'web_search', providerExecuted: true },
      { type: 'tool-call', toolCallId: 's', toolName: 'web_search', input: '{"q":"x"}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 's', toolName: 'web_search', result: { found: 1 } },
      { type: 'source', sourceType: 'url', id: '1', url: 'https://x' },
    ]
    const { calls, parts, finish } = await ask(fromAiSdkModel(scripted('v4', [...ran, ...TEXT, FINISH])))
    expect(calls).toEqual([])
    expect(finish?.reason).toBe('stop')
    expect(
      parts
        .filter((part) => part.type === 'opaque')
        .map((part) => [part.kind, (part.providerData['part'] as { type: string }).type]),
    ).toEqual([
      ['tool-call:web_search', 'tool-call'],
      ['tool-result:web_search', 'tool-result'],
    ])
  })

  it.each([
    ['ends without a finish', [...TEXT], 'stream_interrupted'],
    ['says that it was interrupted', [...TEXT, { ...FINISH, finishReason: { unified: 'interrupted' } }], 'stream_interrupted'],
    ['reports an error', [...TEXT, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }], 'overloaded'],
    ['reports an error as an Error', [{ type: 'error', error: new Error('Boom') }], 'stream_interrupted'],
    ['gives up', [...TEXT, { ...FINISH, finishReason: { unified: 'error', raw: 'bad' } }], 'invalid_response'],
  ])('that %s fails', async (_, parts, code) => {
    const { error, finish } = await ask(fromAiSdkModel(scripted('v4', parts)))
    expect(error).toMatchObject({ code, details: { provider: 'acme', model: 'acme/thing-1' } })
    expect(finish).toBeUndefined()
  })

  it('is named in the error when it throws', async () => {
    const model = {
      ...scripted('v4', []),
      doStream: () =>
        Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) })),
    }
    expect((await ask(fromAiSdkModel(model))).error).toMatchObject({ code: 'network' })
    const broken = { ...scripted('v4', []), doStream: () => Promise.reject(new Error('Something else')) }
    expect((await ask(fromAiSdkModel(broken))).error?.message).toContain('Something else')
  })
})
