/** Checks single values of options. Each mistake is told with what was expected and what came. */

import { ConfigurationError } from '../../core/error.ts'
import { describe, isRecord } from '../../util/check.ts'
import { unknownOption } from '../../util/nearest.ts'
import { isPromise } from '../../util/promise.ts'

/**
 * Rejects names that do not exist: JavaScript passes a misspelt option on without a word, and it would have no effect.
 *
 * @param elsewhere names that are known in another place, and how they are written there.
 * @throws ConfigurationError that names the option that was meant, or those that there are.
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

/** @throws ConfigurationError when nothing was given, or something else. */
export function checkObject(what: string, options: unknown): void {
  if (typeof options !== 'object' || options === null) throw new ConfigurationError(`${what} takes an object of options.`)
}

/**
 * The value of an option that has two names.
 *
 * @throws ConfigurationError when it was given under both.
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
 * A mistake in the value of an option.
 *
 * @param expected in words, after "must be".
 * @param received in words; default a description of the value.
 */
export function mistake(name: string, expected: string, value: unknown, received?: string): ConfigurationError {
  const came = received ?? (isPromise(value) ? 'a promise: await it' : describe(value))
  return new ConfigurationError(`\`${name}\` must be ${expected}, but is ${came}.`)
}

/**
 * One thing is easily given in place of a list of it.
 *
 * @throws ConfigurationError that names the option, what was expected and what came.
 */
export function checkList(name: string, value: unknown, what: string): void {
  if (!Array.isArray(value)) throw mistake(name, `a list of ${what}`, value)
}

/** @throws ConfigurationError that names the option, its choices and what came. */
export function checkOneOf(name: string, value: unknown, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value as string)) return
  throw mistake(name, `${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}`, value)
}

/** @param least what it must not be below. @throws ConfigurationError that names the option, what was expected and what came. */
export function checkNumber(name: string, value: unknown, least: number): void {
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= least)) return
  throw mistake(name, `a number${least === -Infinity ? '' : ` of at least ${least}`}`, value, describe(value))
}

const TYPES = { string: 'a text', boolean: 'true or false', function: 'a function' } as const

/** @throws ConfigurationError that names the option, what was expected and what came. */
export function checkType(name: string, value: unknown, type: keyof typeof TYPES): void {
  if (value !== undefined && typeof value !== type) throw mistake(name, TYPES[type], value)
}

/**
 * Checks a store or a journal. Most often nobody has waited for its promise.
 *
 * @param method that tells one from anything else.
 * @param maker what makes one, for the message.
 * @throws ConfigurationError that names the option, what was expected and what came.
 */
export function checkPort(name: string, value: unknown, method: string, maker: string): void {
  if (value === undefined || typeof Reflect.get(Object(value), method) === 'function') return
  const received = isRecord(value) && !isPromise(value) ? `an object without the method \`${method}\`` : undefined
  throw mistake(name, `what ${maker} resolves to`, value, received)
}

/** Checks the value of one option that was given. @throws ConfigurationError that names it, what was expected and what came. */
export type Check = (name: string, value: unknown) => void
/** A check for each option; the compiler sees to it that none is missing. */
export type Checks<Options> = { readonly [Name in keyof Options]-?: Check }

/** Is checked elsewhere, or may be anything. */
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

/** An object with these options and no others. */
export function objectOf<Options>(checks: Checks<Options>): Check {
  return (name, value) => {
    checkNames(`\`${name}\``, value as object, Object.keys(checks))
    checkGiven(value as object, checks, `${name}.`)
  }
}

/** An object with values of one kind under names of the caller's choice. */
export function recordOf(check: Check): Check {
  return (name, value) => {
    checkObject(`\`${name}\``, value)
    for (const [key, each] of Object.entries(value as object)) check(`${name}[${JSON.stringify(key)}]`, each)
  }
}

/** Checks the options of the table that were given; names that the table does not know are not looked at. */
export function checkGiven(options: object, checks: Readonly<Record<string, Check>>, path = ''): void {
  for (const [name, check] of Object.entries(checks)) {
    const value: unknown = Reflect.get(options, name)
    if (value !== undefined) check(path + name, value)
  }
}
