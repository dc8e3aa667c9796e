/** Defines tools, and checks a definition when it is made. */

import { ConfigurationError } from '../core/error.ts'
import { isStandardSchema, jsonSchemaOf } from '../core/schema.ts'
import type { FromJsonSchema, JsonSchema, Schema, StandardSchema } from '../core/schema.ts'
import type { Tool } from '../core/tool.ts'
import { misspelt } from '../util/nearest.ts'
import { messageOf } from './output.ts'

/** A JSON Schema literal, from which the input type of `call` is derived. */
type ObjectSchema = JsonSchema & { readonly type: 'object'; readonly properties: JsonSchema }
type Description<Input> = Omit<Tool<Input>, 'inputSchema'>

/** A JSON Schema whose type is an interface, `JSONSchema7` for example: anything but a schema that has a type of its own. */
type JsonSchemaObject = object & { readonly '~standard'?: never }

/**
 * Checks the definition of a tool and returns it. `inputSchema` is any Standard Schema (Zod, Valibot, ArkType) or a JSON Schema
 * object, and types the input of `call`. A plain object with the same fields is a tool too.
 *
 * @throws ConfigurationError that names the tool, what was expected and what came.
 */
export function defineTool<Input>(
  tool: Description<Input> & { readonly inputSchema: StandardSchema<Input> },
): Tool<Input, StandardSchema<Input>>
export function defineTool<const Literal extends ObjectSchema>(
  tool: Description<FromJsonSchema<Literal>> & { readonly inputSchema: Literal },
): Tool<FromJsonSchema<Literal>, Literal>
export function defineTool<Input = Readonly<Record<string, unknown>>>(
  tool: Description<Input> & { readonly inputSchema: JsonSchema | JsonSchemaObject },
): Tool<Input, JsonSchema>
export function defineTool<Input>(tool: Description<Input> & { readonly inputSchema: object }): Tool<Input> {
  const described = tool as Tool<Input>
  checkTool(described)
  return described
}

const MAX_NAME = 64
/** Returns the schema of an object with these properties and no others. */
export function inputOf<const Properties extends JsonSchema, const Name extends string>(
  properties: Properties,
  required: readonly Name[],
): { type: 'object'; properties: Properties; required: readonly Name[]; additionalProperties: false } {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** @throws ConfigurationError that names the tool, what was expected and what came. */
export function checkTool(tool: Tool): void {
  if (typeof tool !== 'object' || tool === null) {
    throw new ConfigurationError(
      `A tool must be an object, as defineTool() takes it, but is ${tool === null ? 'null' : typeof tool}.`,
    )
  }
  const { name } = tool
  if (typeof name !== 'string' || !/^[\w-]+$/.test(name) || name.length > MAX_NAME) {
    throw new ConfigurationError(`${shown(name)} is not a name for a tool: use 1 to ${MAX_NAME} letters, digits, "_" or "-".`)
  }
  const owner = `tool ${JSON.stringify(name)}`
  // Extra members are allowed: objects of a library or class may have them. Only likely misspellings are refused.
  const slip = misspelt(tool, Object.keys(FIELDS))
  if (slip !== undefined)
    throw new ConfigurationError(`Tool ${JSON.stringify(name)} has no option \`${slip.key}\`: did you mean \`${slip.meant}\`?`)
  for (const [field, check] of Object.entries(FIELDS)) {
    const value: unknown = tool[field as keyof Tool]
    if (check === undefined || (value === undefined && !REQUIRED.includes(field))) continue
    const [expected, fits] = check
    if (!fits(value)) throw new ConfigurationError(`\`${field}\` of ${owner} must be ${expected}, but is ${shown(value)}.`)
  }
  checkSchema(tool.inputSchema, owner)
}

type Check = readonly [expected: string, fits: (value: unknown) => boolean]

const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const A_FLAG: Check = ['true or false', isFlag]
const isFunction = (value: unknown): boolean => typeof value === 'function'
const A_FUNCTION: Check = ['a function', isFunction]

/** The fields of a tool, in the order in which they are checked; `undefined` for fields that are checked elsewhere. */
const FIELDS: Readonly<Record<keyof Tool, Check | undefined>> = {
  name: undefined,
  isReadOnly: A_FLAG,
  isIdempotent: A_FLAG,
  needsPermission: ['true, false or a function', (value) => isFlag(value) || isFunction(value)],
  description: ['a text', (value) => typeof value === 'string'],
  call: A_FUNCTION,
  resources: A_FUNCTION,
  subjects: A_FUNCTION,
  preview: A_FUNCTION,
  title: A_FUNCTION,
  showsResult: A_FLAG,
  asksUser: A_FLAG,
  timeout: ['a number of milliseconds above 0', (value) => Number(value) > 0],
  maxResultChars: ['a number of characters of at least 1', (value) => Number(value) >= 1],
  inputSchema: undefined,
  confinement: undefined,
  pin: undefined,
}
const REQUIRED: readonly string[] = ['description', 'call']

function checkSchema(given: Schema, owner: string): void {
  const schema = jsonSchemaOf(given, owner)
  const type = schema['type']
  if (type !== undefined && type !== 'object') {
    throw new ConfigurationError(`The schema of ${owner} must describe an object, but its type is ${shown(type)}.`)
  }
  // Standard Schemas are checked by their own library.
  const fault = isStandardSchema(given) ? undefined : faultIn(schema)
  if (fault !== undefined) throw new ConfigurationError(`The schema of ${owner} ${fault}`)
}

function shown(value: unknown): string {
  if (typeof value === 'string' || value === null) return JSON.stringify(value).slice(0, 100)
  return typeof value === 'number' ? String(value) : typeof value
}

/** Finds the first part of a schema that cannot be sent or checked. @returns the text after `The schema of …`, or `undefined`. */
function faultIn(schema: JsonSchema): string | undefined {
  try {
    JSON.stringify(schema)
  } catch (thrown) {
    return `cannot be written as JSON: ${messageOf(thrown).split('\n', 1)[0]}`
  }
  const left: Node[] = [{ value: schema, kind: 'schema' }]
  const seen = new Set<unknown>()
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    const { value, kind } = node
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    for (const [key, member] of Object.entries(value)) {
      const isRead = typeof member === 'string' && (kind === 'schema' || key === '$ref')
      const fault = isRead ? faultOf(key, member, schema) : undefined
      if (fault !== undefined) return fault
      const isName = kind === 'schemas by name'
      if (isName || (!DATA.has(key) && !key.startsWith('x-'))) left.push({ value: member, kind: kindOf(node, key) })
    }
  }
  return undefined
}

/** A part of a schema. In values of unknown keywords (`errorMessage`, `discriminator`) only references are checked. */
interface Node {
  readonly value: unknown
  readonly kind: 'schema' | 'schemas by name' | 'unknown'
}

function kindOf({ value, kind }: Node, key: string): Node['kind'] {
  if (Array.isArray(value)) return kind
  if (kind === 'schemas by name') return 'schema'
  if (kind === 'unknown') return kind
  return HOLDS_SCHEMAS.has(key) ? 'schema' : HOLDS_SCHEMAS_BY_NAME.has(key) ? 'schemas by name' : 'unknown'
}

/** Keywords whose value is a schema or a list of schemas. */
const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(
  (
    'items prefixItems additionalItems contains additionalProperties propertyNames unevaluatedItems unevaluatedProperties allOf anyOf oneOf not ' +
    'if then else contentSchema'
  ).split(' '),
)
const HOLDS_SCHEMAS_BY_NAME: ReadonlySet<string> = new Set(
  'properties patternProperties $defs definitions dependentSchemas dependencies'.split(' '),
)

/** Returns the problem with a keyword whose value is a string, or `undefined`. */
function faultOf(key: string, value: string, schema: JsonSchema): string | undefined {
  if (key === '$ref' && !resolves(value, schema)) {
    return `refers to ${shown(value)}, which is not part of it. Put what it needs under "$defs" and refer to "#/$defs/…".`
  }
  if (key === 'type' && !TYPES.has(value)) return `has a type ${shown(value)}, but there are only ${[...TYPES].join(', ')}.`
  if (key === 'pattern' && !isExpression(value)) {
    return `has a pattern ${shown(value)}, which is not a valid regular expression (JSON Schema uses the flag "u").`
  }
  return undefined
}

const TYPES: ReadonlySet<string> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

function isExpression(source: string): boolean {
  try {
    return new RegExp(source, 'u').source !== ''
  } catch {
    return false
  }
}

/** Keywords whose values are data, not schemas. Extension keywords begin with `x-`. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples'])

/** Returns false for references to another document and for paths without a target. Anchors cannot be followed and are accepted. */
function resolves(reference: string, schema: JsonSchema): boolean {
  if (!reference.startsWith('#')) return typeof schema['$id'] === 'string'
  return (reference !== '#' && !reference.startsWith('#/')) || targetOf(reference, schema) !== undefined
}

/** Returns the part of a schema that a reference such as `#/$defs/a` points to; `undefined` when it is missing or in another document. */
export function targetOf(reference: string, schema: object): unknown {
  if (!reference.startsWith('#')) return undefined
  let place: unknown = schema
  for (const key of reference.split('/').slice(1)) {
    const name = unescaped(key).replaceAll('~1', '/').replaceAll('~0', '~')
    place = typeof place === 'object' && place !== null ? (place as Record<string, unknown>)[name] : undefined
  }
  return place
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
