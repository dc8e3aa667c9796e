/** What the reader of a turn shows, and what its model received. */

import type { QueryEvent } from '../../src/core/event.ts'
import type { Message } from '../../src/core/message.ts'

/** Returns the text that a reader of deltas, steps and `reset` shows. */
export function shownText(events: readonly QueryEvent[]): string {
  let text = ''
  let step = 0
  for (const event of events) {
    if (event.step !== step) text = ''
    step = event.step
    if (event.type === 'text_delta') text += event.text
    if (event.type === 'reset') text = ''
  }
  return text
}

/** Returns role and content of each message. */
export function rolesAndContents(
  messages: readonly Pick<Message, 'role' | 'content'>[] | undefined,
): [Message['role'], string][] | undefined {
  return messages?.map(({ role, content }) => [role, content])
}
