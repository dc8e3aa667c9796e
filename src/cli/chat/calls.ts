/** Numbers the tool calls of a chat, and shows them folded or in full. */

import type { QueryEvent } from '../../core/event.ts'
import type { FoldedCall } from './fold.ts'

/** So many are kept to be shown in full. */
const MOST = 500

export class Calls {
  readonly #all: FoldedCall[] = []
  /** Ids come from the model, and one may come again in another step. */
  readonly #open = new Map<string, FoldedCall>()
  #count = 0

  /** The call that an event is about, brought up to date. */
  add(event: QueryEvent): FoldedCall | undefined {
    const keyOf = (id: string): string => `${event.turnId} ${id}`
    switch (event.type) {
      case 'tool_request': {
        const call: FoldedCall = { ...event.tool, number: ++this.#count, content: '', durationMs: 0 }
        this.#all.push(call)
        if (this.#all.length > MOST) this.#all.shift()
        this.#open.set(keyOf(call.id), call)
        return call
      }
      case 'permission_request':
        for (const { id } of event.tools) {
          const call = this.#open.get(keyOf(id))
          if (call !== undefined) call.isAsked = true
        }
        return undefined
      case 'permission_decision':
        for (const { id, granted, reason, rule } of event.decisions) {
          const call = this.#open.get(keyOf(id))
          if (call !== undefined) call.isAsked = false
          if (call !== undefined && !granted) call.refused = { reason, ...(rule === undefined ? {} : { rule }) }
        }
        return undefined
      case 'tool_progress': {
        const call = this.#open.get(keyOf(event.id))
        if (call !== undefined) call.content = event.content
        return call
      }
      case 'tool_result': {
        const call = this.#open.get(keyOf(event.result.id))
        if (call === undefined) return undefined
        const { content, isError, durationMs } = event.result
        Object.assign(call, { content, isError, durationMs })
        this.#open.delete(keyOf(call.id))
        return call
      }
      default:
        return undefined
    }
  }

  get running(): readonly FoldedCall[] {
    return [...this.#open.values()].filter((call) => call.isAsked !== true && call.refused === undefined)
  }

  get last(): FoldedCall | undefined {
    return this.#all.at(-1)
  }

  find(number: number): FoldedCall | undefined {
    return this.#all.find((call) => call.number === number)
  }
}

/** Notes the calls while the events pass. */
export async function* noted(events: AsyncIterable<QueryEvent>, calls: Calls): AsyncGenerator<QueryEvent> {
  for await (const event of events) {
    calls.add(event)
    yield event
  }
}
