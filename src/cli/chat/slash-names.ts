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
  'changes',
  'undo',
  'run',
  'export',
  'new',
  'exit',
] as const

export type SlashName = (typeof slashNames)[number]

/** The command of a line; `undefined` for a message. A path at the beginning of a message is none; `!ls` is `/run ls`. */
export function slashOf(text: string): { readonly name: string; readonly argument: string } | undefined {
  // One line: what was pasted below it was not meant to be run.
  const [, command] = /^!(?!\s*$)([^\n]+)$/.exec(text.trim()) ?? []
  if (command !== undefined) return { name: 'run', argument: command.trim() }
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
