/** An embedding model without weights: texts are near when they share words, or words that were declared to mean the same. */

import { hash } from 'node:crypto'
import type { EmbeddingModel } from '../../src/core/embedding.ts'

export interface WordVectorOptions {
  readonly ref?: string
  readonly dimensions?: number
  /** Words that count as the first of their group. */
  readonly synonyms?: readonly (readonly string[])[]
  /** Called before each request; what it throws is what the provider answers. */
  readonly before?: (texts: readonly string[], purpose: 'document' | 'query') => void | Promise<void>
  /** Length of its vectors, which mean the same with any. */
  readonly norm?: number
  readonly maxBatch?: number
  readonly maxTokens?: number
  readonly parallel?: boolean
  /** Makes another model of it, with the same name and size. */
  readonly seed?: string
}

const LONGEST = 600

export function wordVectors({ ref = 'test/words', dimensions = 16_384, ...options }: WordVectorOptions = {}): EmbeddingModel {
  const { synonyms = [], before, norm = 1, seed = '', maxBatch, maxTokens, parallel } = options
  const meaning = new Map(synonyms.flatMap(([first = '', ...others]) => others.map((other) => [other, first])))
  const place = (text: string): Float32Array => {
    const vector = new Float32Array(dimensions)
    // As models do, it reads the beginning.
    for (const word of text
      .toLowerCase()
      .slice(0, LONGEST)
      .match(/[\p{L}\p{N}]+/gu) ?? []) {
      const digest = hash('sha256', seed + (meaning.get(word) ?? word))
      const at = Number.parseInt(digest.slice(0, 8), 16) % dimensions
      vector[at] = (vector[at] ?? 0) + norm
    }
    return vector
  }
  return {
    ref,
    ...(maxBatch === undefined ? {} : { maxBatch }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(parallel === undefined ? {} : { parallel }),
    async embed(texts, { signal, purpose = 'document' } = {}) {
      signal?.throwIfAborted()
      await before?.(texts, purpose)
      return texts.map(place)
    },
  }
}
