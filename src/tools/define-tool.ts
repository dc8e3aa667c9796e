/** Describes a tool, and tells at once what is wrong with the description. */

import { ConfigurationError } from '../core/error.ts'
import { isStandardSchema, jsonSchemaOf } from '../core/schema.ts'
import type { FromJsonSchema, JsonSchema, Schema, StandardSchema } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'
import { faultIn } from './schema-fault.ts'
import { misspelt, namesOf } from '../util/nearest.ts'

/** A JSON Schema literal, which gives the input of `call` its type. */
type ObjectSchema = JsonSchema & { readonly type: 'object'; readonly properties: JsonSchema }
type Description<Input> = Omit<Tool<Input>, 'inputSchema'>

/** A JSON Schema whose type is an interface, `JSONSchema7` for example: anything but a schema that has a type of its own. */
type JsonSchemaObject = object & { readonly '~standard'?: never }

/**
 * Checks the description of a tool and returns it. Its `call` gets what `inputSchema` describes: any Standard Schema (Zod, Valibot, ArkType) or a JSON Schema object. A plain
 * object with the same fields is a tool too.
 *
 * @throws ConfigurationError that names the tool, what was expected and what came.
 */
export function defineTool<Input>(tool: Description<Input> & { readonly inputSchema: StandardSchema<Input> }): Tool<Input>
export function defineTool<const Literal extends ObjectSchema>(
  tool: Description<FromJsonSchema<Literal>> & { readonly inputSchema: Literal },
): Tool<FromJsonSchema<Literal>>
export function defineTool<Input = Readonly<Record<string, unknown>>>(
  tool: Description<Input> & { readonly inputSchema: JsonSchema | JsonSchemaObject },
): Tool<Input>
export function defineTool<Input>(tool: Description<Input> & { readonly inputSchema: object }): Tool<Input> {
  const described = tool as Tool<Input>
  checkTool(described)
  return described
}

const MAX_NAME = 64
const FIELDS = namesOf<Tool>({
  name: true,
  description: true,
  inputSchema: true,
  resources: true,
  subjects: true,
  isReadOnly: true,
  needsPermission: true,
  isIdempotent: true,
  pin: true,
  confinement: true,
  timeout: true,
  maxResultChars: true,
  preview: true,
  call: true,
})

/** @throws ConfigurationError that names the tool, what was expected and what came. */
export function checkTool(tool: Tool): void {
  if (typeof tool !== 'object' || tool === null) {
    throw new ConfigurationError(
      `A tool must be an object, as defineTool() takes it, but is ${tool === null ? 'null' : typeof tool}.`,
    )
  }
  const { name } = tool
  if (typeof name !== 'string' || !/^[\w-]+$/.test(name) || name.length > MAX_NAME) {
    throw new ConfigurationError(`A tool cannot be called ${shown(name)}: use 1 to ${MAX_NAME} letters, digits, "_" or "-".`)
  }
  const owner = `tool ${JSON.stringify(name)}`
  // Objects of a library or a class may well hold more than a tool needs.
  const slip = misspelt(tool, FIELDS)
  if (slip !== undefined) throw new ConfigurationError(`${owner} has no option \`${slip.key}\`: did you mean \`${slip.meant}\`?`)
  for (const [option, expected, fits] of CHECKS) {
    const value: unknown = tool[option]
    const mayBeAbsent = option !== 'description' && option !== 'call'
    if (!(value === undefined && mayBeAbsent) && !fits(value))
      throw new ConfigurationError(`\`${option}\` of ${owner} must be ${expected}, but is ${shown(value)}.`)
  }
  checkSchema(tool.inputSchema, owner)
}

const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isFunction = (value: unknown): boolean => typeof value === 'function'

const CHECKS: readonly (readonly [option: keyof Tool, expected: string, fits: (value: unknown) => boolean])[] = [
  ['isReadOnly', 'true or false', isFlag],
  ['isIdempotent', 'true or false', isFlag],
  ['needsPermission', 'true, false or a function', (value) => isFlag(value) || isFunction(value)],
  ['description', 'a text', (value) => typeof value === 'string'],
  ['call', 'a function', isFunction],
  ['resources', 'a function', isFunction],
  ['subjects', 'a function', isFunction],
  ['preview', 'a function', isFunction],
  ['timeout', 'a number of milliseconds above 0', (value) => Number(value) > 0],
  ['maxResultChars', 'a number of characters of at least 1', (value) => Number(value) >= 1],
]

function checkSchema(given: Schema, owner: string): void {
  const schema = jsonSchemaOf(given, owner)
  const type = schema['type']
  if (type !== undefined && type !== 'object') {
    throw new ConfigurationError(`The schema of ${owner} must describe an object, but its type is ${shown(type)}.`)
  }
  // A library sees to its own schemas.
  const fault = isStandardSchema(given) ? undefined : faultIn(schema)
  if (fault !== undefined) throw new ConfigurationError(`The schema of ${owner} ${fault}`)
}

function shown(value: unknown): string {
  if (typeof value === 'string' || value === null) return JSON.stringify(value).slice(0, 100)
  return typeof value === 'number' ? String(value) : typeof value
}
