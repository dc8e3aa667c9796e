/**
 * Scores chunks by BM25 (S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) and by adjacent words;
 * defines the parameters of the ranking.
 */

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
    /** The vectors of at least this many of the best chunks by words are compared exactly. */
    words: 100,
    /**
     * A store with no more vectors compares all of them exactly. A larger one compares this many that are nearest by code, and as many that are
     * chosen independently of the question, which show the usual cosines.
     */
    candidates: 500,
  },
} as const

/** Totals over all chunks. */
export interface CorpusSize {
  readonly chunks: number
  /** Average number of terms in a chunk, weighted by field. */
  readonly averageLength: number
}

/** Returns the inverse document frequency, never negative. `frequency` is the number of chunks with the word. */
export function inverseFrequency(chunks: number, frequency: number): number {
  return Math.log(1 + (chunks - Math.min(frequency, chunks) + 0.5) / (frequency + 0.5))
}

/** With so many chunks, common words can be distinguished from rare ones. */
const MANY_CHUNKS = 50

/**
 * Returns the constant added to the weight of every query word, because few chunks say little about how rare a word is. Without it, in a store of
 * one chunk, a word that occurs would weigh a fifth of one that does not. Falls from 3.3 with one chunk to .4 with a hundred and 0 with many.
 */
export function unknownFrequency(chunks: number): number {
  return Math.log(1 + MANY_CHUNKS / (chunks + 1))
}

/** Returns the BM25 factor of `count` occurrences in a chunk of `length` terms: 0 to `saturation + 1`, 1 for one occurrence at average length. */
export function occurrenceWeight(count: number, length: number, averageLength: number): number {
  const { saturation, lengthPenalty } = RANKING
  return (count * (saturation + 1)) / (count + saturation * (1 - lengthPenalty + (lengthPenalty * length) / averageLength))
}

/** Returns the pairs of different words that are adjacent in a query, each pair once. */
export function pairsOf(terms: readonly number[]): [number, number][] {
  const pairs = new Map<string, [number, number]>()
  terms.forEach((second, at) => {
    const first = terms[at - 1]
    if (first !== undefined && first !== second) pairs.set(`${first} ${second}`, [first, second])
  })
  return [...pairs.values()]
}

/** Counts how often each pair is adjacent in a sequence of terms, in the order of the pairs. */
export function countPairs(sequence: readonly number[], pairs: readonly (readonly [number, number])[]): number[] {
  const counts = pairs.map(() => 0)
  const byFirst = new Map<number, number[]>()
  pairs.forEach(([first], at) => {
    const known = byFirst.get(first)
    if (known === undefined) byFirst.set(first, [at])
    else known.push(at)
  })
  sequence.forEach((term, at) => {
    for (const pair of byFirst.get(term) ?? []) if (pairs[pair]?.[1] === sequence[at + 1]) counts[pair] = (counts[pair] ?? 0) + 1
  })
  return counts
}
