/** What the stores are asked: the question, or what it means after what was asked before. */

import type { Station } from '../core/context.ts'
import { toCriaError } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import type { CompactContext } from './compact/compact.ts'
import { searchQuery } from './follow-up.ts'
import type { FollowUps } from './retrieve.ts'
import { questionOf } from './turn-input.ts'

/** A model that fails to write it out is no reason not to search. */
export async function* searchedFor(
  messages: readonly Message[],
  history: readonly Message[],
  followUps: FollowUps,
  ctx: Pick<CompactContext, 'signal' | 'complete'>,
): Station<string> {
  const question = questionOf(messages)
  const earlier = history.filter(({ role, summary, injected }) => role === 'user' && summary !== true && injected === undefined)
  if (followUps === 'off' || earlier.length === 0) return question
  const complete = followUps === 'model' ? ctx.complete() : undefined
  if (complete !== undefined) {
    try {
      const { rewriteQuestion } = await import('./rewrite.ts')
      const rewritten = await rewriteQuestion(question, history, complete)
      if (rewritten !== undefined) return rewritten
    } catch (thrown) {
      if (ctx.signal.aborted) throw ctx.signal.reason
      const { message } = toCriaError(thrown)
      yield { type: 'notice', code: 'rewrite_failed', message: `The question was not written out by a model: ${message}` }
    }
  }
  return searchQuery(
    question,
    earlier.map(({ content }) => content),
  )
}
