/** Tool calls that have been requested and not yet answered. */

import type { Note } from '../core/context.ts'
import type { EventBody } from '../core/event.ts'
import type { ToolResult } from '../core/tool.ts'

export class OpenCalls {
  readonly #calls = new Map<string, { readonly name: string; readonly started: boolean }>()

  observe(body: EventBody | Note): void {
    if (body.type === 'tool_request') this.#calls.set(body.tool.id, { name: body.tool.name, started: false })
    else if (body.type === 'tool_result') this.#calls.delete(body.result.id)
    else if (body.type === 'note' && body.entry.type === 'tool_start')
      this.#calls.set(body.entry.callId, { name: body.entry.name, started: true })
  }

  /** Tools are at work. */
  get running(): boolean {
    return [...this.#calls.values()].some(({ started }) => started)
  }

  /** A result for each of them, which says whether it may have had effects. */
  unanswered(): ToolResult[] {
    return [...this.#calls].map(([id, { name, started }]) => ({
      id,
      name,
      content: started ? 'Interrupted while it ran: its effects are unknown.' : 'Not run: the turn ended before.',
      isError: true,
      durationMs: 0,
    }))
  }
}
