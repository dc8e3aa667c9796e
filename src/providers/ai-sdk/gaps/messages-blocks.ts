/**
 * Messages: servers other than Anthropic's leave out what the package insists on: the signature of thinking, usage, empty texts. A block
 * that is refused in mid-stream loses all of its deltas.
 */

import type { Json, JsonObject } from '../../../core/json.ts'
import { asArray, asObject, asString } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

export const messagesBlocks: CreateGap = () => ({
  markers: ['content_block_start', 'message_start', 'message_delta'],
  event(event) {
    switch (event['type']) {
      case 'content_block_start':
        return { replace: { ...event, content_block: mendBlock(asObject(event['content_block']) ?? {}) } }
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
      return { ...block, id: asString(block['id']) ?? '', name: asString(block['name']) ?? '', input: block['input'] ?? {} }
    default:
      return block
  }
}

/** The package needs numbers; what was really sent is noted elsewhere. */
function mendUsage(usage: Json | undefined): JsonObject {
  const given = asObject(usage) ?? {}
  return { ...given, input_tokens: given['input_tokens'] ?? 0, output_tokens: given['output_tokens'] ?? 0 }
}
