/** Models that lack a capability which the request needs: as fallbacks, and as the named model. */

import { describe, expect, it } from 'vitest'
import { all, collect, tool } from '../../test/calls.ts'
import { CriaError } from '../core/error.ts'
import type { EventBody } from '../core/event.ts'
import { assistant, toolResult, user } from '../core/message.ts'
import type { ModelFacts } from '../core/model.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { Script } from '../providers/scripted/scripted-model.ts'

const overloaded = { fail: { after: 0, error: new CriaError('overloaded', 'Busy.') } }
const IMAGE = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const
const seeing = user([{ type: 'text', text: 'What is this?' }, IMAGE])
const look = tool('look', () => 'seen')
const json = { type: 'json', schema: { type: 'object', required: ['a'] } } as const

const down = (): ScriptedModel => new ScriptedModel(() => overloaded, { ref: 'a/one' })
const model = (ref: string, facts: Partial<ModelFacts>, script: Script = ['Here.']): ScriptedModel =>
  new ScriptedModel(script, { ref, facts })
const quick = { retry: { maxRetries: 0 } }
const notices = (events: readonly EventBody[]): string[] =>
  events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))

describe('a fallback receives what it supports', () => {
  it('ENG-ERR-002 omits unsupported tools, thinking and structured output, with one notice', async () => {
    const second = model('b/two', { tools: false, thinking: false, structuredOutput: false })
    const events = await collect({
      model: down(),
      fallbackModels: [second],
      tools: [look],
      toolChoice: 'auto',
      enableThinking: true,
      responseFormat: json,
      system: 'Be brief.',
      ...quick,
    })
    const [request] = second.requests
    expect(request).not.toHaveProperty('tools')
    expect(request).not.toHaveProperty('toolChoice')
    expect(request).not.toHaveProperty('thinking')
    expect(request).not.toHaveProperty('responseFormat')
    expect(request?.messages[0]?.content).toBe(
      'Be brief.\n\nAnswer with JSON only, without any other text, that fits this JSON Schema:\n{"type":"object","required":["a"]}',
    )
    expect(all(events, 'notice')).toMatchObject([
      {
        code: 'left_out',
        message: 'Left out of the request to b/two, which does not take them: tools, thinking, structured output.',
        details: { model: 'b/two', omitted: ['tools', 'thinking', 'structured output'] },
      },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { model: 'b/two' } })
  })

  it('ENG-ERR-002 replaces images of earlier turns and of tools with a note for the model', async () => {
    const second = model('b/two', { images: false })
    const call = assistant([{ type: 'tool-call', id: 'c', name: 'look', input: {} }])
    const result = toolResult({ id: 'c', name: 'look', content: 'a photo', attachments: [IMAGE] })
    const events = await collect({
      model: down(),
      fallbackModels: [second],
      messages: [seeing, assistant('A cat.'), 'Look.', call, result, assistant('Seen.')],
      ...quick,
    })
    const sent = second.requests[0]?.messages ?? []
    expect(JSON.stringify(sent)).not.toContain('iVBOR')
    expect(sent[0]?.content).toBe('What is this?[An image stood here. It was left out: this model does not take images.]')
    expect(sent[4]?.content).toMatch(/^a photo\n\[An image stood here/)
    expect(notices(events)).toEqual(['Left out of the request to b/two, which does not take them: images.'])
  })

  it.each([
    ['an image in the question', { images: false }, { prompt: seeing }, /b\/two does not take images/],
    ['a required call', { tools: false }, { tools: [look], toolChoice: 'required' as const }, /b\/two cannot call tools/],
    ['a named tool', { tools: false }, { tools: [look], toolChoice: { tool: 'look' } }, /b\/two cannot call tools/],
    ['JSON, of one that only quotes', { writes: false }, { responseFormat: json }, /b\/two only quotes/],
  ])('ENG-ERR-002 is passed over for %s', async (_, facts, options, why) => {
    const second = model('b/two', facts)
    const third = model('c/three', {})
    const events = await collect({ model: down(), fallbackModels: [second, third], ...quick, ...options })
    expect(second.requests).toHaveLength(0)
    expect(third.requests).toHaveLength(1)
    expect(notices(events)).toEqual([expect.stringMatching(why)])
    expect(all(events, 'model_switch')).toMatchObject([
      { from: 'a/one', to: 'c/three', reason: 'model_unavailable', error: { code: 'overloaded' } },
    ])
  })

  it('ENG-ERR-002 is passed over in the middle of tool calls, and the turn ends with the error of the first model', async () => {
    const first = model('a/one', {}, (_, call) => (call === 0 ? { toolCalls: [{ name: 'look', input: {} }] } : overloaded))
    const second = model('b/two', { tools: false })
    const events = await collect({ model: first, fallbackModels: [second], tools: [look], ...quick })
    expect(second.requests).toHaveLength(0)
    expect(notices(events)).toEqual([
      'b/two cannot call tools, and this conversation is in the middle of tool calls: it is not asked.',
    ])
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'overloaded' } })
  })

  it('ENG-ERR-002 passes over the named model as well, with a notice, and fails if no model can answer', async () => {
    const blind = model('a/one', { images: false })
    const second = model('b/two', {})
    const events = await collect({ model: blind, fallbackModels: [second], prompt: seeing })
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { model: 'b/two' } })
    const alone = await collect({ model: blind, prompt: seeing })
    expect(alone.at(-1)).toMatchObject({
      type: 'error',
      error: {
        code: 'invalid_request',
        message:
          'a/one does not take images, and the question holds one, and no other model was named that can. It was not asked.',
      },
    })
    expect(blind.requests).toHaveLength(0)
  })

  it('ENG-ERR-002 passes over a larger model that lacks a capability', async () => {
    const overflow = { fail: { after: 0, error: new CriaError('context_length', 'Too long.') } }
    const small = model('a/small', { contextWindow: 1000 }, () => overflow)
    const blind = model('b/blind', { contextWindow: 5000, images: false })
    const large = model('c/large', { contextWindow: 9000 })
    const events = await collect({ model: small, fallbackModels: [blind, large], prompt: seeing })
    expect(blind.requests).toHaveLength(0)
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { model: 'c/large' } })
  })

  it('ENG-ERR-002 has retries of its own', async () => {
    const second = model('b/two', {}, (_, call) => (call < 2 ? overloaded : 'Here.'))
    const events = await collect({
      model: down(),
      fallbackModels: [second],
      retry: { maxRetries: 2, initialDelay: 0 },
    })
    expect(all(events, 'retry')).toHaveLength(4)
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { model: 'b/two' } })
  })
})

it('ENG-TOOL-003 two calls under one id become two calls, each with its own result', async () => {
  const twice = new ScriptedModel([{ toolCalls: [1, 2].map((n) => ({ id: 'same', name: 'echo', input: { n } })) }, 'Done.'])
  const echo = tool('echo', ({ n }) => `heard ${String(n)}`)
  const events = await collect({ model: twice, tools: [echo] })
  const ids = all(events, 'tool_request').map(({ tool: { id } }) => id)
  expect(new Set(ids).size).toBe(2)
  expect(all(events, 'tool_result').map(({ result }) => [result.id, result.content])).toEqual([
    [ids[0], 'heard 1'],
    [ids[1], 'heard 2'],
  ])
})
