import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../core/json.ts'
import { absorbChat, absorbGemini, absorbMessages, absorbResponses } from './absorb.ts'

type Absorb = (into: JsonObject, next: JsonObject) => boolean

const chat = (delta: JsonObject, choice: JsonObject = {}, chunk: JsonObject = {}): JsonObject => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  usage: null,
  ...chunk,
})
const responses = (delta: string, event: JsonObject = {}): JsonObject => ({
  type: 'response.output_text.delta',
  item_id: 'm',
  output_index: 0,
  content_index: 0,
  delta,
  ...event,
})
const messages = (delta: JsonObject, index = 0): JsonObject => ({ type: 'content_block_delta', index, delta })
const gemini = (part: JsonObject, candidate: JsonObject = {}, chunk: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...candidate }],
  usageMetadata: { promptTokenCount: 1 },
  ...chunk,
})

describe('pieces that came together', () => {
  it.each<readonly [string, Absorb, JsonObject, JsonObject, JsonObject]>([
    [
      'text of a chat',
      absorbChat,
      chat({ role: 'assistant', content: 'a' }),
      chat({ content: 'b' }),
      chat({ role: 'assistant', content: 'ab' }),
    ],
    [
      'reasoning of a chat',
      absorbChat,
      chat({ reasoning: 'a', content: null }),
      chat({ reasoning: 'b' }),
      chat({ reasoning: 'ab', content: null }),
    ],
    ['text of a response', absorbResponses, responses('a'), responses('b', { logprobs: [] }), responses('ab')],
    [
      'arguments of a response',
      absorbResponses,
      responses('a', { type: 'response.function_call_arguments.delta' }),
      responses('b', { type: 'response.function_call_arguments.delta' }),
      responses('ab', { type: 'response.function_call_arguments.delta' }),
    ],
    [
      'text of a message',
      absorbMessages,
      messages({ type: 'text_delta', text: 'a' }),
      messages({ type: 'text_delta', text: 'b' }),
      messages({ type: 'text_delta', text: 'ab' }),
    ],
    [
      'arguments of a message',
      absorbMessages,
      messages({ type: 'input_json_delta', partial_json: 'a' }),
      messages({ type: 'input_json_delta', partial_json: 'b' }),
      messages({ type: 'input_json_delta', partial_json: 'ab' }),
    ],
    [
      'text of Gemini, with the later usage',
      absorbGemini,
      gemini({ text: 'a' }),
      gemini({ text: 'b' }, {}, { usageMetadata: { promptTokenCount: 2 } }),
      gemini({ text: 'ab' }, {}, { usageMetadata: { promptTokenCount: 2 } }),
    ],
  ])('%s become one', (_, absorb, into, next, expected) => {
    expect(absorb(into, next)).toBe(true)
    expect(into).toEqual(expected)
  })

  it.each<readonly [string, Absorb, JsonObject, JsonObject]>([
    ['text and reasoning', absorbChat, chat({ content: 'a' }), chat({ reasoning: 'b' })],
    ['both in one', absorbChat, chat({ content: 'a' }), chat({ content: 'b', reasoning: 'c' })],
    ['a tool call', absorbChat, chat({ content: 'a' }), chat({ content: 'b', tool_calls: [{ index: 0 }] })],
    ['a refusal', absorbChat, chat({ content: 'a' }), chat({ refusal: 'b' })],
    ['a finish reason', absorbChat, chat({ content: 'a' }), chat({ content: 'b' }, { finish_reason: 'stop' })],
    ['usage', absorbChat, chat({ content: 'a' }), chat({ content: 'b' }, {}, { usage: { prompt_tokens: 1 } })],
    ['another choice', absorbChat, chat({ content: 'a' }), chat({ content: 'b' }, { index: 1 })],
    ['parts of content', absorbChat, chat({ content: 'a' }), chat({ content: [{ type: 'text', text: 'b' }] })],
    ['no choice', absorbChat, chat({ content: 'a' }), { id: 'c', choices: [] }],
    ['another item', absorbResponses, responses('a'), responses('b', { item_id: 'n' })],
    ['another kind', absorbResponses, responses('a'), responses('b', { type: 'response.refusal.delta' })],
    ['the end of the text', absorbResponses, responses('a'), { type: 'response.output_text.done', text: 'a' }],
    [
      'another block',
      absorbMessages,
      messages({ type: 'text_delta', text: 'a' }),
      messages({ type: 'text_delta', text: 'b' }, 1),
    ],
    [
      'a signature',
      absorbMessages,
      messages({ type: 'thinking_delta', thinking: 'a' }),
      messages({ type: 'signature_delta', signature: 'b' }),
    ],
    [
      'two signatures',
      absorbMessages,
      messages({ type: 'signature_delta', signature: 'a' }),
      messages({ type: 'signature_delta', signature: 'b' }),
    ],
    ['thought and text', absorbGemini, gemini({ text: 'a', thought: true }), gemini({ text: 'b' })],
    ['a signature of Gemini', absorbGemini, gemini({ text: 'a' }), gemini({ text: 'b', thoughtSignature: 's' })],
    ['a finish reason of Gemini', absorbGemini, gemini({ text: 'a' }), gemini({ text: 'b' }, { finishReason: 'STOP' })],
    ['a call of Gemini', absorbGemini, gemini({ text: 'a' }), gemini({ functionCall: { name: 'f' } })],
    ['a blocked prompt', absorbGemini, gemini({ text: 'a' }), gemini({ text: 'b' }, {}, { promptFeedback: {} })],
  ])('%s stays apart, and nothing is changed', (_, absorb, into, next) => {
    const before = structuredClone(into)
    expect(absorb(into, next)).toBe(false)
    expect(into).toEqual(before)
  })
})
