/** The one configuration of ranking, for all collections. Each value stands on a broad plateau; `docs/retrieval.md` has the measurements. */
export const RANKING = {
  /** How soon further occurrences of a word stop to count (BM25's k1). */
  saturation: 1.2,
  /** How much long chunks are held back (BM25's b), from 0 to 1. */
  lengthPenalty: 0.75,
  /** How often a word of the title or of a heading counts as a word of the text. */
  titleWeight: 3,
  headingWeight: 2,
  /** Words of the vocabulary that are written like a word of the query: other forms, compounds, misspellings. */
  variants: {
    /** Least similarity (cosine of character n-grams, 0 to 1); the second for a word that no chunk has: most often it is misspelt. */
    floor: 0.5,
    unknownFloor: 0.35,
    /** An occurrence counts as this share of its similarity. */
    share: 0.5,
    limit: 15,
    /** A word that this many times as many chunks have is a word of its own: `install` is no way to write `uninstall`. */
    mostFrequent: 10,
    /** Only the weightiest words of a long query are varied. */
    words: 32,
  },
  /** Neighbouring words of the query that are neighbours in the chunk. Only the best chunks are looked at. */
  phrases: { share: 0.2, candidates: 50 },
  /** Chunks about the same thing lend each other some of their score. */
  neighbours: {
    /** Share of the chunk's own score; the rest is the mean of its neighbours'. */
    own: 0.75,
    neighbours: 6,
    /** Only the best chunks are smoothed. */
    candidates: 20,
    /** A chunk is compared by its weightiest words that no more chunks than `maxFrequency` have. */
    words: 20,
    maxFrequency: 200,
    /** Chunks that share no word with the query and are found through their neighbours alone. In a small store two chunks have words in common by chance. */
    newcomers: { floor: 0.15, leastChunks: 100 },
  },
  /** What vectors have to say beside words, in stores that have some. */
  vectors: {
    share: 0.3,
    /** Standard deviations that count as 1. */
    deviations: 5,
    /** Of the chunks that the words found, these are compared exactly at least. */
    words: 100,
    /**
     * Vectors that are compared exactly: all of a store that has no more. In a larger one those that the codes find nearest, and as many that are
     * chosen without looking at the question, which tell what cosines are usual.
     */
    candidates: 500,
  },
} as const
