/** Reads the words of a command line by the options and arguments that a command declares. */

import { parseArgs } from 'node:util'
import type { ParseArgsOptionsConfig } from 'node:util'
import { ConfigurationError } from '../core/error.ts'
import { nearest } from '../util/nearest.ts'
import type { Command, CommandInput, OptionSpec, OptionSpecs } from './command.ts'

type Values = Record<string, boolean | number | string | readonly string[] | undefined>

/**
 * @throws ConfigurationError that says what is wrong and which option may have been meant.
 */
export function parseCommandLine(command: Command, words: readonly string[]): CommandInput<OptionSpecs> {
  const { options } = command
  const { tokens } = parseArgs({
    args: [...words],
    options: toParseArgs(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })

  const values: Values = {}
  for (const [name, spec] of Object.entries(options)) {
    if (spec.type === 'flag') values[name] = false
    else if (spec.type === 'texts') values[name] = []
  }

  const positionals: string[] = []
  // Words that follow a list option may belong to it (`--docs a b`) or be arguments (`--docs a "question"`).
  let list: string | undefined
  const tail: { readonly word: string; readonly list: string }[] = []
  // The word behind it is its value, if there is one.
  let open: string | undefined
  for (const token of tokens) {
    const optional = open
    open = undefined
    if (token.kind === 'option-terminator') {
      list = undefined
    } else if (token.kind === 'positional') {
      if (optional !== undefined) values[optional] = token.value
      else if (list === undefined) positionals.push(token.value)
      else tail.push({ word: token.value, list })
    } else {
      const spec = Object.hasOwn(options, token.name) ? options[token.name] : undefined
      if (spec === undefined) {
        if (isNegativeNumber(token.rawName)) {
          positionals.push(token.rawName)
          continue
        }
        throw unknownOption(command, token.rawName)
      }
      values[token.name] = readValue(token.rawName, spec, token.value, token.inlineValue === true, values[token.name])
      list = spec.type === 'texts' && token.inlineValue !== true ? token.name : undefined
      open = spec.type === 'optional' && token.inlineValue !== true ? token.name : undefined
    }
  }
  shareOut(command, positionals, tail, values)
  checkArguments(command, positionals)
  return { arguments: positionals, options: values }
}

/** Gives the words after a list option to the list, save the last ones that the command needs as arguments. */
function shareOut(
  command: Command,
  positionals: string[],
  tail: { readonly word: string; readonly list: string }[],
  values: Values,
): void {
  const needed = (command.arguments ?? []).filter(({ required, claims }) => required !== false || claims === true).length
  const missing = Math.max(0, needed - positionals.length)
  const given = tail.splice(Math.max(0, tail.length - missing))
  for (const { word, list } of tail) values[list] = [...(values[list] as readonly string[]), word]
  positionals.push(...given.map(({ word }) => word))
}

function readValue(
  raw: string,
  spec: OptionSpec,
  value: string | undefined,
  inline: boolean,
  before: Values[string],
): Values[string] {
  if (spec.type === 'flag') {
    if (value !== undefined)
      throw new ConfigurationError(`${raw} is a switch and takes no value, but got ${JSON.stringify(value)}.`)
    return true
  }
  if (spec.type === 'optional') {
    if (before !== undefined) throw new ConfigurationError(`${raw} is given twice.`)
    return value ?? ''
  }
  const what = `${raw} needs a value: ${raw} ${spec.value ?? 'VALUE'}`
  if (value === undefined || value === '') throw new ConfigurationError(`${what}.`)
  if (!inline && value.length > 1 && value.startsWith('-') && !isNegativeNumber(value)) {
    throw new ConfigurationError(`${what}, but ${value} follows. If that is the value, write ${raw}=${value}`)
  }
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    throw new ConfigurationError(`${raw} must be one of ${spec.choices.join(', ')}, but is ${JSON.stringify(value)}.`)
  }
  if (spec.type === 'texts') return [...(before as readonly string[]), value]
  if (before !== undefined) throw new ConfigurationError(`${raw} is given twice.`)
  return spec.type === 'text' ? value : readNumber(raw, spec, value)
}

function readNumber(raw: string, spec: OptionSpec, value: string): number {
  const number = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : Number.NaN
  const fits =
    (spec.type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)) &&
    number >= (spec.min ?? -Infinity) &&
    number <= (spec.max ?? Infinity)
  if (!fits) {
    const kind = spec.type === 'integer' ? 'a whole number' : 'a number'
    const range =
      spec.max === undefined
        ? spec.min === undefined
          ? ''
          : ` of at least ${spec.min}`
        : ` from ${spec.min ?? '-∞'} to ${spec.max}`
    throw new ConfigurationError(`${raw} must be ${kind}${range}, but is ${JSON.stringify(value.slice(0, 60))}.`)
  }
  return number
}

function checkArguments(command: Command, given: readonly string[]): void {
  const specs = command.arguments ?? []
  const missing = specs.find((spec, index) => spec.required !== false && given[index] === undefined)
  if (missing !== undefined) {
    throw new ConfigurationError(`<${missing.name}> is missing: ${missing.about}.`, {
      hint: `See: cria ${command.name} --help`,
    })
  }
  const extra = specs.at(-1)?.many === true ? undefined : given[specs.length]
  if (extra !== undefined) {
    const quotes = specs.length > 0 ? ' Put an argument of several words in quotes.' : ''
    throw new ConfigurationError(`There is no use for ${JSON.stringify(extra.slice(0, 60))} here.${quotes}`, {
      hint: `See: cria ${command.name} --help`,
    })
  }
}

function unknownOption(command: Command, raw: string): ConfigurationError {
  const names = Object.keys(command.options)
  const close = nearest(raw.replace(/^-+/, ''), names)
  const meant = close === undefined ? '' : ` Did you mean --${close}?`
  return new ConfigurationError(`There is no option ${raw.slice(0, 60)} here.${meant}`, {
    hint: `See: cria ${command.name} --help`,
  })
}

/** A digit after a dash is a number (`cria logs rate ID -1`), no option: none of ours is called by a digit. */
function isNegativeNumber(word: string): boolean {
  return /^-\d+(\.\d+)?$/.test(word)
}

function toParseArgs(options: OptionSpecs): ParseArgsOptionsConfig {
  return Object.fromEntries(
    Object.entries(options).map(([name, spec]) => [
      name,
      {
        type: spec.type === 'flag' || spec.type === 'optional' ? 'boolean' : 'string',
        ...(spec.short === undefined ? {} : { short: spec.short }),
      },
    ]),
  )
}
