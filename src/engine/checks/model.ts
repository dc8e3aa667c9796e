/** Checks a model from the caller. */

import { ConfigurationError } from '../../core/error.ts'
import { isRecord } from '../../util/check.ts'
import { mistake } from './values.ts'
import type { Check } from './values.ts'

const TOKENS = 'a number of tokens'
const DOLLARS = 'a number of US dollars for a million tokens'
const OR_UNKNOWN = ', or null if unknown'

/** @throws ConfigurationError that names the option, the expected and the received value. */
export const checkModel: Check = (name, value) => {
  const { stream, ref, facts } = Object(value) as Record<string, unknown>
  if (typeof stream !== 'function' || typeof ref !== 'string' || !isRecord(facts))
    throw new ConfigurationError(`query() needs a \`${name}\`: a name, or an object with \`ref\`, \`facts\` and \`stream()\`.`)
  const path = `${name}.facts`
  for (const limit of ['contextWindow', 'maxOutputTokens'])
    checkFigure(`${path}.${limit}`, facts[limit] ?? 1, 1, TOKENS + OR_UNKNOWN)
  const price = facts['price'] ?? undefined
  if (price === undefined) return
  if (!isRecord(price)) throw mistake(`${path}.price`, `an object with \`input\` and \`output\`${OR_UNKNOWN}`, price)
  for (const rate of ['input', 'output']) checkFigure(`${path}.price.${rate}`, price[rate], 0, DOLLARS)
  for (const rate of ['cacheRead', 'cacheWrite', 'cacheWrite1h'])
    checkFigure(`${path}.price.${rate}`, price[rate] ?? 0, 0, DOLLARS + OR_UNKNOWN)
}

function checkFigure(path: string, value: unknown, least: number, expected: string): void {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least) throw mistake(path, expected, value)
}
