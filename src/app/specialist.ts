/** Chooses the model for one purpose of a turn, such as summaries. */

import type { LanguageModel } from '../core/model.ts'
import type { EngineOptions } from '../engine/options.ts'
import { resolveModel, userConfig } from './user-models.ts'

/**
 * Thinking is asked of a model that cannot: then the pointer `reasoning` stands for the one that can, where the user has set it.
 *
 * @throws ConfigurationError when the configuration cannot be read.
 */
export function specialistFor(
  model: LanguageModel,
  { enableThinking, switchModels }: Pick<EngineOptions, 'enableThinking' | 'switchModels'>,
): LanguageModel | undefined {
  const thinks = enableThinking !== undefined && enableThinking !== false && enableThinking !== 'off'
  if (!thinks || switchModels === false || model.facts.thinking !== false) return undefined
  return userConfig().models?.reasoning === undefined ? undefined : resolveModel('reasoning')
}
