/** Hooks around a turn: before its first request, and when the model has stopped. */

import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import { fromParts, injected } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { Answer } from '../model/answer.ts'
import { questionOf } from '../prepare/turn-input.ts'
import { askHook } from '../tools/hooks.ts'
import type { Turn } from './turn.ts'

/** @throws CriaError `permission_denied` when the prompt is refused. */
export async function* promptHook(turn: Turn): Station<void> {
  const { options, ctx, input, step } = turn
  const outcome = await askHook('onPrompt', options.hooks, { prompt: questionOf(input.messages) }, 'context', { ...ctx, step })
  if (outcome.kind === 'unchanged') return
  yield outcome.event
  if (outcome.kind === 'refused') {
    throw new CriaError('permission_denied', `The prompt was refused by a hook: ${outcome.reason}`, {
      hint: 'Say it otherwise, or change the hook.',
    })
  }
  turn.input = { ...input, added: [...(input.added ?? []), hookContext(outcome.value)] }
}

/** Makes a message of the data that `onPrompt` adds to a prompt. */
export function hookContext(value: unknown): Message {
  return injected(String(value), { by: 'hook', title: 'what a hook of the application adds', source: 'onPrompt' })
}

/**
 * What the model is sent in place of the end, by the review of the answer or by a hook; `undefined`: the turn ends.
 *
 * @throws the failure of the review.
 */
export async function* stopHook(answer: Answer, turn: Turn): Station<Message | undefined> {
  const { options, ctx, step } = turn
  const rejection = await options.review?.(answer.message.content)
  if (rejection !== undefined) {
    const message = fromParts('user', [{ type: 'text', text: rejection.goOn }], { id: ctx.createId('msg'), rejects: true })
    yield { type: 'note', entry: { type: 'messages', step, messages: [message] } }
    if (rejection.failure !== undefined) throw rejection.failure
    return message
  }
  const outcome = await askHook('onStop', options.hooks, { text: answer.message.content }, 'goOn', { ...ctx, step })
  if (outcome.kind === 'unchanged') return undefined
  yield outcome.event
  if (outcome.kind === 'refused') return undefined
  const message = fromParts('user', [{ type: 'text', text: String(outcome.value) }], { id: ctx.createId('msg') })
  // Said after the answer, in whose step it was asked for.
  yield { type: 'note', entry: { type: 'messages', step, messages: [message] } }
  return message
}
