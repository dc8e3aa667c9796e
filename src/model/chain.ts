/** Holds the models that a turn may ask, and chooses the next when one fails. */

import { CriaError } from '../core/error.ts'
import type { RecoveryEvent, SwitchReason } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'

export interface ModelChain {
  /** In the order in which they are asked. */
  readonly models: readonly LanguageModel[]
  /** The place of the one that answers now; it only grows, so that a turn that is passed on comes to an end. */
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
  /** In the order in which they are asked; the first is the default, those that follow are its backups. */
  readonly models: readonly Model[]
  /** The model for the special task, where there is one. */
  readonly specialist?: Model | undefined
}

/**
 * Chooses the model that takes the place of the current one.
 *
 * | reason | model |
 * |---|---|
 * | `context_too_large` | the next one whose window is larger; one that nobody knows is not |
 * | `rate_limited`, `model_unavailable` | the backup: the next one |
 * | `specialized_task` | the specialist, else the default |
 * | `default` | the default |
 *
 * @param current its place among `models`.
 * @returns `undefined` where there is none.
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
 * Passes the turn on to another model. Returns the event that says so; `undefined`, and nothing has changed, where there is none.
 *
 * @param fits whether a model can do what is asked; those that cannot are passed over.
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
