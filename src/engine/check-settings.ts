/** Checks the settings that `query()` and bots share: of the model call, and limits of the turn. */

import { ConfigurationError } from '../core/error.ts'
import type { CallSettings } from '../core/model.ts'
import { FALLBACK_CODES } from '../model/recover.ts'
import type { RetryPolicy } from '../model/recover.ts'
import { describe, isRecord } from '../util/check.ts'
import { checkBudget } from './check-budget.ts'
import { checkList, checkNames, checkNumber, checkOneOf, checkType } from './check-values.ts'
import type { EngineOptions } from './options.ts'
import { namesOf } from '../util/nearest.ts'

export type SharedOptions = CallSettings &
  Pick<EngineOptions, 'fallbackOn' | 'retry' | 'timeouts' | 'budget' | 'enableThinking' | 'switchModels' | 'onQueryCompleted'>

/** Every name; the compiler sees to it that none is missing. */
export const SETTINGS: Readonly<Record<keyof CallSettings, true>> = {
  temperature: true,
  maxOutputTokens: true,
  topP: true,
  topK: true,
  presencePenalty: true,
  frequencyPenalty: true,
  stopSequences: true,
  seed: true,
  providerOptions: true,
}
const RETRY = namesOf<RetryPolicy>({
  maxRetries: true,
  initialDelay: true,
  maxDelay: true,
  afterOutput: true,
  coolDown: true,
})
const TIMEOUTS = ['firstToken', 'idle', 'whole', 'step', 'turn'] as const
const EFFORTS: readonly unknown[] = [undefined, true, false, 'off', 'low', 'medium', 'high']

/** @throws ConfigurationError that names the option, what was expected and what came. */
export function checkSettings(options: SharedOptions): void {
  checkNumber('temperature', options.temperature, 0)
  checkNumber('maxOutputTokens', options.maxOutputTokens, 1)
  checkNumber('topP', options.topP, 0)
  checkNumber('topK', options.topK, 0)
  for (const name of ['presencePenalty', 'frequencyPenalty', 'seed'] as const) checkNumber(name, options[name], -Infinity)
  if (options.stopSequences !== undefined) checkTexts('stopSequences', options.stopSequences)
  if (options.providerOptions !== undefined && !isRecord(options.providerOptions))
    throw new ConfigurationError(
      `\`providerOptions\` must be an object, by name of the provider, but is ${describe(options.providerOptions)}.`,
    )
  if (!EFFORTS.includes(options.enableThinking))
    throw new ConfigurationError(
      `\`enableThinking\` must be true, false, 'off', 'low', 'medium' or 'high', but is ${describe(options.enableThinking)}.`,
    )
  checkType('switchModels', options.switchModels, 'boolean')
  checkType('onQueryCompleted', options.onQueryCompleted, 'function')
  if (options.fallbackOn !== undefined) {
    checkList('fallbackOn', options.fallbackOn, 'error codes')
    for (const [index, code] of options.fallbackOn.entries()) checkOneOf(`fallbackOn[${index}]`, code, FALLBACK_CODES)
  }
  checkNames('`retry`', options.retry ?? {}, RETRY)
  checkNumber('retry.maxRetries', options.retry?.maxRetries, 0)
  checkNumber('retry.initialDelay', options.retry?.initialDelay, 0)
  checkNumber('retry.maxDelay', options.retry?.maxDelay, 0)
  checkNumber('retry.coolDown', options.retry?.coolDown, 0)
  checkOneOf('retry.afterOutput', options.retry?.afterOutput, ['retry', 'error'])
  checkNames('`timeouts`', options.timeouts ?? {}, TIMEOUTS)
  for (const limit of TIMEOUTS) checkNumber(`timeouts.${limit}`, options.timeouts?.[limit] ?? undefined, 1)
  if (options.budget !== undefined) checkBudget(options.budget)
}

function checkTexts(name: string, values: readonly string[]): void {
  checkList(name, values, 'texts')
  for (const [index, value] of values.entries()) checkType(`${name}[${index}]`, value, 'string')
}
