/** Counts tokens with a real tokenizer. Loading it takes a tenth of a second, so it is loaded when a count matters. */

/** Tokens of a text, special tokens in it counted as the text that they are. */
export type CountTokens = (text: string) => number

/**
 * Encoding a run that nothing interrupts takes time that grows with the square of its length: 200,000 times the same letter freeze the process
 * for half a minute. Runs are cut at so many characters, which costs at most a token a cut.
 */
const LONGEST_RUN = 1000

let loading: Promise<CountTokens> | undefined

/** `o200k`, the encoding of OpenAI's present models; what others count differs by a factor that their usage tells. */
export function loadTokenCounter(): Promise<CountTokens> {
  loading ??= load()
  return loading
}

async function load(): Promise<CountTokens> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  const asText = { disallowedSpecial: new Set<string>() }
  return (text) => {
    let tokens = 0
    for (const piece of withoutLongRuns(text)) tokens += countTokens(piece, asText)
    return tokens
  }
}

/** The text, cut inside of runs that are too long, and nowhere else. */
export function* withoutLongRuns(text: string, longest: number = LONGEST_RUN): Generator<string> {
  let from = 0
  if (text.length > longest) {
    for (const { 0: run, index } of text.matchAll(/\S+|\s+/g)) {
      for (let at = index + longest; at < index + run.length; at += longest) {
        const end = isHalfway(text, at) ? at - 1 : at
        yield text.slice(from, end)
        from = end
      }
    }
  }
  yield text.slice(from)
}

/** Between the two halves of one character. */
function isHalfway(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}
