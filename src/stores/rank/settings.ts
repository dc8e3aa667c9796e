/** Ranking parameters, the same for all collections. Results are insensitive to small changes of each; `docs/retrieval.md` has the measurements. */
export const RANKING = {
  /** How soon further occurrences of a word stop counting (BM25's k1). */
  saturation: 1.2,
  /** Penalty for long chunks (BM25's b), from 0 to 1. */
  lengthPenalty: 0.75,
  /** Occurrences in the text that one occurrence in the title or a heading is worth. */
  titleWeight: 3,
  headingWeight: 2,
  /** Vocabulary words spelt like a query word: other forms, compounds, misspellings. */
  variants: {
    /** Least similarity (cosine of character n-grams, 0 to 1); the second value is for a word that no chunk has, most often a misspelling. */
    floor: 0.5,
    unknownFloor: 0.35,
    /** An occurrence counts as this share of its similarity. */
    share: 0.5,
    limit: 15,
    /** A word in this many times as many chunks is a different word: `install` is not a variant of `uninstall`. */
    mostFrequent: 10,
    /** Only the words with the highest weights of a long query get variants. */
    words: 32,
  },
  /** Adjacent words of the query that are adjacent in the chunk. Only the best chunks are checked. */
  phrases: { share: 0.2, candidates: 50 },
  /** Smoothing: chunks about the same thing share some of their score. */
  neighbours: {
    /** Share of the chunk's own score; the rest is the mean of its neighbours'. */
    own: 0.75,
    neighbours: 6,
    /** Only the best chunks are smoothed. */
    candidates: 20,
    /** A chunk is compared by its words with the highest weights that at most `maxFrequency` chunks have. */
    words: 20,
    maxFrequency: 200,
    /** Chunks without a query word that are found through neighbours alone. In a small store two chunks share words by chance. */
    newcomers: { floor: 0.15, leastChunks: 100 },
  },
  /** Weight of vectors beside words, in stores with vectors. */
  vectors: {
    share: 0.3,
    /** Standard deviations that count as 1. */
    deviations: 5,
    /** At least this many of the chunks found by words are compared exactly. */
    words: 100,
    /**
     * Vectors compared exactly: all, if the store has no more. In a larger store, those nearest by code, and as many chosen independently of the
     * question, which show the usual cosines.
     */
    candidates: 500,
  },
} as const
