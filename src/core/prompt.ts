/** Defines prompts with variables and versions; `prompt()` makes them. */

/** A version of a prompt: a name and a template. Another template is another version. */
export interface PromptVersion {
  /** The name of the prompt. */
  readonly name: string
  /** SHA-256 of the template, hexadecimal. */
  readonly hash: string
  /** The text before values are filled in. */
  readonly template: string
}

/** A prompt whose variables are filled in, for a system prompt or a user message. Converts to its text in a template literal. */
export interface FilledPrompt extends PromptVersion {
  /** The template with its values. */
  readonly text: string
  /** The text. */
  toString(): string
}

/** Recognises a filled prompt by its members, so that one of another copy of the package counts, too. */
export function isFilledPrompt(value: unknown): value is FilledPrompt {
  if (typeof value !== 'object' || value === null || 'role' in value) return false
  const { name, hash: of, template, text } = value as Partial<FilledPrompt>
  return [name, of, template, text].every((member) => typeof member === 'string')
}

/** Returns the text of a prompt or a string. */
export function promptText(prompt: string | FilledPrompt): string {
  return typeof prompt === 'string' ? prompt : prompt.text
}
