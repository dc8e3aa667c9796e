/**
 * JSON Schema of a Valibot schema. Valibot checks, but describes itself as plain objects only, whose form is public
 * (https://valibot.dev/api/): these are read, so that no further package is needed. What has no counterpart is left open, since Valibot
 * checks what comes anyway.
 */

import type { JsonObject } from './json.ts'

type Node = { readonly [key: string]: unknown }

/** What may be absent from an object, and from the end of a list. */
const ABSENT: ReadonlySet<unknown> = new Set(['optional', 'exact_optional', 'nullish'])

/** What an action of a pipe says about texts, about numbers and about lists. */
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

/** What goes in: what a transformation makes of it is not the caller's business. */
export function valibotToJsonSchema(schema: object): JsonObject {
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
