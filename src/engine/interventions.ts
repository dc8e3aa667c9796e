/** Applies interventions in a running turn: hooks before the prompt and at the end, the review of the answer, steering messages. */

import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import { fromParts, injected } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { Answer } from '../model/answer.ts'
import { fenced } from '../prepare/fence.ts'
import { questionOf } from '../prepare/conversation.ts'
import { askHook } from '../tools/hooks.ts'
import type { Steering } from './steering.ts'
import type { Turn } from './turn.ts'

/** Returns the data that a hook adds to the prompt. @throws CriaError `permission_denied` if a hook refuses the prompt. */
export async function* promptHook({ options, ctx, input, step }: Turn): Station<Message | undefined> {
  const outcome = await askHook('onPrompt', options.hooks, { prompt: questionOf(input.messages) }, 'context', { ...ctx, step })
  if (outcome.kind === 'unchanged') return undefined
  yield outcome.event
  if (outcome.kind === 'refused') {
    throw new CriaError('permission_denied', `The prompt was refused by a hook: ${outcome.reason}`, {
      hint: 'Rephrase the prompt, or change the hook.',
    })
  }
  return hookContext(outcome.value)
}

function hookContext(value: unknown): Message {
  return injected(String(value), { by: 'hook', title: 'what a hook of the application adds', source: 'onPrompt' })
}

/**
 * Asks the review and the hook whether the turn may end. Returns the message to send to the model instead; `undefined`: the turn ends.
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
  // The message follows the answer, in the same step.
  yield { type: 'note', entry: { type: 'messages', step, messages: [message] } }
  return message
}

/** Records steering messages that arrived since the last step, and returns those to send to the model. */
export async function* steered({ options, ctx, step, conversation }: Turn): Station<readonly Message[]> {
  const { steering } = options
  if (steering === undefined) return []
  const messages: Message[] = []
  for (let [message] = steering.waiting; message !== undefined; [message] = steering.waiting) {
    const asked = await askHook('onPrompt', options.hooks, { prompt: message.content }, 'context', { ...ctx, step })
    // The message waits until the hook has answered: if the turn is aborted meanwhile, the next turn takes it.
    steering.delivered(message)
    if (asked.kind !== 'unchanged') yield asked.event
    if (asked.kind === 'refused') continue
    if (asked.kind === 'changed') messages.push(fenced(hookContext(asked.value)))
    messages.push(message)
    yield { type: 'steering', delivery: 'steer', message }
  }
  // Before the first step they become part of the prompt, which is recorded when it is composed.
  if (messages.length > 0 && conversation !== undefined) yield { type: 'note', entry: { type: 'messages', step, messages } }
  yield* noteFollowUps(steering)
  return messages
}

/** Reports steering messages that the turn did not reach; they wait for the next one. */
export async function* steeredTooLate({ options: { steering } }: Turn): Station<void> {
  if (steering === undefined) return
  yield* noteFollowUps(steering)
  const { waiting } = steering
  if (waiting.length === 0) return
  yield {
    type: 'notice',
    code: 'steering_waits',
    message: `The turn ended before this could be sent to the model: ${waiting.map(({ content }) => JSON.stringify(content)).join(', ')}. The next turn begins with it.`,
    details: { messages: waiting.map(({ content }) => content) },
  }
}

async function* noteFollowUps(steering: Steering): Station<void> {
  for (const message of steering.unnoted()) yield { type: 'steering', delivery: 'follow_up', message }
}
