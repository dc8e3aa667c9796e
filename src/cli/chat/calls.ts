/** Numbers the tool calls of a chat, and draws each on one line: its arguments and its result. */

import type { QueryEvent } from '../../core/event.ts'
import { visibleLine } from '../../util/terminal.ts'
import type { Deed } from '../deeds.ts'
import { callLine, firstLine, linesOf } from '../deeds-view.ts'
import { formatMs, plural } from '../format.ts'

export interface FoldedCall extends Deed {
  /** Number in the session, by which it is shown in full. */
  readonly number: number
  /** What the tool said. */
  content: string
  durationMs: number
  /** Somebody is being asked about it: it does not run yet. */
  isAsked?: boolean
}

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
    const update = (id: string, news: Partial<FoldedCall>): FoldedCall | undefined => {
      const call = this.#open.get(keyOf(id))
      return call === undefined ? undefined : Object.assign(call, news)
    }
    switch (event.type) {
      case 'tool_request': {
        const call: FoldedCall = { ...event.tool, number: ++this.#count, content: '', durationMs: 0 }
        this.#all.push(call)
        if (this.#all.length > MOST) this.#all.shift()
        this.#open.set(keyOf(call.id), call)
        return call
      }
      case 'permission_request':
        for (const { id } of event.tools) update(id, { isAsked: true })
        return undefined
      case 'permission_decision':
        for (const { id, granted, ...refused } of event.decisions) update(id, { isAsked: false, ...(granted ? {} : { refused }) })
        return undefined
      case 'tool_progress':
        return update(event.id, { content: event.content })
      case 'tool_result': {
        const { id, content, isError, durationMs } = event.result
        const call = update(id, { content, isError, durationMs })
        this.#open.delete(keyOf(id))
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

/** The mark of a call that has ended, and its colour. */
export function markOf({ refused, isError }: FoldedCall): { readonly mark: string; readonly colour: 'green' | 'red' | 'yellow' } {
  if (refused !== undefined) return { mark: '⊘', colour: 'yellow' }
  return isError === true ? { mark: '✗', colour: 'red' } : { mark: '✓', colour: 'green' }
}

/** One line without styles: `✓ run_command npm test · 12 lines · 1.2 s · /show 3`. */
export function foldedLine(call: FoldedCall): string {
  const facts = [`${markOf(call).mark} ${callLine(call)}`, outcomeOf(call)]
  if (call.refused === undefined) {
    // What a person took to answer is no time of the tool.
    if (call.name !== 'ask_user' && call.durationMs >= 1000) facts.push(formatMs(call.durationMs))
    facts.push(`/show ${call.number}`)
  }
  return visibleLine(facts.filter((fact) => fact !== '').join(' · '))
}

const LONGEST = 120

function outcomeOf({ name, content, refused, isError }: FoldedCall): string {
  if (refused !== undefined) return `refused: ${refused.reason}`
  const lines = linesOf(content)
  if (isError === true) return cut((name === 'run_command' ? lines.at(-1) : undefined) ?? firstLine(content))
  // What changes a file says what it did in one line.
  const [first = '', ...more] = lines.filter((line) => line.trim() !== '')
  return more.length === 0 ? cut(first) : plural(lines.length, 'line')
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`
}
