/**
 * The one configuration of ranking, for all collections. Each value stands on a broad plateau; `docs/retrieval.md` has the measurements.
 */
export interface RankingSettings {
  /** How soon further occurrences of a word stop to count (BM25's k1). */
  readonly saturation: number
  /** How much long chunks are held back (BM25's b), from 0 to 1. */
  readonly lengthPenalty: number
  /** How often a word of the title or of a heading counts as a word of the text. */
  readonly titleWeight: number
  readonly headingWeight: number
  readonly variants: VariantSettings
  readonly phrases: PhraseSettings
  readonly neighbours: NeighbourSettings
  readonly vectors: VectorSettings
}

/** Words of the vocabulary that are written like a word of the query: other forms, compounds, misspellings. */
export interface VariantSettings {
  /** Least similarity (cosine of character n-grams, 0 to 1). */
  readonly floor: number
  /** The same for a word that no chunk has: most often it is misspelt. */
  readonly unknownFloor: number
  /** An occurrence counts as this share of its similarity. */
  readonly share: number
  readonly limit: number
  /** A word that this many times as many chunks have is a word of its own: `install` is no way to write `uninstall`. */
  readonly mostFrequent: number
  /** Only the weightiest words of a long query are varied. */
  readonly words: number
}

/** Neighbouring words of the query that are neighbours in the chunk. */
export interface PhraseSettings {
  readonly share: number
  /** Only the best chunks are looked at. */
  readonly candidates: number
}

/** Chunks about the same thing lend each other some of their score. */
export interface NeighbourSettings {
  /** Share of the chunk's own score; the rest is the mean of its neighbours'. */
  readonly own: number
  readonly neighbours: number
  /** Only the best chunks are smoothed. */
  readonly candidates: number
  /** A chunk is compared by its weightiest words that no more chunks than `maxFrequency` have. */
  readonly words: number
  readonly maxFrequency: number
  /** Chunks that share no word with the query and are found through their neighbours alone. */
  readonly newcomers: {
    readonly floor: number
    /** In a small store two chunks have words in common by chance. */
    readonly leastChunks: number
  }
}

/** What vectors have to say beside words, in stores that have some. */
export interface VectorSettings {
  readonly share: number
  /** Standard deviations that count as 1. */
  readonly deviations: number
  /** Of the chunks that the words found, these are compared exactly at least. */
  readonly words: number
  /**
   * Vectors that are compared exactly: all of a store that has no more. In a larger one those that the codes find nearest, and as many that are
   * chosen without looking at the question, which tell what cosines are usual.
   */
  readonly candidates: number
}

export const RANKING: RankingSettings = {
  saturation: 1.2,
  lengthPenalty: 0.75,
  titleWeight: 3,
  headingWeight: 2,
  variants: { floor: 0.5, unknownFloor: 0.35, share: 0.5, limit: 15, mostFrequent: 10, words: 32 },
  phrases: { share: 0.2, candidates: 50 },
  neighbours: {
    own: 0.75,
    neighbours: 6,
    candidates: 20,
    words: 20,
    maxFrequency: 200,
    newcomers: { floor: 0.15, leastChunks: 100 },
  },
  vectors: { share: 0.3, deviations: 5, words: 100, candidates: 500 },
}
