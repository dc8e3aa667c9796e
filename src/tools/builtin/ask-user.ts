/** The tool `ask_user`: asks the user a question. */

import { defineTool, inputOf } from '../define-tool.ts'
import type { Tool } from '../../core/tool.ts'
import { orAborted } from '../../util/promise.ts'
import { problem } from './open-file.ts'

/** A question that a model asks the user. */
export interface UserQuestion {
  /** The text of the question. */
  readonly question: string
  /** Answers to choose from; any other may be given too. */
  readonly options: readonly string[]
}

/** Asks the user a question; returns `undefined` when there is no answer. */
export type AskUser = (question: UserQuestion, signal: AbortSignal) => string | undefined | Promise<string | undefined>

/** @param ask absent when no user can answer. */
export function askUserTool(ask: AskUser | undefined): Tool {
  return defineTool({
    name: 'ask_user',
    description: 'Asks the user a question when only they can decide. Not for permission: that is asked for by itself.',
    inputSchema: inputOf(
      {
        question: { type: 'string', minLength: 1, maxLength: 4000 },
        options: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 500 } },
      },
      ['question'],
    ),
    isReadOnly: true,
    needsPermission: false,
    asksUser: true,
    resources: () => ({ writes: ['user'] }),
    title: ({ question }) => question,
    // No timeout: a person may answer hours later.
    timeout: Number.MAX_SAFE_INTEGER,
    async call({ question, options = [] }, { signal }) {
      if (ask === undefined) {
        throw problem('No user is available to answer. Decide yourself, and say in the answer what you decided and why.')
      }
      const answer = await orAborted(Promise.resolve(ask({ question, options }, signal)), signal)
      return answer === undefined || answer.trim() === '' ? 'The user gave no answer.' : `The user answered: ${answer}`
    },
  })
}
