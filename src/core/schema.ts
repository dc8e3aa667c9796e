/** Schemas from callers: any Standard Schema (https://standardschema.dev), or a plain JSON Schema object. */

import { ConfigurationError } from './error.ts'
import type { JsonObject } from './json.ts'

/** The part of the Standard Schema interface, version 1, that we use. */
export interface StandardSchema<Output = unknown> {
  /** The interface, under the name given by the specification. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
    /** From the Standard JSON Schema extension, if the library supports it. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
  }
}

/** The result of validating a value with a Standard Schema. */
export type SchemaResult<Output> =
  | {
      /** The value that the schema returns, with defaults and conversions. */
      readonly value: Output
      /** Faults of the value; `undefined` if there are none. */
      readonly issues?: undefined
    }
  | { readonly issues: readonly SchemaIssue[] }

/** A fault of a value under a schema. */
export interface SchemaIssue {
  /** Describes what was expected. */
  readonly message: string
  /** Path within the value; absent: the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Formats an issue in one line, with its path. */
export function issueLine({ path, message }: SchemaIssue): string {
  const place = (path ?? []).map((key) => String(typeof key === 'object' ? key.key : key)).join('.')
  return place === '' ? message : `${place}: ${message}`
}

/** A JSON Schema object, draft 2020-12 or 7. */
export type JsonSchema = JsonObject

/** A Standard Schema (Zod, Valibot, ArkType) or a JSON Schema object. */
export type Schema<Output = unknown> = StandardSchema<Output> | JsonSchema

/**
 * The type of the values that a JSON Schema literal describes: `type`, `properties` with `required`, `items`, `enum`, `const`, `anyOf` and `oneOf`.
 * `unknown` for other keywords, and for a schema whose type is only `JsonSchema`.
 */
export type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
      ? FromJsonSchema<Branch>
      : S extends { readonly type: readonly (infer Type)[] }
        ? OfType<S, Type>
        : S extends { readonly type: infer Type }
          ? OfType<S, Type>
          : unknown

/** Distributes over a union of type names. */
type OfType<S, Type> = Type extends keyof Primitives
  ? Primitives[Type]
  : Type extends 'array'
    ? (S extends { readonly items: infer Items } ? FromJsonSchema<Items> : unknown)[]
    : Type extends 'object'
      ? S extends { readonly properties: infer Properties }
        ? ObjectOf<Properties, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
        : Record<string, unknown>
      : unknown

interface Primitives {
  readonly string: string
  readonly number: number
  readonly integer: number
  readonly boolean: boolean
  readonly null: null
}

type ObjectOf<Properties, Required> = Simple<
  { -readonly [Name in keyof Properties as Name extends Required ? Name : never]: FromJsonSchema<Properties[Name]> } & {
    -readonly [Name in keyof Properties as Name extends Required ? never : Name]?: FromJsonSchema<Properties[Name]>
  }
>

/** Flattens an intersection to one object type, for readable hover texts. */
type Simple<T> = { [Name in keyof T]: T[Name] }

export function isStandardSchema(value: unknown): value is StandardSchema {
  // Some libraries make schemas callable, so a function counts too.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as { '~standard'?: unknown })['~standard']
  return typeof standard === 'object' && standard !== null && typeof (standard as { validate?: unknown }).validate === 'function'
}

/** Libraries that support JSON Schema in newer versions: without it, an older version is installed. */
const LEARNED_LATE: ReadonlySet<string> = new Set(['zod', 'arktype'])

/**
 * Converts a schema to JSON Schema, as sent to models. For a library that cannot convert its schemas, returns an empty schema:
 * the library still validates the arguments, and its issues are sent to the model.
 *
 * @param owner named in the error: `tool "search"`.
 * @throws ConfigurationError for a Standard Schema that JSON Schema cannot express, and for a value that is not a schema.
 */
export function jsonSchemaOf(schema: unknown, owner: string): JsonSchema {
  if (isStandardSchema(schema)) {
    const { jsonSchema, vendor } = schema['~standard']
    if (jsonSchema !== undefined) return ownJsonSchema(jsonSchema, owner, vendor)
    if (vendor === 'valibot') return valibotToJsonSchema(schema)
    if (LEARNED_LATE.has(vendor)) {
      throw new ConfigurationError(
        `The schema of ${owner} (${vendor}) cannot be turned into JSON Schema: use a newer version of the library, or give a JSON Schema object.`,
      )
    }
    return {}
  }
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema as JsonSchema
  throw new ConfigurationError(
    `The schema of ${owner} must be a Standard Schema (Zod, Valibot, ArkType) or a JSON Schema object, but is ${schema === null ? 'null' : typeof schema}.`,
  )
}

type StandardJsonSchema = NonNullable<StandardSchema['~standard']['jsonSchema']>

/** Returns the JSON Schema that the library itself makes. */
function ownJsonSchema(jsonSchema: StandardJsonSchema, owner: string, vendor: string): JsonSchema {
  try {
    return jsonSchema.input({ target: 'draft-2020-12' }) as JsonSchema
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    throw new ConfigurationError(`The schema of ${owner} (${vendor}) cannot be turned into JSON Schema: ${reason}`, {
      cause: thrown,
    })
  }
}

// Converts Valibot schemas, which are plain objects of a public form (https://valibot.dev/api/), so that no further package is needed.
// Rules without a counterpart in JSON Schema are left out, since Valibot validates the arguments anyway.

type Node = { readonly [key: string]: unknown }

/** Types of members that may be absent from an object or from the end of a tuple. */
const ABSENT: ReadonlySet<unknown> = new Set(['optional', 'exact_optional', 'nullish'])

/** JSON Schema keywords of Valibot's pipe actions, for strings, arrays and numbers. */
const KEYWORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  string: { min_length: 'minLength', max_length: 'maxLength' },
  array: { min_length: 'minItems', max_length: 'maxItems' },
  number: {
    min_value: 'minimum',
    max_value: 'maximum',
    gt_value: 'exclusiveMinimum',
    lt_value: 'exclusiveMaximum',
    multiple_of: 'multipleOf',
  },
}
const FORMATS: Readonly<Record<string, string>> = { email: 'email', url: 'uri', uuid: 'uuid', iso_date: 'date' }

/** Describes the input of the schema; the result of a transformation is left out. */
function valibotToJsonSchema(schema: object): JsonObject {
  const node = schema as Node
  const described = base(node)
  const pipe = nodes(node['pipe'])
  let changed = false
  for (const action of pipe.slice(1)) {
    if (action['kind'] === 'metadata') Object.assign(described, metadata(action))
    else if (action['kind'] !== 'validation') changed = true
    else if (!changed) Object.assign(described, validation(action, described['type']))
  }
  return described
}

function base(node: Node): Record<string, JsonObject[string]> {
  const { type } = node
  if (typeof type !== 'string') return {}
  if (isNode(node['wrapped'])) return wrapped(type, node, node['wrapped'])
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return { type }
  if (type === 'literal') return isPlain(node['literal']) ? { const: node['literal'] } : {}
  if (type === 'picklist' || type === 'enum') {
    const options = Array.isArray(node['options']) ? node['options'].filter(isPlain) : []
    return { enum: options }
  }
  if (isNode(node['entries'])) return object(type, node['entries'])
  if (type === 'record') return { type: 'object', ...(isNode(node['value']) ? { additionalProperties: of(node['value']) } : {}) }
  if (type === 'array') return { type, ...(isNode(node['item']) ? { items: of(node['item']) } : {}) }
  if (type.endsWith('tuple') || type === 'tuple_with_rest') {
    const items = nodes(node['items'])
    const last = items.findLastIndex((item) => !ABSENT.has(item['type']))
    return { type: 'array', prefixItems: items.map(of), minItems: last + 1 }
  }
  if (type === 'union' || type === 'variant') return { anyOf: nodes(node['options']).map(of) }
  if (type === 'intersect') return { allOf: nodes(node['options']).map(of) }
  return {}
}

function object(type: string, entries: Node): Record<string, JsonObject[string]> {
  const members = Object.entries(entries).filter((entry): entry is [string, Node] => isNode(entry[1]))
  const required = members.filter(([, member]) => !ABSENT.has(member['type'])).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(([name, member]) => [name, of(member)])),
    required,
    ...(type === 'strict_object' ? { additionalProperties: false } : {}),
  }
}

function wrapped(type: string, node: Node, inner: Node): Record<string, JsonObject[string]> {
  const described = { ...of(inner), ...(isPlain(node['default']) ? { default: node['default'] } : {}) }
  return type === 'nullable' || type === 'nullish' ? { anyOf: [described, { type: 'null' }] } : described
}

function validation({ type, requirement }: Node, of: unknown): JsonObject {
  if (typeof type !== 'string') return {}
  if (type === 'integer' || type === 'safe_integer') return { type: 'integer' }
  if (type === 'non_empty') return of === 'array' ? { minItems: 1 } : { minLength: 1 }
  if (type === 'regex' && requirement instanceof RegExp) return requirement.flags === '' ? { pattern: requirement.source } : {}
  const format = FORMATS[type]
  if (format !== undefined) return { format }
  const keyword = KEYWORDS[of === 'integer' ? 'number' : String(of)]?.[type]
  return keyword !== undefined && typeof requirement === 'number' ? { [keyword]: requirement } : {}
}

function metadata({ type, ...rest }: Node): JsonObject {
  if (type === 'description' && typeof rest['description'] === 'string') return { description: rest['description'] }
  if (type === 'title' && typeof rest['title'] === 'string') return { title: rest['title'] }
  const { description } = isNode(rest['metadata']) ? rest['metadata'] : {}
  return typeof description === 'string' ? { description } : {}
}

const of = (schema: Node): JsonObject => valibotToJsonSchema(schema)

function nodes(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : []
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

function isPlain(value: unknown): value is string | number | boolean | null {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
