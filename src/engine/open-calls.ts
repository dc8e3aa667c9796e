/** Tool calls that have been requested and not yet answered. */

import type { Yielded } from '../core/context.ts'
import type { ToolResult } from '../core/tool.ts'

export class OpenCalls {
  /** With the key under which its effect was announced, once it has been started. */
  readonly #calls = new Map<string, { readonly name: string; readonly key?: string }>()

  observe(body: Yielded): void {
    if (body.type === 'tool_request') this.#calls.set(body.tool.id, { name: body.tool.name })
    else if (body.type === 'tool_result') this.#calls.delete(body.result.id)
    else if (body.type === 'note' && body.entry.type === 'tool_start')
      this.#calls.set(body.entry.callId, { name: body.entry.name, key: body.entry.idempotencyKey })
  }

  /** Tools are at work. */
  get running(): boolean {
    return [...this.#calls.values()].some(({ key }) => key !== undefined)
  }

  /** A result for each of them, which says whether it may have had effects. */
  unanswered(): ToolResult[] {
    return [...this.#calls].map(([id, { name, key }]) => ({
      id,
      name,
      content: key === undefined ? 'Not run: the turn ended before.' : 'Interrupted while it ran: its effects are unknown.',
      isError: true,
      durationMs: 0,
      ...(key === undefined ? {} : { unknownEffects: { idempotencyKey: key } }),
    }))
  }
}
