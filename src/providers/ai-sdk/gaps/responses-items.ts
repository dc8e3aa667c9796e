/**
 * Responses: other vendors leave out members of their items (`id`, `status`, positions of annotations) that the package insists on, and
 * an item that is not as it expects costs the whole answer. What every item needs is filled in; annotations, which nobody here reads, go.
 * Calls of tools that OpenAI lets its client run (shell, patches, computer, tool search) are surfaced by the package as calls of ours,
 * but we never offer those tools: they are dropped.
 */

import type { Json, JsonObject } from '../../../core/json.ts'
import { asArray, asObject, asString, objectsIn } from '../../wire/dialect.ts'
import type { CreateGap } from './gap.ts'

const NOT_OFFERED = new Set<Json | undefined>([
  'tool_search_call',
  'tool_search_output',
  'local_shell_call',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'computer_call',
])

export const responsesItems: CreateGap = () => ({
  markers: ['response.output_item.'],
  event(event) {
    const item = asObject(event['item'])
    if (item === undefined) return 'keep'
    if (NOT_OFFERED.has(item['type'])) return 'drop'
    const mended = mendItem(item, `item_${JSON.stringify(event['output_index'] ?? 0)}`)
    return mended === item ? 'keep' : { replace: { ...event, item: mended } }
  },
  body: (body) => ({
    ...body,
    output: objectsIn(body['output'])
      .filter((item) => !NOT_OFFERED.has(item['type']))
      .map((item, index) => mendItem(item, `item_${index}`)),
  }),
})

function mendItem(item: JsonObject, ownId: string): JsonObject {
  const id = asString(item['id']) ?? ownId
  switch (item['type']) {
    case 'message':
      return { ...item, id, role: 'assistant', content: asArray(item['content']).map(mendContent) as Json[] }
    case 'function_call':
      return {
        ...item,
        id,
        call_id: asString(item['call_id']) ?? id,
        name: asString(item['name']) ?? '',
        arguments: argumentsOf(item['arguments']),
        status: asString(item['status']) ?? 'completed',
      }
    case 'reasoning':
      return asString(item['id']) === undefined ? { ...item, id } : item
    default:
      return item
  }
}

function argumentsOf(given: Json | undefined): string {
  if (typeof given === 'string') return given
  return given === undefined || given === null ? '' : JSON.stringify(given)
}

function mendContent(part: unknown): unknown {
  const content = asObject(part)
  if (content?.['type'] !== 'output_text') return part
  const { logprobs: _, ...rest } = content
  return { ...rest, text: asString(content['text']) ?? '', annotations: [] }
}
