/** Holds the models of a turn, chooses the next if one fails, and tries models that failed recently last. */

import { CriaError } from '../core/error.ts'
import type { ErrorInfo } from '../core/error.ts'
import type { RecoveryEvent, SwitchReason } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'
import { retryAfterOf } from './recover.ts'

export interface ModelChain {
  /** In the order in which they are tried. */
  readonly models: readonly LanguageModel[]
  /** Index of the current model; it only grows, so that switching ends after the last model. */
  current: number
}

export function currentModel({ models, current }: ModelChain): LanguageModel {
  const model = models[current]
  if (model === undefined) throw new CriaError('internal', `There is no model number ${current} in the chain.`)
  return model
}

export type SwitchEvent = Extract<RecoveryEvent, { type: 'model_switch' }>

type Sized = { readonly facts: Pick<LanguageModel['facts'], 'contextWindow'> }

/** Models that `switchModel()` may choose from. */
export interface SwitchChoices<Model> {
  /** In the order in which they are tried; the first is the default, the others are its backups. */
  readonly models: readonly Model[]
  /** The model for special tasks, if any. */
  readonly specialist?: Model | undefined
}

/**
 * Chooses the model that replaces the current one.
 *
 * | reason | model |
 * |---|---|
 * | `context_too_large` | the next one with a larger known window |
 * | `rate_limited`, `model_unavailable` | the backup: the next one |
 * | `specialized_task` | the specialist, else the default |
 * | `default` | the default |
 *
 * @param current index of the current model in `models`.
 * @returns `undefined` if there is no such model.
 */
export function switchModel<Model extends Sized>(
  reason: SwitchReason,
  current: number,
  { models, specialist }: SwitchChoices<Model>,
): Model | undefined {
  const following = models.slice(current + 1)
  switch (reason) {
    case 'context_too_large': {
      const window = models[current]?.facts.contextWindow ?? 0
      return following.find(({ facts }) => (facts.contextWindow ?? 0) > window)
    }
    case 'rate_limited':
    case 'model_unavailable':
      return following[0]
    case 'specialized_task':
      return specialist ?? models[0]
    default:
      return models[0]
  }
}

/**
 * Switches to another model and returns the `model_switch` event; changes nothing and returns `undefined` if there is none.
 *
 * @param fits returns `false` for models that cannot serve the request; they are skipped.
 */
export function passOn(
  chain: ModelChain,
  reason: SwitchReason,
  fits: (model: LanguageModel) => boolean = () => true,
): SwitchEvent | undefined {
  const models = chain.models.filter((model, index) => index <= chain.current || fits(model))
  const next = switchModel(reason, chain.current, { models })
  if (next === undefined) return undefined
  const from = currentModel(chain)
  chain.current = chain.models.indexOf(next, chain.current + 1)
  return { type: 'model_switch', from: from.ref, to: next.ref, reason }
}

/** Default cool-down in milliseconds. */
export const DEFAULT_COOL_DOWN = 60_000
/** Longest cool-down in milliseconds that a provider may request. */
const LONGEST_COOL_DOWN = 3_600_000

/** The cool-down of a model that failed: turns try it last, so that they do not begin by waiting for it. */
export interface CoolDown {
  /** End of the cool-down, epoch milliseconds. */
  readonly until: number
  /** Why the turn switched away from the model. */
  readonly reason: SwitchReason
  /** The error that it failed with. */
  readonly error?: ErrorInfo
}

/** Returns the models in the order in which a turn tries them: as given, cooling-down ones last. */
export function coolingLast<Model>(
  models: readonly Model[],
  coolDownOf: (model: Model) => CoolDown | undefined,
  now: number,
): Model[] {
  const isCooling = (model: Model): boolean => (coolDownOf(model)?.until ?? 0) > now
  return [...models.filter((model) => !isCooling(model)), ...models.filter(isCooling)]
}

/**
 * Returns the end of the cool-down of a model that failed at `now`: after `coolDown`, or at the retry time named by the provider if later.
 * @param coolDown in milliseconds; 0 for none, even if the provider names a retry time.
 */
export function coolDownUntil(error: CriaError, now: number, coolDown: number): number {
  if (coolDown <= 0) return now
  return now + Math.max(coolDown, Math.min(retryAfterOf(error) ?? 0, LONGEST_COOL_DOWN))
}

/** Remembers the models in cool-down across turns. */
export class CoolDowns {
  readonly #keyOf: (model: LanguageModel) => unknown
  readonly #coolDowns = new Map<unknown, CoolDown>()

  /** @param keyOf returns equal keys for objects of the same model; default: the object itself. */
  constructor(keyOf: (model: LanguageModel) => unknown = (model) => model) {
    this.#keyOf = keyOf
  }

  /** Returns the cool-down of a model, which may have ended. */
  of(model: LanguageModel): CoolDown | undefined {
    return this.#coolDowns.get(this.#keyOf(model))
  }

  /** Starts a cool-down. @param now epoch milliseconds. */
  start(model: LanguageModel, coolDown: CoolDown, now: number): void {
    for (const [key, { until }] of this.#coolDowns) if (until <= now) this.#coolDowns.delete(key)
    if (coolDown.until > now) this.#coolDowns.set(this.#keyOf(model), coolDown)
  }

  /** Ends the cool-down of a model that has answered. */
  end(model: LanguageModel): void {
    this.#coolDowns.delete(this.#keyOf(model))
  }
}
