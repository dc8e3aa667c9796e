/** The tool `todo`: keeps the list of open tasks of each session. */

import { defineTool, inputOf } from '../define-tool.ts'
import type { Tool } from '../../core/tool.ts'
import { Recent } from '../../util/recent.ts'

const STATES = ['open', 'doing', 'done'] as const

/** An item of a to-do list. */
export interface TodoItem {
  /** The task. */
  readonly text: string
  /** The progress of the task. */
  readonly state: (typeof STATES)[number]
}

const MARKS: Readonly<Record<TodoItem['state'], string>> = { open: '[ ]', doing: '[~]', done: '[x]' }
const MAX_SESSIONS = 200

/** Holds the latest to-do list of each session. */
export class TodoLists {
  readonly #lists = new Recent<readonly TodoItem[]>(MAX_SESSIONS)

  /** Returns the list of a session; empty when it has none. */
  of(sessionId: string): readonly TodoItem[] {
    return this.#lists.get(sessionId) ?? []
  }

  /** Replaces the list of a session. */
  keep(sessionId: string, items: readonly TodoItem[]): void {
    this.#lists.set(sessionId, items)
  }
}

/** Creates `todo`. It changes only its own list, so it needs no permission. */
export function todoTool(lists: TodoLists): Tool {
  return defineTool({
    name: 'todo',
    description: 'Keeps the list of what is to be done in a task of several steps. Give the whole list each time.',
    inputSchema: inputOf(
      {
        items: {
          type: 'array',
          maxItems: 100,
          items: {
            type: 'object',
            properties: { text: { type: 'string', minLength: 1, maxLength: 500 }, state: { enum: [...STATES] } },
            required: ['text', 'state'],
            additionalProperties: false,
          },
        },
      },
      ['items'],
    ),
    isReadOnly: true,
    needsPermission: false,
    resources: () => ({ writes: ['todo'] }),
    showsResult: true,
    call({ items }, { sessionId }) {
      lists.keep(sessionId, items)
      return items.length === 0 ? '(the list is empty)' : items.map(({ text, state }) => `${MARKS[state]} ${text}`).join('\n')
    },
  })
}
