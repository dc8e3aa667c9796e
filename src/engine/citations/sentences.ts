/** Where sentences end, by their look alone: a segmenter's data takes longer to load than most answers to check. */

import { patternFor } from '../../util/pattern.ts'
import type { Token } from './tokens.ts'

const ENDING = patternFor(
  String.raw`(?<stop>[.!?…]{1,20})(?<close>["'”’“»)\]*_]{0,10})(?=\s{1,20}["“„«‘(\[*_¿¡]{0,5}[\p{Lu}\p{Lt}\p{Lo}\p{N}])|[。！？｡][」』”’）]{0,5}|\n[ \t]*\r?\n|\n(?=[ \t]{0,12}(?:[\-*+•|>#]|\d{1,3}[.\)])[ \t])`,
  'gu',
)
const ABBREVIATED = patternFor(
  String.raw`(?:^|[^\p{L}])(?:[\p{L}]|dr|mr|mrs|ms|prof|st|no|nr|fig|vs|etc|bzw|ca|vgl|abb|mme|art|vol|pp?|inc|ltd|co|jr|sr|gen|col|ave|approx|dept|est|ed|cf|al|bd|usw|ggf|inkl|evtl|str|tel)$`,
  'iu',
)

/** @returns ranges of a text, one after the other, that together are the text. */
export function sentencesOf(text: string): Token[] {
  const sentences: Token[] = []
  let start = 0
  for (const match of text.matchAll(ENDING(text))) {
    const { stop, close = '' } = match.groups ?? {}
    if (stop === '.') {
      const before = text.slice(Math.max(start, match.index - 12), match.index)
      // `3. Mai`, `Dr. Who`: no end.
      if (close === '' && (ABBREVIATED(before).test(before) || /(?:^|\D)\d{1,2}$/.test(before))) continue
    }
    const end = match.index + match[0].length
    sentences.push({ start, end })
    start = end
  }
  if (start < text.length) sentences.push({ start, end: text.length })
  return sentences
}
