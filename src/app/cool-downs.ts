/** Remembers in this process, from turn to turn, which models failed. */

import type { LanguageModel } from '../core/model.ts'
import { CoolDowns } from '../model/cool-down.ts'
import { providerStatus } from '../providers/connection.ts'
import { EXTRACTIVE_REF } from '../providers/extractive/model.ts'
import type { ModelInput } from './models.ts'

const keys = new WeakMap<LanguageModel, unknown>()
let shared: CoolDowns | undefined

export function sharedCoolDowns(): CoolDowns {
  shared ??= new CoolDowns((model) => keys.get(model) ?? model)
  return shared
}

/**
 * Notes what `model` was made of: it is the same as another one that was made of the same object, or of the same name while its provider is at
 * the same place.
 */
export function madeOf(input: ModelInput, model: LanguageModel): LanguageModel {
  if (typeof input !== 'string') keys.set(model, input)
  else if (model.ref !== EXTRACTIVE_REF)
    keys.set(model, `${model.ref} ${providerStatus(model.ref.split('/', 1)[0] ?? '').baseURL}`)
  return model
}
