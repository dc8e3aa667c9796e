/** Checks single values of options, models included. Each error names the option, the expected and the received value. */

import { ConfigurationError } from '../../core/error.ts'
import { describe, isRecord } from '../../util/check.ts'
import { unknownOption } from '../../util/nearest.ts'
import { isPromise } from '../../util/promise.ts'

/**
 * Rejects unknown names: JavaScript ignores a misspelt option silently.
 *
 * @param elsewhere names that other calls or libraries use, with their spelling here.
 * @throws ConfigurationError that suggests the intended option, or lists the existing ones.
 */
export function checkNames(
  what: string,
  options: object,
  names: readonly string[],
  elsewhere?: Readonly<Record<string, string>>,
): void {
  checkObject(what, options)
  const wrong = unknownOption(options, names, elsewhere)
  if (wrong !== undefined) throw new ConfigurationError(`${what} has ${wrong.problem}`, wrong)
}

/** @throws ConfigurationError if `options` is not an object. */
export function checkObject(what: string, options: unknown): void {
  if (typeof options !== 'object' || options === null) throw new ConfigurationError(`${what} takes an object of options.`)
}

/**
 * Returns the value of an option that has two names.
 *
 * @throws ConfigurationError if both names are given.
 */
export function eitherOf<Options extends object, Own extends keyof Options, Alias extends keyof Options>(
  options: Options,
  own: Own,
  alias: Alias,
): Options[Own] | Options[Alias] | undefined {
  if (options[own] !== undefined && options[alias] !== undefined)
    throw new ConfigurationError(
      `\`${String(own)}\` and \`${String(alias)}\` are two names of one option: leave one of them out.`,
    )
  return options[own] === undefined ? options[alias] : options[own]
}

/**
 * Makes the error for a wrong value of an option.
 *
 * @param expected in words, after "must be".
 * @param received in words; default a description of the value.
 */
export function mistake(name: string, expected: string, value: unknown, received?: string): ConfigurationError {
  const came = received ?? (isPromise(value) ? 'a promise: await it' : describe(value))
  return new ConfigurationError(`\`${name}\` must be ${expected}, but is ${came}.`)
}

/**
 * Checks that a value is a list, and not a single element.
 *
 * @throws ConfigurationError that names the option, the expected and the received value.
 */
export function checkList(name: string, value: unknown, what: string): void {
  if (!Array.isArray(value)) throw mistake(name, `a list of ${what}`, value)
}

/** @throws ConfigurationError that names the option, its choices and the received value. */
export function checkOneOf(name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value as string)) return
  throw mistake(name, `${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}`, value)
}

/** @param least minimum, inclusive. @throws ConfigurationError that names the option, the expected and the received value. */
export function checkNumber(name: string, value: unknown, least: number): void {
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= least)) return
  throw mistake(name, `a number${least === -Infinity ? '' : ` of at least ${least}`}`, value, describe(value))
}

const TYPES = { string: 'a text', boolean: 'true or false', function: 'a function' } as const

/** @throws ConfigurationError that names the option, the expected and the received value. */
export function checkType(name: string, value: unknown, type: keyof typeof TYPES): void {
  if (value !== undefined && typeof value !== type) throw mistake(name, TYPES[type], value)
}

/**
 * Checks a store or a journal. The most frequent mistake is a promise that was not awaited.
 *
 * @param method by which a valid object is recognised.
 * @param maker the function that creates one, for the message.
 * @throws ConfigurationError that names the option, the expected and the received value.
 */
export function checkPort(name: string, value: unknown, method: string, maker: string): void {
  if (value === undefined || typeof Reflect.get(Object(value), method) === 'function') return
  const received = isRecord(value) && !isPromise(value) ? `an object without the method \`${method}\`` : undefined
  throw mistake(name, `what ${maker} resolves to`, value, received)
}

/** Checks the value of an option that was given. @throws ConfigurationError that names it, the expected and the received value. */
export type Check = (name: string, value: unknown) => void
/** A check for each option; the compiler reports missing ones. */
export type Checks<Options> = { readonly [Name in keyof Options]-?: Check }

/** Accepts any value: the option is checked elsewhere, or may be anything. */
export const unchecked: Check = () => {}
export const text: Check = (name, value) => checkType(name, value, 'string')
export const flag: Check = (name, value) => checkType(name, value, 'boolean')
export const callback: Check = (name, value) => checkType(name, value, 'function')

export function atLeast(least: number): Check {
  return (name, value) => checkNumber(name, value, least)
}

export function oneOf(...choices: readonly string[]): Check {
  return (name, value) => checkOneOf(name, value, choices)
}

export function port(method: string, maker: string): Check {
  return (name, value) => checkPort(name, value, method, maker)
}

export function orNull(check: Check): Check {
  return (name, value) => (value === null ? undefined : check(name, value))
}

export function listOf(what: string, check: Check): Check {
  return (name, value) => {
    checkList(name, value, what)
    for (const [index, each] of (value as readonly unknown[]).entries()) check(`${name}[${index}]`, each)
  }
}

/** Checks an object with these options and no others. */
export function objectOf<Options>(checks: Checks<Options>): Check {
  return (name, value) => {
    checkNames(`\`${name}\``, value as object, Object.keys(checks))
    checkGiven(value as object, checks, `${name}.`)
  }
}

/** Checks an object with values of one kind under any names. */
export function recordOf(check: Check): Check {
  return (name, value) => {
    checkObject(`\`${name}\``, value)
    for (const [key, each] of Object.entries(value as object)) check(`${name}[${JSON.stringify(key)}]`, each)
  }
}

/** Checks the given options that the table lists; other names are ignored. */
export function checkGiven(options: object, checks: Readonly<Record<string, Check>>, path = ''): void {
  for (const [name, check] of Object.entries(checks)) {
    const value: unknown = Reflect.get(options, name)
    if (value !== undefined) check(path + name, value)
  }
}

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
