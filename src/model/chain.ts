/** Holds the models of a turn, and chooses the next if one fails. */

import { CriaError } from '../core/error.ts'
import type { RecoveryEvent, SwitchReason } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'

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
