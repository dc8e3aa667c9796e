/**
 * Models that are let rest. One that had to be turned away from is asked last for a while, so that not every turn begins by waiting for
 * what is known to be down; afterwards it is the first choice again.
 */

import type { CriaError, ErrorInfo } from '../core/error.ts'
import type { SwitchReason } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'
import { retryAfterOf } from './recover.ts'

/** Milliseconds. */
export const DEFAULT_COOL_DOWN = 60_000
/** A provider may ask for a longer rest than ours, but not for a whole day. */
const LONGEST_REST = 3_600_000

export interface Rest {
  /** Epoch milliseconds. */
  readonly until: number
  /** Why the model was turned away from. */
  readonly reason: SwitchReason
  /** The error that it failed with. */
  readonly error?: ErrorInfo
}

/** The order in which a turn asks its models: as given, those that rest after all others. */
export function restedFirst<Model>(models: readonly Model[], restOf: (model: Model) => Rest | undefined, now: number): Model[] {
  const rests = (model: Model): boolean => (restOf(model)?.until ?? 0) > now
  return [...models.filter((model) => !rests(model)), ...models.filter(rests)]
}

/**
 * When the rest of a model that failed at `now` is over: after the cool-down, or when the provider said it may be asked again if that is later.
 * @param coolDown in milliseconds; 0 for no rest, whatever the provider says.
 */
export function restUntil(error: CriaError, now: number, coolDown: number): number {
  if (coolDown <= 0) return now
  return now + Math.max(coolDown, Math.min(retryAfterOf(error) ?? 0, LONGEST_REST))
}

/** Remembers from turn to turn the models that rest. */
export class CoolDowns {
  readonly #keyOf: (model: LanguageModel) => unknown
  readonly #rests = new Map<unknown, Rest>()

  /** @param keyOf what two objects have in common that are the same model; default: they are one object. */
  constructor(keyOf: (model: LanguageModel) => unknown = (model) => model) {
    this.#keyOf = keyOf
  }

  restOf(model: LanguageModel): Rest | undefined {
    return this.#rests.get(this.#keyOf(model))
  }

  /** @param now epoch milliseconds. */
  rest(model: LanguageModel, rest: Rest, now: number): void {
    for (const [key, { until }] of this.#rests) if (until <= now) this.#rests.delete(key)
    if (rest.until > now) this.#rests.set(this.#keyOf(model), rest)
  }

  /** The model has answered. */
  wake(model: LanguageModel): void {
    this.#rests.delete(this.#keyOf(model))
  }
}
