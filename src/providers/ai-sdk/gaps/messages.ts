/** Anthropic's Messages API, as Anthropic and others speak it. */

import type { CreateDialect } from '../../wire/dialect.ts'
import { asObject, asString, objectsIn } from '../../wire/dialect.ts'
import { absorbMessages } from '../absorb.ts'
import { dialectOf } from './gap.ts'
import { messagesBlocks } from './messages-blocks.ts'
import { messagesEnd } from './messages-end.ts'
import { messagesStart } from './messages-start.ts'

const ESSENTIAL = new Set<unknown>(['text', 'thinking', 'redacted_thinking', 'tool_use'])

export const messagesDialect: CreateDialect = dialectOf({
  gaps: [messagesStart, messagesEnd, messagesBlocks],
  deltas: ['content_block_delta'],
  absorb: absorbMessages,
  essence: (body) => ({
    type: 'message',
    id: asString(body['id']) ?? null,
    model: asString(body['model']) ?? null,
    content: objectsIn(body['content'])
      .filter((block) => ESSENTIAL.has(block['type']))
      .map(({ citations: _, caller: __, ...block }) => block),
    stop_reason: asString(body['stop_reason']) ?? null,
    usage: {
      input_tokens: asObject(body['usage'])?.['input_tokens'] ?? 0,
      output_tokens: asObject(body['usage'])?.['output_tokens'] ?? 0,
    },
  }),
})
