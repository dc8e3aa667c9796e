/** Mistakes that options share, whatever they are about: each is told with what was expected and what came. */

import { ConfigurationError } from '../core/error.ts'
import { describe, isRecord } from '../util/check.ts'
import { unknownOption } from '../util/nearest.ts'
import { isPromise } from '../util/promise.ts'

/**
 * JavaScript passes a name that there is not on without a word, and the option would have no effect.
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
 * One thing is easily given in place of a list of it.
 *
 * @throws ConfigurationError that names the option, what was expected and what came.
 */
export function checkList(name: string, value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new ConfigurationError(`\`${name}\` must be a list of ${what}, but is ${describe(value)}.`)
}

/** @throws ConfigurationError that names the option, its choices and what came. */
export function checkOneOf(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return
  throw new ConfigurationError(
    `\`${name}\` must be ${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}, but is ${describe(value)}.`,
  )
}

/** @param least what it must not be below. @throws ConfigurationError that names the option, what was expected and what came. */
export function checkNumber(name: string, value: number | undefined, least: number): void {
  if (value === undefined) return
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least) {
    const bound = least === -Infinity ? '' : ` of at least ${least}`
    throw new ConfigurationError(`\`${name}\` must be a number${bound}, but is ${describe(value)}.`)
  }
}

/** @throws ConfigurationError that names the option, what was expected and what came. */
export function checkType(name: string, value: unknown, type: 'string' | 'boolean' | 'function'): void {
  if (value === undefined || typeof value === type) return
  throw new ConfigurationError(
    `\`${name}\` must be ${TYPES[type]}, but is ${isPromise(value) ? 'a promise: await it' : describe(value)}.`,
  )
}

const TYPES = { string: 'a text', boolean: 'true or false', function: 'a function' } as const

/**
 * A store or a journal. What is most often wrong with these: nobody waited for the promise.
 *
 * @param method that tells one from anything else.
 * @param maker what makes one, for the message.
 * @throws ConfigurationError that names the option, what was expected and what came.
 */
export function checkPort(name: string, value: object | undefined, method: string, maker: string): void {
  if (value === undefined || typeof Reflect.get(Object(value), method) === 'function') return
  const received = isPromise(value)
    ? 'a promise: await it'
    : isRecord(value)
      ? `an object without the method \`${method}\``
      : describe(value)
  throw new ConfigurationError(`\`${name}\` must be what ${maker} resolves to, but is ${received}.`)
}
