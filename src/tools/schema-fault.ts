/** Finds schemas of tools that cannot be sent or checked. */

import type { JsonSchema } from '../core/schema.ts'
import { messageOf } from './output.ts'

/** @returns what goes behind `The schema of …`; `undefined` when there is nothing. */
export function faultIn(schema: JsonSchema): string | undefined {
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

/** A part of a schema. What stands in keywords that nobody knows (`errorMessage`, `discriminator`) may mean anything: only references are looked at. */
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

/** One, or a list of them. */
const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(
  (
    'items prefixItems additionalItems contains additionalProperties propertyNames unevaluatedItems unevaluatedProperties allOf anyOf oneOf not ' +
    'if then else contentSchema'
  ).split(' '),
)
const HOLDS_SCHEMAS_BY_NAME: ReadonlySet<string> = new Set(
  'properties patternProperties $defs definitions dependentSchemas dependencies'.split(' '),
)

/** What is wrong with a keyword whose value is a text. */
function faultOf(key: string, value: string, schema: JsonSchema): string | undefined {
  if (key === '$ref' && !resolves(value, schema)) {
    return `refers to ${quoted(value)}, which is not part of it. Put what it needs under "$defs" and refer to "#/$defs/…".`
  }
  if (key === 'type' && !TYPES.has(value)) return `has a type ${quoted(value)}, but there are only ${[...TYPES].join(', ')}.`
  if (key === 'pattern' && !isExpression(value)) {
    return `has a pattern ${quoted(value)}, which is no regular expression (with the flag "u", as JSON Schema has it).`
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

/** Keywords whose values are no schemas; those of others begin with `x-`. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples'])

/** Names and anchors cannot be followed here; only what is clearly elsewhere, or a path to nothing, is refused. */
function resolves(reference: string, schema: JsonSchema): boolean {
  if (!reference.startsWith('#')) return typeof schema['$id'] === 'string'
  return (reference !== '#' && !reference.startsWith('#/')) || targetOf(reference, schema) !== undefined
}

/** The part of a schema that a reference such as `#/$defs/a` means; `undefined` where there is none, or elsewhere. */
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

function quoted(text: string): string {
  return JSON.stringify(text).slice(0, 100)
}
