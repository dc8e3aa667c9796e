/** The beginning of a passage, for a model that has not even room for the best one. */

import type { Passage } from './merge.ts'

/** A shorter beginning tells nothing. */
const LEAST_CHARS = 80

/** As much as fits, up to the end of a word; `undefined` where that is next to nothing. Its range is still that of its text. */
export function cutPassage(passage: Passage, fits: (passage: Passage) => boolean): Passage | undefined {
  const { chunk } = passage
  let [low, high] = [0, chunk.text.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(beginning(passage, middle))) low = middle
    else high = middle - 1
  }
  const text = chunk.text.slice(0, low)
  const end = low < chunk.text.length ? Math.max(text.search(/\s\S*$/), wordsEnd(text)) : low
  return end < LEAST_CHARS ? undefined : beginning(passage, end)
}

/** Where there are no blanks nearby, any character may be the last; no surrogate is parted from its half. */
function wordsEnd(text: string): number {
  const least = Math.floor(text.length * 0.8)
  return /\s/.test(text.slice(least)) ? 0 : text.length - (/[\uD800-\uDBFF]$/.test(text) ? 1 : 0)
}

function beginning(passage: Passage, length: number): Passage {
  const { chunk } = passage
  const text = chunk.text.slice(0, length)
  const { lines, ...rest } = chunk
  const first = lines?.[0]
  return {
    ...passage,
    chunk: {
      ...rest,
      text,
      end: chunk.start + length,
      ...(first === undefined ? {} : { lines: [first, first + (text.match(/\r\n|\r|\n/g)?.length ?? 0)] }),
    },
  }
}
