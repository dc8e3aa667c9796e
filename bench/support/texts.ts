/**
 * Provides texts for retrieval benchmarks: generated, or made of the sentences of a collection in random order.
 *
 * Words are made of syllables and follow Zipf's law; a chunk has a topic, whose words it repeats. Questions are made of the words of a
 * chunk.
 */

import { readFileSync } from 'node:fs'

const CHARS = 800
/** How often a sentence of a collection is followed by a word that nothing else has: no collection is large enough to bring new ones for ever. */
const NEW_WORDS = 0.08
const VOCABULARY = 200_000
const FUNCTION_WORDS = 'the of and to in a is that for it as was with be by on not he his but at are this have from'.split(' ')

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const ONSETS = 'b c d f g h j k l m n p r s t v w z br ch cl dr fl gr pl pr sh sl st th tr'.split(' ')
const VOWELS = 'a e i o u ai ea ee io ou'.split(' ')
const ENDS = ['', '', '', 'n', 'r', 's', 't', 'ing', 'ed', 'er', 'tion', 'al']

function makeWords(random: () => number): string[] {
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? ''
  const words = new Set<string>(FUNCTION_WORDS)
  while (words.size < VOCABULARY) {
    const syllables = 1 + Math.floor(random() * 3.5)
    let word = ''
    for (let at = 0; at < syllables; at++) word += pick(ONSETS) + pick(VOWELS)
    words.add(word + pick(ENDS))
  }
  return [...words]
}

/** Rank of a word by Zipf's law with exponent 1, from 0. */
function zipf(random: () => number, size: number): number {
  return Math.floor(size ** random()) - 1
}

/** The sentences of the documents in files of the BEIR format, one JSON object with `text` to a line. */
export function sentencesOf(files: readonly string[]): string[] {
  return files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => (JSON.parse(line) as { text: string }).text.split(/(?<=[.!?])\s+/))
      .filter((sentence) => sentence.length > 20),
  )
}

/** Chunks and questions that are the same in every run with the same seed. */
export class Texts {
  readonly #random: () => number
  readonly #words: readonly string[]
  readonly #sentences: readonly string[]

  /** @param sentences of a collection; generated ones when there are none. */
  constructor(seed: number, sentences: readonly string[] = []) {
    this.#random = randomNumbers(seed)
    this.#words = makeWords(randomNumbers(1))
    this.#sentences = sentences
  }

  #word(): string {
    return this.#words[zipf(this.#random, VOCABULARY)] ?? ''
  }

  chunk(): string {
    if (this.#sentences.length > 0) return this.#shuffled()
    const topic = Array.from({ length: 12 }, () => this.#word())
    let text = ''
    while (text.length < CHARS) {
      const sentence: string[] = []
      const length = 6 + Math.floor(this.#random() * 14)
      for (let at = 0; at < length; at++) {
        sentence.push(this.#random() < 0.25 ? (topic[Math.floor(this.#random() * topic.length)] ?? '') : this.#word())
      }
      text += `${sentence.join(' ')}. `
    }
    return text.trim()
  }

  #shuffled(): string {
    let text = ''
    while (text.length < CHARS) {
      text += `${this.#sentences[Math.floor(this.#random() * this.#sentences.length)] ?? ''} `
      if (this.#random() < NEW_WORDS) text += `${this.#random().toString(36).slice(2).replaceAll(/\d/g, 'e')} `
    }
    return text.trim()
  }

  /** Some words of a chunk. */
  question(chunk: string): string {
    const words = chunk.split(/\W+/)
    const length = 6 + Math.floor(this.#random() * 8)
    return Array.from({ length }, () => words[Math.floor(this.#random() * words.length)] ?? '').join(' ')
  }
}
