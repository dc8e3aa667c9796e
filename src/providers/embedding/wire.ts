/** Requests for vectors, and their answers: OpenAI's `/embeddings`, which others speak as well, and Gemini's. */

import type { EmbeddingPurpose } from '../../core/embedding.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Encoded } from '../api.ts'
import { post } from '../connection.ts'
import type { Target } from '../connection.ts'
import type { EmbeddingDefinition } from '../registry.ts'
import { asObject, objectsIn } from '../wire/json.ts'
import { defined } from '../../util/check.ts'
import { readWhole } from '../wire/read-answer.ts'

/** Vectors of some hundred texts. */
const MAX_BODY_BYTES = 256 * 1024 * 1024

export interface EmbeddingRequest {
  readonly model: string
  readonly texts: readonly string[]
  readonly dimensions: number | undefined
  readonly purpose: EmbeddingPurpose
}

/** The vectors as they came, in the order of the texts. @throws what is to be made a `CriaError`. */
export async function requestVectors(
  target: Target,
  { api, options }: EmbeddingDefinition,
  request: EmbeddingRequest,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const { encode, decode } = APIS[api]
  const encoded = encode(request, options?.(request.purpose) ?? {})
  const response = await post(target, encoded, signal)
  return decode(await readWhole(response, target.peer, MAX_BODY_BYTES))
}

interface EmbeddingApi {
  readonly encode: (request: EmbeddingRequest, options: JsonObject) => Encoded
  readonly decode: (body: JsonObject) => readonly unknown[]
}

const APIS: Readonly<Record<EmbeddingDefinition['api'], EmbeddingApi>> = {
  openai: {
    encode: ({ model, texts, dimensions }, options) => ({
      path: '/embeddings',
      body: defined<JsonObject>({ model, input: texts, encoding_format: 'float', dimensions, ...options }),
    }),
    // Some servers answer in the order in which they were done, and some in base64 although numbers were asked for.
    decode: (body) =>
      objectsIn(body['data'])
        .toSorted((a, b) => Number(a['index'] ?? 0) - Number(b['index'] ?? 0))
        .map(({ embedding }) => (typeof embedding === 'string' ? decodeBase64(embedding) : embedding)),
  },
  gemini: {
    encode({ model, texts, dimensions }, options) {
      const requests = texts.map((text) =>
        defined<JsonObject>({
          model: `models/${model}`,
          content: { role: 'user', parts: [{ text }] },
          outputDimensionality: dimensions,
          ...options,
        }),
      )
      const [only] = requests
      return requests.length === 1 && only !== undefined
        ? { path: `/models/${model}:embedContent`, body: only }
        : { path: `/models/${model}:batchEmbedContents`, body: { requests } }
    },
    decode: (body) => [...objectsIn(body['embeddings']), ...objectsIn([asObject(body['embedding'])])].map(({ values }) => values),
  },
}

function decodeBase64(base64: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  return new Float32Array(bytes.buffer, 0, Math.floor(bytes.length / Float32Array.BYTES_PER_ELEMENT))
}
