/** Makes named prompt templates with typed variables. The journal numbers their versions; each turn records the versions it used. */

import { ConfigurationError } from '../core/error.ts'
import type { FilledPrompt, PromptVersion } from '../core/prompt.ts'
import { sha256 } from '../util/hash.ts'

type Trimmed<Text extends string> = Text extends ` ${infer Rest}` | `${infer Rest} ` ? Trimmed<Rest> : Text

/** Character sequences that the name of a variable must not contain or begin with; braces around them are plain text. */
type NoName = '' | `${string}${' ' | '"' | "'" | ':' | ',' | '.' | '(' | '{' | '-' | '\n'}${string}` | `${number}${string}`
type NameIn<Inner extends string> = Trimmed<Inner> extends NoName ? never : Trimmed<Inner>

/** The names of the variables in a template, written between double braces. */
export type PromptVariables<Template extends string> = Template extends `${string}{{${infer Inner}}}${infer Rest}`
  ? NameIn<Inner> | PromptVariables<Rest>
  : never

type Values<Template extends string> = string extends Template
  ? [values?: Readonly<Record<string, string | number>>]
  : [PromptVariables<Template>] extends [never]
    ? []
    : [values: Readonly<Record<PromptVariables<Template>, string | number>>]

/** A prompt: a function of the values of its variables. */
export interface Prompt<Template extends string = string> extends Omit<PromptVersion, 'name'> {
  (...values: Values<Template>): FilledPrompt
  /** The name passed to `prompt()`. */
  readonly promptName: string
}

const VARIABLE = /\{\{ *([A-Za-z_]\w*) *\}\}/g
const NAME = /^[\w.-][\w ./-]{0,79}$/

/**
 * Makes a prompt of a name and a template. `{{language}}` in the template is a variable; its value is inserted unchanged.
 *
 *     const review = prompt('review', 'Review this {{language}} code:\n{{code}}')
 *     await bot.ask(review({ language: 'Rust', code }))
 *     new SimpleBot({ systemPrompt: review({ language: 'Rust', code }) })
 *
 * @throws ConfigurationError for a name that is empty, longer than 80 characters or of other characters than letters, digits and ` _ . / -`.
 * The prompt itself throws when a value is missing, is neither text nor number, or belongs to no variable.
 */
export function prompt<const Template extends string>(name: string, template: Template): Prompt<Template> {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new ConfigurationError(
      `The name of a prompt has 1 to 80 letters, digits, spaces or _ . / -, but is ${JSON.stringify(name)?.slice(0, 100)}.`,
    )
  }
  if (typeof template !== 'string') throw new ConfigurationError(`prompt(${JSON.stringify(name)}) needs a template: a text.`)
  const variables = new Set([...template.matchAll(VARIABLE)].map(([, variable = '']) => variable))
  const version: PromptVersion = { name, hash: sha256(template), template }
  const fill = (values: Readonly<Record<string, string | number>> = {}): FilledPrompt => {
    check(name, variables, values)
    const text = template.replaceAll(VARIABLE, (_, variable: string) => String(values[variable]))
    return { ...version, text, toString: () => text }
  }
  return Object.assign(fill as (...values: Values<Template>) => FilledPrompt, {
    promptName: name,
    hash: version.hash,
    template,
  })
}

function check(name: string, variables: ReadonlySet<string>, values: Readonly<Record<string, unknown>>): void {
  const of = `of the prompt ${JSON.stringify(name)}`
  const isRecord = typeof values === 'object' && values !== null
  for (const variable of variables) {
    const value = isRecord && Object.hasOwn(values, variable) ? values[variable] : undefined
    if (typeof value === 'string' || typeof value === 'number') continue
    const got =
      value === undefined ? 'is missing' : `must be a text or a number, but is ${value === null ? 'null' : typeof value}`
    throw new ConfigurationError(`The variable ${variable} ${of} ${got}.`)
  }
  const unknown = isRecord ? Object.keys(values).find((key) => !variables.has(key)) : undefined
  if (unknown === undefined) return
  const known = variables.size === 0 ? 'it has none' : `it has ${[...variables].join(', ')}`
  throw new ConfigurationError(`There is no variable ${unknown} ${of}: ${known}.`)
}
