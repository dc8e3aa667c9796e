/** Finds the quick model that the user has configured, which summarises older messages. */

import type { LanguageModel } from '../core/model.ts'
import { resolveModel, userConfig } from './user-models.ts'

/** The one that the user calls `quick`; `undefined` where none is, or the configuration cannot be read: the model of the turn writes then. */
export function quickModel(): LanguageModel | undefined {
  try {
    return userConfig().models?.quick === undefined ? undefined : resolveModel('quick')
  } catch {
    return undefined
  }
}
