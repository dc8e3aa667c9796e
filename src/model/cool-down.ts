/**
 * Cool-down of failed models. After a switch away from it a model is tried last for a while, so that turns do not begin by waiting for a
 * model that is down; afterwards it keeps its place again.
 */

import type { CriaError, ErrorInfo } from '../core/error.ts'
import type { SwitchReason } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'
import { retryAfterOf } from './recover.ts'

/** Default cool-down in milliseconds. */
export const DEFAULT_COOL_DOWN = 60_000
/** Longest cool-down in milliseconds that a provider may request. */
const LONGEST_REST = 3_600_000

export interface Rest {
  /** End of the cool-down, epoch milliseconds. */
  readonly until: number
  /** Why the turn switched away from the model. */
  readonly reason: SwitchReason
  /** The error that it failed with. */
  readonly error?: ErrorInfo
}

/** Returns the models in the order in which a turn tries them: as given, cooling-down ones last. */
export function restedFirst<Model>(models: readonly Model[], restOf: (model: Model) => Rest | undefined, now: number): Model[] {
  const rests = (model: Model): boolean => (restOf(model)?.until ?? 0) > now
  return [...models.filter((model) => !rests(model)), ...models.filter(rests)]
}

/**
 * Returns the end of the cool-down of a model that failed at `now`: after `coolDown`, or at the retry time named by the provider if later.
 * @param coolDown in milliseconds; 0 for none, even if the provider names a retry time.
 */
export function restUntil(error: CriaError, now: number, coolDown: number): number {
  if (coolDown <= 0) return now
  return now + Math.max(coolDown, Math.min(retryAfterOf(error) ?? 0, LONGEST_REST))
}

/** Remembers the models in cool-down across turns. */
export class CoolDowns {
  readonly #keyOf: (model: LanguageModel) => unknown
  readonly #rests = new Map<unknown, Rest>()

  /** @param keyOf returns equal keys for objects of the same model; default: the object itself. */
  constructor(keyOf: (model: LanguageModel) => unknown = (model) => model) {
    this.#keyOf = keyOf
  }

  restOf(model: LanguageModel): Rest | undefined {
    return this.#rests.get(this.#keyOf(model))
  }

  /** Starts a cool-down. @param now epoch milliseconds. */
  rest(model: LanguageModel, rest: Rest, now: number): void {
    for (const [key, { until }] of this.#rests) if (until <= now) this.#rests.delete(key)
    if (rest.until > now) this.#rests.set(this.#keyOf(model), rest)
  }

  /** Ends the cool-down of a model that has answered. */
  end(model: LanguageModel): void {
    this.#rests.delete(this.#keyOf(model))
  }
}
