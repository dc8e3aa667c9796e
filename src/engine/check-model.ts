/** Checks a model that a caller gives. */

import { ConfigurationError } from '../core/error.ts'
import type { LanguageModel, ModelFacts, Price } from '../core/model.ts'
import { describe, isRecord } from '../util/check.ts'

/**
 * @param name the option that holds it.
 * @throws ConfigurationError that names the option, what was expected and what came.
 */
export function checkModel(name: string, model: LanguageModel): void {
  const given: Partial<Record<keyof LanguageModel, unknown>> | undefined = model
  if (typeof given?.stream !== 'function' || typeof given.ref !== 'string' || !isRecord(given.facts))
    throw new ConfigurationError(`query() needs a \`${name}\`: a name, or an object with \`ref\`, \`facts\` and \`stream()\`.`)
  const facts: Partial<Record<keyof ModelFacts, unknown>> = given.facts
  for (const limit of ['contextWindow', 'maxOutputTokens'] as const)
    checkNumber(`${name}.facts.${limit}`, facts[limit], 1, 'a number of tokens')
  const price = facts.price ?? undefined
  if (price === undefined) return
  if (!isRecord(price)) throw mistake(`${name}.facts.price`, price, 'an object with `input` and `output`')
  const rates: Partial<Record<keyof Price, unknown>> = price
  for (const rate of ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const) {
    const path = `${name}.facts.price.${rate}`
    if ((rate === 'input' || rate === 'output') && typeof rates[rate] !== 'number') throw mistake(path, rates[rate], DOLLARS)
    checkNumber(path, rates[rate], 0, DOLLARS)
  }
}

const DOLLARS = 'a number of US dollars for a million tokens'

function checkNumber(path: string, value: unknown, least: number, expected: string): void {
  if (value === undefined || value === null) return
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least) throw mistake(path, value, expected)
}

function mistake(path: string, value: unknown, expected: string): ConfigurationError {
  return new ConfigurationError(`\`${path}\` must be ${expected}, or null where nobody knows, but is ${describe(value)}.`)
}
