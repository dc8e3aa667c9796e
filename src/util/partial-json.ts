/** Parses incomplete JSON for display only; the result must not be acted on. */

const CLOSER: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/**
 * Parses the beginning of a JSON text: closes open strings, lists and objects, and omits a member without a value. Returns `undefined`
 * while there is no value yet.
 */
export function parsePartialJson(text: string): unknown {
  for (const candidate of completions(text)) {
    try {
      return JSON.parse(candidate)
    } catch {
      // The next completion omits more of the end.
    }
  }
  return undefined
}

/** Yields completions of the text; those that keep more of it come first. */
function* completions(text: string): Generator<string> {
  const { open, inString, lastComma } = scan(text)
  const closers = open
    .map((bracket) => CLOSER[bracket])
    .reverse()
    .join('')
  const closed = inString ? `${text.replace(/\\(?:u[\da-fA-F]{0,3})?$/, '')}"` : text
  yield closed + closers
  yield closed.replace(/[,:]\s*$/, '') + closers
  // For a cut literal or number, or a key without its value: returns to the last complete member.
  if (lastComma !== undefined) {
    yield (
      text.slice(0, lastComma.at) +
        lastComma.open
          .map((bracket) => CLOSER[bracket])
          .reverse()
          .join('')
    )
  }
}

interface Place {
  readonly at: number
  readonly open: readonly string[]
}

function scan(text: string): { open: string[]; inString: boolean; lastComma: Place | undefined } {
  const open: string[] = []
  let inString = false
  let lastComma: Place | undefined
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index)
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') {
      inString = true
    } else if (character === '{' || character === '[') {
      open.push(character)
      lastComma = { at: index + 1, open: [...open] }
    } else if (character === '}' || character === ']') {
      open.pop()
    } else if (character === ',') {
      lastComma = { at: index, open: [...open] }
    }
  }
  return { open, inString, lastComma }
}
