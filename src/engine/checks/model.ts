/** Checks a model that a caller gives. */

import { ConfigurationError } from '../../core/error.ts'
import { describe, isRecord } from '../../util/check.ts'
import type { Check } from './values.ts'

const DOLLARS = 'a number of US dollars for a million tokens'

/** @throws ConfigurationError that names the option, what was expected and what came. */
export const checkModel: Check = (name, value) => {
  const { stream, ref, facts } = Object(value) as Record<string, unknown>
  if (typeof stream !== 'function' || typeof ref !== 'string' || !isRecord(facts))
    throw new ConfigurationError(`query() needs a \`${name}\`: a name, or an object with \`ref\`, \`facts\` and \`stream()\`.`)
  for (const limit of ['contextWindow', 'maxOutputTokens'])
    checkFigure(`${name}.facts.${limit}`, facts[limit] ?? undefined, 1, 'a number of tokens')
  const price = facts['price'] ?? undefined
  if (price === undefined) return
  if (!isRecord(price)) throw wrong(`${name}.facts.price`, price, 'an object with `input` and `output`')
  for (const rate of ['input', 'output'])
    if (!isFigure(price[rate], 0)) throw wrong(`${name}.facts.price.${rate}`, price[rate], DOLLARS)
  for (const rate of ['cacheRead', 'cacheWrite', 'cacheWrite1h'])
    checkFigure(`${name}.facts.price.${rate}`, price[rate] ?? undefined, 0, DOLLARS)
}

function checkFigure(path: string, value: unknown, least: number, expected: string): void {
  if (value !== undefined && !isFigure(value, least)) throw wrong(path, value, expected)
}

function isFigure(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= least
}

function wrong(path: string, value: unknown, expected: string): ConfigurationError {
  return new ConfigurationError(`\`${path}\` must be ${expected}, or null where nobody knows, but is ${describe(value)}.`)
}
