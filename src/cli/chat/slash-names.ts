/** The names of the commands, apart from what carries them out: they are completed before that is loaded. */

export const slashNames = [
  'help',
  'model',
  'tools',
  'show',
  'allow',
  'cost',
  'compact',
  'resume',
  'fork',
  'export',
  'new',
  'exit',
] as const

export type SlashName = (typeof slashNames)[number]
