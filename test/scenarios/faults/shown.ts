import type { EventBody } from '../../../src/core/event.ts'

/** Returns the text that a reader of deltas, steps and `reset` shows. */
export function assistantText(events: readonly (EventBody & { readonly step: number })[]): string {
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
