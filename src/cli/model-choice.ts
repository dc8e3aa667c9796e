/** Resolves models and budgets from the command line, with the configuration as default. */

import type { LoadedConfig } from '../app/config.ts'
import type { CriaConfig } from '../app/config-schema.ts'
import { openModel, requireKeyOf } from '../app/open-model.ts'
import type { Budget } from '../core/budget.ts'
import { ConfigurationError, isCriaError } from '../core/error.ts'
import type { LanguageModel } from '../core/model.ts'
import { checkPrices, isLimited } from '../engine/budget/plan.ts'
import type { Io } from './io.ts'
import { defined } from '../util/check.ts'

export const EXTRACTIVE = 'builtin/extractive'

export interface ModelChoice {
  readonly model: LanguageModel
  readonly fallbackModels: readonly LanguageModel[]
  readonly fallbackOn: NonNullable<CriaConfig['fallbackOn']>
  readonly switchModels: boolean
}

export async function openModels(
  options: { readonly model: string | undefined; readonly fallback: readonly string[]; readonly 'no-switch': boolean },
  { config }: LoadedConfig,
  { env }: Io,
): Promise<ModelChoice> {
  const switchModels = !options['no-switch']
  if (!switchModels && options.fallback.length > 0)
    throw new ConfigurationError('--fallback and --no-switch exclude each other: a fallback is a model to switch to.')
  const fallbacks = !switchModels ? [] : options.fallback.length > 0 ? options.fallback : (config.fallbackModels ?? [])
  const [model, ...fallbackModels] = await Promise.all([options.model, ...fallbacks].map((name) => openModel(name, config, env)))
  if (model === undefined) throw new ConfigurationError('There is no model.')
  return { model, fallbackModels, fallbackOn: config.fallbackOn ?? [], switchModels }
}

/**
 * Returns why the server at `OPENAI_COMPATIBLE_BASE_URL` does not answer in place of `builtin/extractive`; `undefined` for another model and for
 * one that was named.
 */
export async function whyExtractive(
  { model }: Pick<ModelChoice, 'model'>,
  named: string | undefined,
  { config }: LoadedConfig,
  { env, signal }: Io,
): Promise<string | undefined> {
  // Most users have not set it: they do not wait for the import.
  const isSet = (env['OPENAI_COMPATIBLE_BASE_URL'] ?? '') !== ''
  if (!isSet || named !== undefined || model.ref !== EXTRACTIVE) return undefined
  const { unusableServer } = await import('../app/reach-provider.ts')
  return unusableServer(env, config, signal)
}

/**
 * Checks the key before a request is made or a turn recorded. Fallback models are not checked: they may never be used.
 *
 * @throws ConfigurationError when the model needs a key and none is set.
 */
export function requireKey({ model }: ModelChoice, { config }: LoadedConfig, { env }: Io): void {
  try {
    requireKeyOf(model, config, env)
  } catch (thrown) {
    if (!isCriaError(thrown) || thrown.code !== 'auth') throw thrown
    const provider = model.ref.slice(0, model.ref.indexOf('/'))
    throw new ConfigurationError(thrown.message, {
      hint: `Keep one with "cria keys set ${provider}"; "cria doctor" shows what is configured.`,
      cause: thrown,
    })
  }
}

/** @throws ConfigurationError for a model that has a budget in money but no known price. */
export function requirePrices(budget: Budget, { model, fallbackModels }: ModelChoice): void {
  checkPrices(budget, [model, ...fallbackModels], '. Or leave out --max-cost, and "budget" in config.json.')
}

/** Returns the budget of the configuration; `--max-cost` replaces its cost limit per turn. */
export function budgetOf(
  options: { readonly 'max-cost': number | undefined; readonly 'no-log': boolean },
  { config }: LoadedConfig,
): Budget {
  const { turn, session, day } = config.budget ?? {}
  if (options['no-log'] && (isLimited(session) || isLimited(day)))
    throw new ConfigurationError(
      '--no-log cannot be used: config.json has a budget for the session or the day, which needs the journal.',
      { hint: 'Leave out --no-log, or remove the budget.' },
    )
  return { ...turn, ...defined({ costUsd: options['max-cost'], session, day }) }
}
