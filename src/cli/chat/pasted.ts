/** Long texts that were pasted: the draft shows a short name for each, and the message holds the text. Pure. */

export interface Pasted {
  readonly texts: ReadonlyMap<string, string>
}

export const NOTHING_PASTED: Pasted = { texts: new Map() }

/** What is longer than this would push everything else off the screen. */
const MOST_LINES = 10
const MOST_CHARACTERS = 2000

/** What is put into the draft for a text that was pasted. */
export function paste(text: string, pasted: Pasted): { readonly shown: string; readonly pasted: Pasted } {
  const lines = text.split('\n').length
  if (lines <= MOST_LINES && text.length <= MOST_CHARACTERS) return { shown: text, pasted }
  const size = lines > 1 ? `${lines} lines` : `${text.length} characters`
  const shown = `[pasted text ${pasted.texts.size + 1}: ${size}]`
  return { shown, pasted: { texts: new Map([...pasted.texts, [shown, text]]) } }
}

/** The message that is meant. */
export function unfolded(draft: string, { texts }: Pasted): string {
  if (texts.size === 0) return draft
  return draft.replaceAll(/\[pasted text \d+: \d+ (?:lines|characters)\]/g, (name) => texts.get(name) ?? name)
}
