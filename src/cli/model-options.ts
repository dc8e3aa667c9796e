/** Reads `-o KEY=VALUE`: settings of the call to the model. */

import { ConfigurationError } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { CallSettings, ThinkingEffort } from '../core/model.ts'
import { nearest } from '../util/nearest.ts'

/** The settings of a call, and how hard the model is to think. */
export type ModelSettings = CallSettings & { readonly enableThinking?: ThinkingEffort }

type Member = Exclude<keyof ModelSettings, 'providerOptions'>

const NUMBERS: Readonly<Record<string, readonly [Member, least: number, most: number]>> = {
  temperature: ['temperature', 0, 2],
  'max-tokens': ['maxOutputTokens', 1, Infinity],
  'top-p': ['topP', 0, 1],
  'top-k': ['topK', 0, Infinity],
  'presence-penalty': ['presencePenalty', -2, 2],
  'frequency-penalty': ['frequencyPenalty', -2, 2],
  seed: ['seed', -Infinity, Infinity],
}
const WHOLE: readonly string[] = ['max-tokens', 'top-k', 'seed']
const EFFORTS: readonly string[] = ['off', 'low', 'medium', 'high']
const NAMES: readonly string[] = [...Object.keys(NUMBERS), 'stop', 'thinking']
/** Names that other tools use. */
const ALSO: Readonly<Record<string, string>> = {
  'max-output-tokens': 'max-tokens',
  'stop-sequences': 'stop',
  'stop-sequence': 'stop',
}

/**
 * Each of `words` is `KEY=VALUE`; the last of one name counts, `stop` is collected. `PROVIDER.KEY=VALUE` goes to that provider as it is, the value as
 * JSON where it is JSON.
 *
 * @throws ConfigurationError that names the option, what was expected and what came.
 */
export function modelSettings(words: readonly string[]): ModelSettings {
  const settings: Partial<Record<keyof ModelSettings, unknown>> = {}
  const stop: string[] = []
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
    const name = Object.hasOwn(ALSO, plain) ? (ALSO[plain] ?? plain) : plain
    const numeric = Object.hasOwn(NUMBERS, name) ? NUMBERS[name] : undefined
    if (numeric !== undefined) settings[numeric[0]] = numberOf(name, value, numeric)
    else if (name === 'stop') stop.push(value)
    else if (name === 'thinking') settings.enableThinking = effortOf(value)
    else throw unknown(given)
  }
  return {
    ...(settings as ModelSettings),
    ...(stop.length === 0 ? {} : { stopSequences: stop }),
    ...(providerOptions.size === 0 ? {} : { providerOptions: Object.fromEntries(providerOptions) }),
  }
}

/** @throws ConfigurationError for what is not `KEY=VALUE`. */
export function pairOf(word: string, option: string): { readonly name: string; readonly value: string } {
  const at = word.indexOf('=')
  if (at < 1) throw new ConfigurationError(`${option} needs KEY=VALUE, but is ${JSON.stringify(word.slice(0, 60))}.`)
  return { name: word.slice(0, at).trim(), value: word.slice(at + 1) }
}

function numberOf(name: string, value: string, [, least, most]: readonly [Member, number, number]): number {
  const number = value.trim() === '' ? Number.NaN : Number(value)
  const isWhole = WHOLE.includes(name)
  if (number >= least && number <= most && Number.isFinite(number) && (!isWhole || Number.isSafeInteger(number))) return number
  const range = Number.isFinite(most) ? ` from ${least} to ${most}` : Number.isFinite(least) ? ` of at least ${least}` : ''
  throw new ConfigurationError(
    `-o ${name} must be a ${isWhole ? 'whole ' : ''}number${range}, but is ${JSON.stringify(value.slice(0, 60))}.`,
  )
}

function effortOf(value: string): string {
  if (EFFORTS.includes(value)) return value
  throw new ConfigurationError(`-o thinking must be one of ${EFFORTS.join(', ')}, but is ${JSON.stringify(value.slice(0, 60))}.`)
}

function jsonOrText(value: string): Json {
  try {
    return JSON.parse(value) as Json
  } catch {
    return value
  }
}

function unknown(name: string): ConfigurationError {
  const close = nearest(name, NAMES)
  return new ConfigurationError(
    `There is no model option ${JSON.stringify(name.slice(0, 60))}.${close === undefined ? '' : ` Did you mean ${close}?`}`,
    {
      hint: `Options: ${NAMES.join(', ')}, or PROVIDER.NAME for what only one provider knows, such as -o openai.service_tier=flex.`,
    },
  )
}
