/** Parses `-o KEY=VALUE`: settings of the model call. */

import { ConfigurationError } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { CallSettings, ThinkingEffort } from '../core/model.ts'
import { didYouMean, quoted } from './format.ts'

/** Call settings and the thinking effort. */
export type ModelSettings = CallSettings & { readonly enableThinking?: ThinkingEffort }

interface NumberSpec {
  readonly member: Exclude<keyof ModelSettings, 'providerOptions'>
  readonly least: number
  readonly most: number
  readonly isWhole?: boolean
}

const NUMBERS: ReadonlyMap<string, NumberSpec> = new Map(
  Object.entries({
    temperature: { member: 'temperature', least: 0, most: 2 },
    'max-tokens': { member: 'maxOutputTokens', least: 1, most: Infinity, isWhole: true },
    'top-p': { member: 'topP', least: 0, most: 1 },
    'top-k': { member: 'topK', least: 0, most: Infinity, isWhole: true },
    'presence-penalty': { member: 'presencePenalty', least: -2, most: 2 },
    'frequency-penalty': { member: 'frequencyPenalty', least: -2, most: 2 },
    seed: { member: 'seed', least: -Infinity, most: Infinity, isWhole: true },
  } satisfies Record<string, NumberSpec>),
)
const EFFORTS: readonly string[] = ['off', 'low', 'medium', 'high']
const NAMES: readonly string[] = [...NUMBERS.keys(), 'stop', 'thinking']
/** Aliases: names that other tools use. */
const ALSO: ReadonlyMap<string, string> = new Map([
  ['max-output-tokens', 'max-tokens'],
  ['stop-sequences', 'stop'],
  ['stop-sequence', 'stop'],
])

/**
 * Parses `KEY=VALUE` words; the last value of a key wins, except that `stop` values add up. `PROVIDER.KEY=VALUE` is passed to that provider
 * unchanged; its value is parsed as JSON if possible.
 *
 * @throws ConfigurationError that names the option, the expected and the received value.
 */
export function modelSettings(words: readonly string[]): ModelSettings {
  const settings: Partial<Record<keyof ModelSettings, unknown>> = {}
  const stopSequences: string[] = []
  const providerOptions = new Map<string, JsonObject>()
  for (const word of words) {
    const { name: given, value } = pairOf(word, '-o')
    const dot = given.indexOf('.')
    if (dot > 0) {
      const provider = given.slice(0, dot)
      providerOptions.set(provider, { ...providerOptions.get(provider), [given.slice(dot + 1)]: jsonOrText(value) })
      continue
    }
    const plain = given.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const name = ALSO.get(plain) ?? plain
    const numeric = NUMBERS.get(name)
    if (numeric !== undefined) settings[numeric.member] = numberOf(name, value, numeric)
    else if (name === 'stop') stopSequences.push(value)
    else if (name === 'thinking') settings.enableThinking = effortOf(value)
    else
      throw new ConfigurationError(`There is no model option ${quoted(given)}.${didYouMean(given, NAMES)}`, {
        hint: `Options: ${NAMES.join(', ')}, or PROVIDER.NAME for what only one provider knows, such as -o openai.service_tier=flex.`,
      })
  }
  return {
    ...(settings as ModelSettings),
    ...(stopSequences.length === 0 ? {} : { stopSequences }),
    ...(providerOptions.size === 0 ? {} : { providerOptions: Object.fromEntries(providerOptions) }),
  }
}

/** @throws ConfigurationError for what is not `KEY=VALUE`. */
export function pairOf(word: string, option: string): { readonly name: string; readonly value: string } {
  const at = word.indexOf('=')
  if (at < 1) throw new ConfigurationError(`${option} needs KEY=VALUE, but is ${quoted(word)}.`)
  return { name: word.slice(0, at).trim(), value: word.slice(at + 1) }
}

function numberOf(name: string, value: string, { least, most, isWhole = false }: NumberSpec): number {
  const number = value.trim() === '' ? Number.NaN : Number(value)
  if (number >= least && number <= most && Number.isFinite(number) && (!isWhole || Number.isSafeInteger(number))) return number
  const atLeast = Number.isFinite(least) ? ` of at least ${least}` : ''
  const range = Number.isFinite(most) ? ` from ${least} to ${most}` : atLeast
  throw new ConfigurationError(`-o ${name} must be a ${isWhole ? 'whole ' : ''}number${range}, but is ${quoted(value)}.`)
}

function effortOf(value: string): string {
  if (EFFORTS.includes(value)) return value
  throw new ConfigurationError(`-o thinking must be one of ${EFFORTS.join(', ')}, but is ${quoted(value)}.`)
}

function jsonOrText(value: string): Json {
  try {
    return JSON.parse(value) as Json
  } catch {
    return value
  }
}
