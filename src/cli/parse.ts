/** Parses the words of a command line by the declared options and arguments of a command. */

import { parseArgs } from 'node:util'
import type { ParseArgsOptionsConfig } from 'node:util'
import { ConfigurationError } from '../core/error.ts'
import type { Command, CommandInput, OptionSpec, OptionSpecs } from './command.ts'
import { didYouMean, quoted } from './format.ts'

type Values = Record<string, boolean | number | string | readonly string[] | undefined>

/**
 * @throws ConfigurationError that names the mistake and suggests the closest option.
 */
export function parseCommandLine(command: Command, words: readonly string[]): CommandInput<OptionSpecs> {
  const specs = new Map(Object.entries(command.options))
  const values: Values = {}
  for (const [name, { type }] of specs) {
    if (type === 'flag') values[name] = false
    else if (type === 'texts') values[name] = []
  }
  const options = toParseArgs(specs)
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true })
  const positionals: string[] = []
  // Words that follow a list option may belong to it (`--docs a b`) or be arguments (`--docs a "question"`).
  const tail: { readonly word: string; readonly list: string }[] = []
  // The option that takes the following words: a list option takes all, an option with an optional value takes one.
  let open: string | undefined
  for (const token of tokens) {
    if (token.kind === 'option-terminator') {
      open = undefined
    } else if (token.kind === 'positional') {
      if (open === undefined) positionals.push(token.value)
      else if (specs.get(open)?.type === 'texts') tail.push({ word: token.value, list: open })
      else {
        values[open] = token.value
        open = undefined
      }
    } else {
      const { name, rawName, value, inlineValue } = token
      const spec = specs.get(name)
      if (spec !== undefined) {
        values[name] = readValue(rawName, spec, { value, isInline: inlineValue === true, before: values[name] })
        open = inlineValue !== true && (spec.type === 'texts' || spec.type === 'optional') ? name : undefined
      } else if (isNegativeNumber(rawName)) positionals.push(rawName)
      else throw unknownOption(command, rawName)
    }
  }
  // The last words after a list option are arguments, as many as the command needs.
  const needed = (command.arguments ?? []).filter(({ required, claims }) => required !== false || claims === true).length
  const claimed = tail.splice(Math.max(0, tail.length - Math.max(0, needed - positionals.length)))
  for (const { word, list } of tail) values[list] = [...(values[list] as readonly string[]), word]
  positionals.push(...claimed.map(({ word }) => word))

  checkArguments(command, positionals)
  checkExclusions(command, values)
  for (const [name, spec] of specs) if (typeof spec.default === 'number') values[name] ??= spec.default
  return { arguments: positionals, options: values }
}

function toParseArgs(specs: ReadonlyMap<string, OptionSpec>): ParseArgsOptionsConfig {
  const options = [...specs].map(([name, { type, short }]) => {
    const takesNone = type === 'flag' || type === 'optional'
    return [name, { type: takesNone ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) }] as const
  })
  return Object.fromEntries(options)
}

function readValue(
  raw: string,
  spec: OptionSpec,
  {
    value,
    isInline,
    before,
  }: { readonly value: string | undefined; readonly isInline: boolean; readonly before: Values[string] },
): Values[string] {
  if (spec.type === 'flag') {
    if (value === undefined) return true
    throw new ConfigurationError(`${raw} is a switch and takes no value, but got ${JSON.stringify(value)}.`)
  }
  if (spec.type !== 'optional') {
    const what = `${raw} needs a value: ${raw} ${spec.value ?? 'VALUE'}`
    if (value === undefined || value === '') throw new ConfigurationError(`${what}.`)
    if (!isInline && value.length > 1 && value.startsWith('-') && !isNegativeNumber(value))
      throw new ConfigurationError(`${what}, but ${value} follows. If that is the value, write ${raw}=${value}`)
    if (spec.choices !== undefined && !spec.choices.includes(value))
      throw new ConfigurationError(`${raw} must be one of ${spec.choices.join(', ')}, but is ${JSON.stringify(value)}.`)
    if (spec.type === 'texts') return [...(before as readonly string[]), value]
  }
  if (before !== undefined) throw new ConfigurationError(`${raw} is given twice.`)
  return spec.type === 'integer' || spec.type === 'number' ? readNumber(raw, spec, value ?? '') : (value ?? '')
}

function readNumber(raw: string, { type, min = -Infinity, max = Infinity }: OptionSpec, value: string): number {
  const number = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : Number.NaN
  const isKind = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)
  if (isKind && number >= min && number <= max) return number
  const atLeast = min === -Infinity ? '' : ` of at least ${min}`
  const range = max === Infinity ? atLeast : ` from ${min} to ${max}`
  throw new ConfigurationError(
    `${raw} must be ${type === 'integer' ? 'a whole number' : 'a number'}${range}, but is ${quoted(value)}.`,
  )
}

function checkArguments(command: Command, given: readonly string[]): void {
  const specs = command.arguments ?? []
  const missing = specs.find((spec, index) => spec.required !== false && given[index] === undefined)
  if (missing !== undefined)
    throw new ConfigurationError(`<${missing.name}> is missing: ${missing.about}.`, { hint: seeHelp(command) })
  const extra = specs.at(-1)?.many === true ? undefined : given[specs.length]
  if (extra === undefined) return
  const quotes = specs.length > 0 ? ' Put an argument of several words in quotes.' : ''
  throw new ConfigurationError(`Unexpected argument ${quoted(extra)}.${quotes}`, {
    hint: seeHelp(command),
  })
}

function checkExclusions({ excludes = [] }: Command, values: Values): void {
  const isGiven = (name: string): boolean => {
    const value = values[name]
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false
  }
  for (const [one, other, why] of excludes) {
    if (isGiven(one) && isGiven(other))
      throw new ConfigurationError(`--${one} and --${other} exclude each other${why === undefined ? '' : `: ${why}`}.`)
  }
}

function unknownOption(command: Command, raw: string): ConfigurationError {
  const meant = didYouMean(raw.replace(/^-+/, ''), Object.keys(command.options), '--')
  return new ConfigurationError(`There is no option ${raw.slice(0, 60)} here.${meant}`, { hint: seeHelp(command) })
}

function seeHelp({ name }: Command): string {
  return `See: cria ${name} --help`
}

/** Returns whether a word is a negative number (`cria logs rate ID -1`): no option name begins with a digit. */
function isNegativeNumber(word: string): boolean {
  return /^-\d+(\.\d+)?$/.test(word)
}
