/** Lists the slash commands for completion, without loading what carries them out. */

export const slashNames = [
  'help',
  'model',
  'tools',
  'show',
  'allow',
  'steer',
  'cost',
  'compact',
  'resume',
  'fork',
  'export',
  'new',
  'exit',
] as const

export type SlashName = (typeof slashNames)[number]

/** The command of a line; `undefined` for a message. A path at the beginning of a message is none. */
export function slashOf(text: string): { readonly name: string; readonly argument: string } | undefined {
  const [, name, argument = ''] = /^\/([a-z?][\w-]*)(?:\s+([^]*))?$/i.exec(text.trim()) ?? []
  if (name === undefined) return undefined
  return { name: ALIASES.get(name) ?? name, argument: argument.trim() }
}

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['?', 'help'],
  ['quit', 'exit'],
  ['q', 'exit'],
  ['clear', 'new'],
])
