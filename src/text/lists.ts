/** Finds lists within a sentence: `GET, PUT and POST`. */

import type { Words } from './comparable-words.ts'

/** Words of an item; the first item begins, and the last one ends, with other words of the sentence. */
export const LONGEST_MEMBER = 3

/** Words of an item. */
export interface Member {
  readonly from: number
  readonly to: number
}

const CONJUNCTIONS = new Set(['and', 'or', 'und', 'oder', 'y', 'o', 'e', 'et', 'ou', 'и', 'или', '和', '或', '与', '及'])

/** Lists of at least three items. */
export function listsIn(words: Words): Member[][] {
  const lists: Member[][] = []
  let list: Member[] = []
  let from = 0
  for (let at = 1; at <= words.words.length; at++) {
    const gap = at === words.words.length ? '' : words.text.slice(words.ends[at - 1], words.starts[at])
    const conjunction = CONJUNCTIONS.has(words.words[at] ?? '')
    if (!conjunction && !/[,;、،]/.test(gap) && at < words.words.length) continue
    // The first item ends, and the last begins, with words of the list.
    const first = list.length === 0 ? Math.max(from, at - LONGEST_MEMBER) : from
    if (at - first > LONGEST_MEMBER && list.length > 0) {
      list.push({ from: first, to: first + LONGEST_MEMBER })
      lists.push(list)
      list = []
    } else list.push({ from: first, to: at })
    from = conjunction ? at + 1 : at
    if (conjunction) at++
  }
  lists.push(list)
  return lists.filter((items) => items.length > 2)
}
