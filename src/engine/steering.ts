/** Queue of user messages for a running turn, sent before the next step of the model or after the turn. */

import { ConfigurationError } from '../core/error.ts'
import { toMessages } from '../core/message.ts'
import type { Message, MessageInput } from '../core/message.ts'

/**
 * Created by the caller, passed to `query()` as `steering`, and used while the turn runs. It may be reused for later turns: the next turn
 * begins with the messages that the last one did not reach.
 */
export class Steering {
  #waiting: Message[] = []
  #followUps: Message[] = []
  /** Follow-ups that are already in the journal. */
  readonly #noted = new WeakSet<Message>()

  /**
   * Queues a message for the model before its next step. A turn that would end continues; a turn that is aborted, fails, or has no step left
   * leaves it to the next turn.
   * @throws ConfigurationError for anything but messages of a user.
   */
  steer(input: MessageInput): void {
    this.#waiting.push(...saidBy(input))
  }

  /** Queues a message for after the turn: the caller takes it as the prompt of the next one. @throws ConfigurationError as `steer`. */
  followUp(input: MessageInput): void {
    this.#followUps.push(...saidBy(input))
  }

  /** Messages that wait for the model, oldest first. */
  get waiting(): readonly Message[] {
    return this.#waiting
  }

  /** Messages that wait for the end of the turn, oldest first. */
  get followUps(): readonly Message[] {
    return this.#followUps
  }

  /** Removes and returns all follow-ups, oldest first. */
  takeFollowUps(): readonly Message[] {
    return this.#followUps.splice(0)
  }

  /** Removes and returns the oldest follow-up. */
  takeFollowUp(): Message | undefined {
    return this.#followUps.shift()
  }

  /** Removes and returns the newest follow-up. */
  takeBack(): Message | undefined {
    return this.#followUps.pop()
  }

  /** For the engine: removes a message that was sent to the model or refused by a hook. */
  delivered(message: Message): void {
    this.#waiting = this.#waiting.filter((one) => one !== message)
  }

  /** For the engine: returns follow-ups that are not yet recorded. */
  unnoted(): readonly Message[] {
    const fresh = this.#followUps.filter((message) => !this.#noted.has(message))
    for (const message of fresh) this.#noted.add(message)
    return fresh
  }
}

function saidBy(input: MessageInput): readonly Message[] {
  const messages = toMessages(input)
  if (messages.length === 0 || messages.some(({ role, parts }) => role !== 'user' || parts.length === 0))
    throw new ConfigurationError('A steering message must be a non-empty message of the user: text, or user(…).')
  return messages
}
