/** Types a command: its arguments, options and examples as data, and the function that runs it. */

import type { Io } from './io.ts'
import { ConfigurationError, isCriaError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import { defined } from '../util/check.ts'

/** `optional`: a text that may be left out; it is then empty. */
export type OptionType = 'flag' | 'text' | 'optional' | 'texts' | 'integer' | 'number'

export interface OptionSpec {
  readonly type: OptionType
  /** One letter. */
  readonly short?: string
  /** Name of the value in help texts; required for all but flags. */
  readonly value?: string
  readonly about: string
  /** A number is the value of an option that is not given; a text is only shown in help texts. */
  readonly default?: string | number
  readonly min?: number
  readonly max?: number
  /** The only values that are taken. */
  readonly choices?: readonly string[]
}

export interface ArgumentSpec {
  readonly name: string
  readonly about: string
  /** Default true. */
  readonly required?: boolean
  /** Takes all that is left. */
  readonly many?: boolean
  /** Words that a shell completes it with; default: files. */
  readonly offers?: 'stores' | 'templates' | (() => readonly string[])
  /** May be left out, but gets the last word behind a list option where there is one: `--docs a b "question"`. */
  readonly claims?: boolean
}

type ValueOf<Spec extends OptionSpec> = {
  flag: boolean
  text: Spec extends { readonly choices: readonly (infer Choice)[] } ? Choice | undefined : string | undefined
  optional: string | undefined
  texts: readonly string[]
  integer: NumberOf<Spec>
  number: NumberOf<Spec>
}[Spec['type']]

type NumberOf<Spec extends OptionSpec> = Spec extends { readonly default: number } ? number : number | undefined

export type OptionSpecs = Readonly<Record<string, OptionSpec>>
export type OptionValues<Options extends OptionSpecs> = { readonly [Name in keyof Options]: ValueOf<Options[Name]> }

export interface CommandInput<Options extends OptionSpecs> {
  readonly arguments: readonly string[]
  readonly options: OptionValues<Options>
}

export interface CommandSpec<Options extends OptionSpecs> {
  /** As it is typed after `cria`: `logs show`. */
  readonly name: string
  readonly arguments?: readonly ArgumentSpec[]
  readonly options: Options
  /** Pairs of options of which only one may be given, and why. */
  readonly excludes?: readonly (readonly [one: keyof Options & string, other: keyof Options & string, why?: string])[]
  /** Paragraphs for `--help`. */
  readonly details?: string
  /** Whole command lines. */
  readonly examples: readonly string[]
  /** Resolves to the exit code, or to nothing for 0; whatever it throws becomes a message and an exit code. */
  run(input: CommandInput<Options>, io: Io): Promise<number | void>
}

/** A command whose options have been forgotten by the type system. */
export interface Command extends Omit<CommandSpec<OptionSpecs>, 'run'> {
  run(input: CommandInput<OptionSpecs>, io: Io): Promise<number>
}

/** Gives `run` the types of the options that the command declares; the parser makes values that fit them. */
export function defineCommand<const Options extends OptionSpecs>(spec: CommandSpec<Options>): Command {
  return { ...spec, run: async (input, io) => (await spec.run(input as CommandInput<Options>, io)) ?? 0 }
}

/** The option `--json` of a command. @param shape of the object that is printed. */
export function jsonOption(shape: string): { readonly type: 'flag'; readonly about: string } {
  return { type: 'flag', about: `print one JSON object: ${shape}` }
}

/** For `catch`: an error with this code is thrown on as wrong usage, any other as it is. */
export function asWrongUsage(code: ErrorCode): (thrown: unknown) => never {
  return (thrown) => {
    if (!isCriaError(thrown) || thrown.code !== code) throw thrown
    const { message, hint } = thrown
    throw new ConfigurationError(message, { ...defined({ hint }), cause: thrown })
  }
}
