/** Chooses the passages that fit into a request, converts them to messages, and cuts the best one if not even that one fits. */

import type { Passage } from './merge.ts'
import { retrieved } from '../../core/message.ts'
import type { Message } from '../../core/message.ts'
import { fenced } from '../fence.ts'
import { estimateMessageTokens } from '../tokens.ts'

export interface Packed {
  /** One list per input list, in the same order. */
  readonly lists: readonly (readonly Passage[])[]
  /** Remaining tokens; `null`: no limit. */
  readonly left: number | null
}

/** Share of a passage's shingles in chosen ones from which it is deferred until the others are placed. */
const ALIKE = 0.8

/**
 * Chooses passages by rank until one does not fit: first those with new text, then deferred ones. At equal rank the first list precedes
 * the second. Chosen passages keep their order.
 *
 * @param room in tokens; `null` for no limit.
 * @param tokensOf returns the tokens of a passage with its label and fence.
 */
export function packPassages(
  lists: readonly (readonly Passage[])[],
  room: number | null,
  tokensOf: (passage: Passage, list: number) => number,
): Packed {
  if (room === null) return { lists, left: null }
  const wanted = lists.reduce((sum, list, index) => sum + list.reduce((all, passage) => all + tokensOf(passage, index), 0), 0)
  if (wanted <= room) return { lists, left: room - wanted }
  const kept = new Set<Passage>()
  const said = new Set<string>()
  const waiting: [Passage, number][] = []
  let left = room

  const take = ([passage, list]: [Passage, number]): boolean => {
    const tokens = tokensOf(passage, list)
    if (tokens > left) return false
    left -= tokens
    kept.add(passage)
    for (const shingle of passage.wording.shingles) said.add(shingle)
    return true
  }
  for (const entry of byRank(lists)) {
    if (entry[0].wording.shareIn(said) >= ALIKE) waiting.push(entry)
    else if (!take(entry)) break
  }
  for (const entry of waiting) if (!take(entry)) break
  return { lists: lists.map((list) => list.filter((passage) => kept.has(passage))), left }
}

function* byRank(lists: readonly (readonly Passage[])[]): Generator<[Passage, number]> {
  const most = Math.max(0, ...lists.map(({ length }) => length))
  for (let rank = 0; rank < most; rank++) {
    for (const [index, list] of lists.entries()) {
      const passage = list[rank]
      if (passage !== undefined) yield [passage, index]
    }
  }
}

/** Minimum useful length of a cut passage. */
const LEAST_CHARS = 80

/** Cuts a passage to fit, at the end of a word, and adapts its range; `undefined` if almost nothing would remain. */
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

/** Returns the end of the last word. Without a space nearby, cuts at any character, but never within a surrogate pair. */
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

type Origin = 'docstore' | 'memory'

export function passageMessage({ chunk, alsoIn }: Passage, marker: string, origin: Origin, store: string): Message {
  return retrieved({ marker, origin, store, chunk, ...(alsoIn.length === 0 ? {} : { alsoIn }) })
}

/** Marker for counting tokens before the number of passages is known. */
const WIDEST_MARKER = '0000'

export function tokensOfPassage(passage: Passage, origin: Origin = 'docstore'): number {
  return estimateMessageTokens(fenced(passageMessage(passage, WIDEST_MARKER, origin, '')))
}
