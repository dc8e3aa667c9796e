import type { BotIdentity } from '../../core/event.ts'

/** The bot of a turn out of its two columns. */
export function botOf(kind: string | null, name: string | null): BotIdentity | null {
  return kind === null ? null : { kind, ...(name === null ? {} : { name }) }
}
