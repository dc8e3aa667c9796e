/** Takes what the user says while a turn runs into the turn. */

import type { Station } from '../core/context.ts'
import type { Message } from '../core/message.ts'
import { fenced } from '../prepare/fence.ts'
import { askHook } from '../tools/hooks.ts'
import type { Steering } from './steering.ts'
import type { Turn } from './turn.ts'
import { hookContext } from './turn-hooks.ts'

/** Before a step: writes down what was given, and returns what the model is told of it. */
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

/** At the end of a turn: what it did not come to is kept, and said. */
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
