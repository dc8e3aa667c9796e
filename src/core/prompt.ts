/** What a turn knows of the prompts that it is made with; `prompt()` makes them. */

/** One version of a prompt: the same name with another template is another version. */
export interface PromptVersion {
  readonly name: string
  /** SHA-256 of the template, hexadecimal. */
  readonly hash: string
  readonly template: string
}

/** A prompt whose variables have values: a system prompt, or a message of the user. In a template literal it is its text. */
export interface FilledPrompt extends PromptVersion {
  readonly text: string
  toString(): string
}

/** Recognised by its members, also where it comes from another copy of the package. */
export function isFilledPrompt(value: unknown): value is FilledPrompt {
  if (typeof value !== 'object' || value === null || 'role' in value) return false
  const { name, hash: of, template, text } = value as Partial<FilledPrompt>
  return [name, of, template, text].every((member) => typeof member === 'string')
}

/** The text of either. */
export function promptText(prompt: string | FilledPrompt): string {
  return typeof prompt === 'string' ? prompt : prompt.text
}
