/** Messages that a user gives while a turn runs: before the next step of the model, or after the turn. */

import { ConfigurationError } from '../core/error.ts'
import { toMessages } from '../core/message.ts'
import type { Message, MessageInput } from '../core/message.ts'

/**
 * Made by the caller, given to `query()` as `steering`, and used while the turn runs. It may be given to one turn after the other: what one turn did
 * not come to, the next one begins with.
 */
export class Steering {
  #waiting: Message[] = []
  #followUps: Message[] = []
  /** Follow-ups that stand in the journal already. */
  readonly #noted = new WeakSet<Message>()

  /**
   * The model reads it before its next step. A turn that would end goes on for it; a turn that is aborted, fails, or has no step left leaves it to
   * the next turn.
   * @throws ConfigurationError for anything but messages of a user.
   */
  steer(input: MessageInput): void {
    this.#waiting.push(...saidBy(input))
  }

  /** Is said after the turn: whoever runs it takes it as the prompt of the next one. @throws ConfigurationError as `steer`. */
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

  /** All follow-ups, oldest first, which then wait no more. */
  takeFollowUps(): readonly Message[] {
    return this.#followUps.splice(0)
  }

  /** The oldest follow-up, which then waits no more. */
  takeFollowUp(): Message | undefined {
    return this.#followUps.shift()
  }

  /** The newest follow-up, taken back. */
  takeBack(): Message | undefined {
    return this.#followUps.pop()
  }

  /** For the engine: the model is told of it, or a hook has refused it; it waits no more. */
  delivered(message: Message): void {
    this.#waiting = this.#waiting.filter((one) => one !== message)
  }

  /** For the engine: follow-ups that no turn has written down. */
  unnoted(): readonly Message[] {
    const fresh = this.#followUps.filter((message) => !this.#noted.has(message))
    for (const message of fresh) this.#noted.add(message)
    return fresh
  }
}

function saidBy(input: MessageInput): readonly Message[] {
  const messages = toMessages(input)
  if (messages.length === 0 || messages.some(({ role, parts }) => role !== 'user' || parts.length === 0))
    throw new ConfigurationError('A turn is steered with messages of the user that say something: text, or user(…).')
  return messages
}
