/** Takes in what the application and the user say around a running turn: hooks before the prompt and at the end, the review of the answer, steering. */

import type { Station } from '../core/context.ts'
import { CriaError } from '../core/error.ts'
import { fromParts, injected } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { Answer } from '../model/answer.ts'
import { fenced } from '../prepare/fence.ts'
import { questionOf } from '../prepare/turn-input.ts'
import { askHook } from '../tools/hooks.ts'
import type { Steering } from './steering.ts'
import type { Turn } from './turn.ts'

/** Data that a hook adds to the prompt. @throws CriaError `permission_denied` when the prompt is refused. */
export async function* promptHook({ options, ctx, input, step }: Turn): Station<Message | undefined> {
  const outcome = await askHook('onPrompt', options.hooks, { prompt: questionOf(input.messages) }, 'context', { ...ctx, step })
  if (outcome.kind === 'unchanged') return undefined
  yield outcome.event
  if (outcome.kind === 'refused') {
    throw new CriaError('permission_denied', `The prompt was refused by a hook: ${outcome.reason}`, {
      hint: 'Say it otherwise, or change the hook.',
    })
  }
  return hookContext(outcome.value)
}

function hookContext(value: unknown): Message {
  return injected(String(value), { by: 'hook', title: 'what a hook of the application adds', source: 'onPrompt' })
}

/**
 * Asks the review and the hook whether the turn may end. Returns the message that the model is sent instead; `undefined`: the turn ends.
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

/** Before a step: records the messages that were given meanwhile, and returns those that the model gets. */
export async function* steered({ options, ctx, step, conversation }: Turn): Station<readonly Message[]> {
  const { steering } = options
  if (steering === undefined) return []
  const messages: Message[] = []
  for (let [message] = steering.waiting; message !== undefined; [message] = steering.waiting) {
    const asked = await askHook('onPrompt', options.hooks, { prompt: message.content }, 'context', { ...ctx, step })
    // Until a hook has answered it waits: a turn that is aborted meanwhile leaves it to the next one.
    steering.delivered(message)
    if (asked.kind !== 'unchanged') yield asked.event
    if (asked.kind === 'refused') continue
    if (asked.kind === 'changed') messages.push(fenced(hookContext(asked.value)))
    messages.push(message)
    yield { type: 'steering', delivery: 'steer', message }
  }
  // Before the first step they become part of the prompt, which is written down when it is composed.
  if (messages.length > 0 && conversation !== undefined) yield { type: 'note', entry: { type: 'messages', step, messages } }
  yield* noteFollowUps(steering)
  return messages
}

/** At the end of a turn: keeps the messages that it did not come to, and reports them. */
export async function* steeredTooLate({ options: { steering } }: Turn): Station<void> {
  if (steering === undefined) return
  yield* noteFollowUps(steering)
  const { waiting } = steering
  if (waiting.length === 0) return
  yield {
    type: 'notice',
    code: 'steering_waits',
    message: `The turn ended before the model could be told: ${waiting.map(({ content }) => JSON.stringify(content)).join(', ')}. The next turn begins with it.`,
    details: { messages: waiting.map(({ content }) => content) },
  }
}

async function* noteFollowUps(steering: Steering): Station<void> {
  for (const message of steering.unnoted()) yield { type: 'steering', delivery: 'follow_up', message }
}
