/**
 * Messages: servers other than Anthropic's leave out what the package insists on: the signature of thinking, usage, empty texts. A block
 * that is refused in mid-stream loses all of its deltas. Others send the first words with the beginning of a block, where it does not look.
 */

import type { Json, JsonObject } from '../../../core/json.ts'
import { asArray, asObject, asString, parseObject } from '../../wire/dialect.ts'
import type { Verdict } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const messagesBlocks: CreateGap = () => ({
  markers: ['content_block_start', 'message_start', 'message_delta'],
  event(event) {
    switch (event['type']) {
      case 'content_block_start':
        return begin(event, mendBlock(asObject(event['content_block']) ?? {}))
      case 'message_start': {
        const message = asObject(event['message']) ?? {}
        return {
          replace: {
            ...event,
            message: {
              ...message,
              usage: mendUsage(message['usage']),
              content: asArray(message['content']).map(mendAny) as Json[],
            },
          },
        }
      }
      case 'message_delta':
        return { replace: { ...event, delta: asObject(event['delta']) ?? {}, usage: mendUsage(event['usage']) } }
      default:
        return 'keep'
    }
  },
  body: (body) => ({
    ...body,
    type: 'message',
    content: asArray(body['content']).map(mendAny) as Json[],
    usage: mendUsage(body['usage']),
  }),
})

/** The package takes text and thinking from the pieces that follow: what a block begins with is made the first of them. */
function begin(event: JsonObject, block: JsonObject): Verdict {
  const { type, text, thinking, signature } = block
  const pieces: JsonObject[] =
    type === 'text'
      ? [{ type: 'text_delta', text: text ?? '' }]
      : type === 'thinking'
        ? [
            { type: 'thinking_delta', thinking: thinking ?? '' },
            { type: 'signature_delta', signature: signature ?? '' },
          ]
        : []
  const deltas = pieces
    .filter((piece) => Object.values(piece).every((value) => value !== ''))
    .map((delta) => ({ type: 'content_block_delta', index: event['index'] ?? 0, delta }))
  const last = deltas.pop()
  if (last === undefined) return { replace: { ...event, content_block: block } }
  const empty = type === 'text' ? { text: '' } : { thinking: '', signature: '' }
  return { before: [{ ...event, content_block: { ...block, ...empty } }, ...deltas], replace: last }
}

const mendAny = (block: unknown): unknown => {
  const object = asObject(block)
  return object === undefined ? block : mendBlock(object)
}

function mendBlock(block: JsonObject): JsonObject {
  switch (block['type']) {
    case 'text':
      return { ...block, text: asString(block['text']) ?? '' }
    case 'thinking':
      return { ...block, thinking: asString(block['thinking']) ?? '', signature: asString(block['signature']) ?? '' }
    case 'tool_use':
      return { ...block, id: asString(block['id']) ?? '', name: asString(block['name']) ?? '', input: inputOf(block['input']) }
    default:
      return block
  }
}

function inputOf(given: Json | undefined): Json {
  if (typeof given !== 'string') return given ?? {}
  return given.trim() === '' ? {} : (parseObject(given) ?? given)
}

/** The package needs numbers; what was really sent is noted elsewhere. */
function mendUsage(usage: Json | undefined): JsonObject {
  const given = asObject(usage) ?? {}
  return { ...given, input_tokens: given['input_tokens'] ?? 0, output_tokens: given['output_tokens'] ?? 0 }
}
