/** Defines the type of a command: its arguments, options and examples as data, and the function that runs it. */

import type { Io } from './io.ts'
import { ConfigurationError, isCriaError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import { defined } from '../util/check.ts'

/** `optional`: an option whose value may be left out; the value is then empty. */
export type OptionType = 'flag' | 'text' | 'optional' | 'texts' | 'integer' | 'number'

export interface OptionSpec {
  readonly type: OptionType
  /** One letter. */
  readonly short?: string
  /** Name of the value in help texts; required for all but flags. */
  readonly value?: string
  readonly about: string
  /** A number is the default value of the option; a text is only shown in help texts. */
  readonly default?: string | number
  readonly min?: number
  readonly max?: number
  /** The accepted values; default: any. */
  readonly choices?: readonly string[]
}

export interface ArgumentSpec {
  readonly name: string
  readonly about: string
  /** Default true. */
  readonly required?: boolean
  /** Takes all remaining words. */
  readonly many?: boolean
  /** Words for shell completion; default: files. */
  readonly offers?: 'stores' | 'templates' | (() => readonly string[])
  /** An optional argument that may take the last value of a list option before it: in `--docs a b "question"` it gets "question". */
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
  /** Words typed after `cria`: `logs show`. */
  readonly name: string
  readonly arguments?: readonly ArgumentSpec[]
  readonly options: Options
  /** Pairs of options that exclude each other, with the reason. */
  readonly excludes?: readonly (readonly [one: keyof Options & string, other: keyof Options & string, why?: string])[]
  /** Paragraphs for `--help`. */
  readonly details?: string
  /** Whole command lines. */
  readonly examples: readonly string[]
  /** Resolves to the exit code, or to `undefined` for 0. A thrown error becomes a message and an exit code. */
  run(input: CommandInput<Options>, io: Io): Promise<number | void>
}

/** A command without the types of its options. */
export interface Command extends Omit<CommandSpec<OptionSpecs>, 'run'> {
  run(input: CommandInput<OptionSpecs>, io: Io): Promise<number>
}

/** Defines a command. The declared options determine the type of the input of `run`; the parser returns values of these types. */
export function defineCommand<const Options extends OptionSpecs>(spec: CommandSpec<Options>): Command {
  return { ...spec, run: async (input, io) => (await spec.run(input as CommandInput<Options>, io)) ?? 0 }
}

/** Returns the `--json` option of a command. @param shape members of the printed object. */
export function jsonOption(shape: string): { readonly type: 'flag'; readonly about: string } {
  return { type: 'flag', about: `print one JSON object: ${shape}` }
}

/** For `catch`: rethrows an error with this code as ConfigurationError (wrong usage), any other error unchanged. */
export function asWrongUsage(code: ErrorCode): (thrown: unknown) => never {
  return (thrown) => {
    if (!isCriaError(thrown) || thrown.code !== code) throw thrown
    const { message, hint } = thrown
    throw new ConfigurationError(message, { ...defined({ hint }), cause: thrown })
  }
}
