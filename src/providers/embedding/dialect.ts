/** Answers of `/embeddings`, mended before the package reads them: it believes their order and knows numbers only. */

import type { JsonObject } from '../../core/json.ts'
import { asString, objectsIn } from '../wire/dialect.ts'
import type { CreateDialect } from '../wire/dialect.ts'

/** Some servers answer in the order in which they were done, and some in base64 although numbers were asked for. */
function inOrder(body: JsonObject): JsonObject {
  const data = objectsIn(body['data'])
  if (data.length === 0) return body
  const sorted = data
    .toSorted((a, b) => Number(a['index'] ?? 0) - Number(b['index'] ?? 0))
    .map((item) => {
      const encoded = asString(item['embedding'])
      return encoded === undefined ? item : { ...item, embedding: decode(encoded) }
    })
  return { ...body, data: sorted }
}

function decode(base64: string): number[] {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  return Array.from(new Float32Array(bytes.buffer, 0, Math.floor(bytes.length / Float32Array.BYTES_PER_ELEMENT)))
}

/** There are no events to speak of: the answer comes in one piece. */
export const embeddingDialect: CreateDialect = () => ({
  markers: [],
  deltas: [],
  hasBegun: () => true,
  hasEnded: () => false,
  event: () => 'keep',
  absorb: () => false,
  missingEnd: () => undefined,
  body: inOrder,
  essence: (body) => body,
})
