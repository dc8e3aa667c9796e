/** Types the prompts that a turn is made with; `prompt()` makes them. */

/** One version of a prompt: the same name with another template is another version. */
export interface PromptVersion {
  /** The name of the prompt. */
  readonly name: string
  /** SHA-256 of the template, hexadecimal. */
  readonly hash: string
  /** The text before values are filled in. */
  readonly template: string
}

/** A prompt whose variables have values: a system prompt, or a message of the user. In a template literal it is its text. */
export interface FilledPrompt extends PromptVersion {
  /** The template with its values. */
  readonly text: string
  /** The text. */
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
