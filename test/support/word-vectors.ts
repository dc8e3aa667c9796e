/** Provides an embedding model without weights: texts are similar if they share words, or declared synonyms. */

import { hash } from 'node:crypto'
import type { EmbeddingModel } from '../../src/core/retrieval-models.ts'

export interface WordVectorOptions {
  readonly ref?: string
  readonly dimensions?: number
  /** Groups of synonyms; each word counts as the first of its group. */
  readonly synonyms?: readonly (readonly string[])[]
  /** Called before each request; an error that it throws is the error of the provider. */
  readonly before?: (texts: readonly string[], purpose: 'document' | 'query') => void | Promise<void>
  /** Length of its vectors; does not change the similarities. */
  readonly norm?: number
  readonly maxBatch?: number
  readonly maxTokens?: number
  readonly parallel?: boolean
  /** Changes the vectors, while name and length stay. */
  readonly seed?: string
}

const LONGEST = 600

export function wordVectors({ ref = 'test/words', dimensions = 16_384, ...options }: WordVectorOptions = {}): EmbeddingModel {
  const { synonyms = [], before, norm = 1, seed = '', maxBatch, maxTokens, parallel } = options
  const meaning = new Map(synonyms.flatMap(([first = '', ...others]) => others.map((other) => [other, first])))
  const place = (text: string): Float32Array => {
    const vector = new Float32Array(dimensions)
    // Reads only the beginning of a text, as real models do.
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
