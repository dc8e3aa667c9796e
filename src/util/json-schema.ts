/** Checks values against JSON Schema. The validator interprets the schema: nothing is compiled, so a schema cannot run code. */

import { Validator } from '@cfworker/json-schema'
import type { OutputUnit } from '@cfworker/json-schema'

const validators = new WeakMap<object, Validator>()

/** Returns a line `place: problem` for each mismatch; empty when the value fits. Each line is correct on its own. */
export function schemaProblems(schema: object, value: unknown): string[] {
  let validator = validators.get(schema)
  if (validator === undefined) {
    validator = new Validator(schema, '2020-12', false)
    validators.set(schema, validator)
  }
  const { valid, errors } = validator.validate(value)
  if (valid) return []
  const lines = linesOf(errors, { schema, value })
  return lines.length > 0 ? lines : ['the value: does not fit the schema']
}

interface Checked {
  readonly schema: object
  readonly value: unknown
}

/** Keywords that only report a mismatch inside them, which has its own line. */
const CONTAINERS: ReadonlySet<string> = new Set(
  'properties patternProperties items prefixItems $ref $dynamicRef allOf if dependentSchemas propertyNames'.split(' '),
)

function linesOf(errors: readonly OutputUnit[], checked: Checked): string[] {
  const lines: string[] = []
  const reported = new Set<string>()
  const refused = new Set(errors.flatMap(({ keyword, instanceLocation }) => (keyword === 'false' ? [instanceLocation] : [])))
  for (let at = 0; at < errors.length; at++) {
    const unit = errors[at] as OutputUnit
    const { keyword, keywordLocation, instanceLocation } = unit
    if (keyword === 'anyOf' || keyword === 'oneOf') {
      // A mismatch with a single branch is not a problem by itself: the branches are reported together.
      let end = at + 1
      while (errors[end]?.keywordLocation.startsWith(`${keywordLocation}/`) === true) end++
      lines.push(`${placeOf(instanceLocation)}: ${alternatives(unit, errors.slice(at + 1, end), checked)}`)
      at = end - 1
    } else if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
      const name = quotedIn(unit.error)
      const place = `${instanceLocation}/${escaped(name)}`
      if (refused.has(place)) {
        reported.add(place)
        lines.push(`${placeOf(place)}: is not a property that the schema allows`)
      }
    } else if (keyword === 'required') {
      lines.push(`${placeOf(`${instanceLocation}/${escaped(quotedIn(unit.error))}`)}: is missing`)
    } else if (!CONTAINERS.has(keyword) && !(keyword === 'false' && reported.has(instanceLocation))) {
      lines.push(`${placeOf(instanceLocation)}: ${problemOf(unit, checked)}`)
    }
  }
  return [...new Set(lines)]
}

function alternatives({ keywordLocation, error }: OutputUnit, inner: readonly OutputUnit[], checked: Checked): string {
  const matches = /\((\d+) matches\)/.exec(error)?.[1] ?? '0'
  if (matches !== '0') return `fits ${matches} of the alternatives in \`oneOf\`, but must fit exactly one`
  const branches = Map.groupBy(inner, (each) => each.keywordLocation.slice(keywordLocation.length + 1).split('/', 1)[0])
  const texts = [...branches.values()].map((units) => linesOf(units, checked).join(' and '))
  return `fits none of the alternatives (${texts.join('; or ')})`
}

/** Message for each JSON Schema keyword; `%` stands for the value of the keyword. */
const DEMANDS: Readonly<Record<string, string>> = {
  enum: 'must be one of %',
  const: 'must be %',
  minimum: 'must be at least %',
  maximum: 'must be at most %',
  exclusiveMinimum: 'must be more than %',
  exclusiveMaximum: 'must be less than %',
  multipleOf: 'must be a multiple of %',
  pattern: 'must match the pattern %',
  format: 'must have the format %',
  minLength: 'must have at least % characters',
  maxLength: 'must have at most % characters',
  minItems: 'must have at least % items',
  maxItems: 'must have at most % items',
  not: 'must not fit %',
  contains: 'must have an item that fits %',
}

/** Describes the mismatch of the value at a place with a keyword. */
function problemOf({ keyword, keywordLocation, instanceLocation, error }: OutputUnit, { schema, value }: Checked): string {
  if (keyword === 'false') return 'is not allowed'
  const limit = keywordAt(schema, keywordLocation)
  const demand =
    keyword === 'type' ? `must be ${[limit].flat().join(' or ')}` : DEMANDS[keyword]?.replace('%', () => shown(limit))
  const isName = keywordLocation.includes('/propertyNames/')
  const found = isName ? keysOf(instanceLocation).at(-1) : valueAt(value, instanceLocation)
  return demand === undefined ? error : `${isName ? 'its name ' : ''}${demand}, but is ${shown(found)}`
}

/** Returns the name in double quotes, which may contain double quotes itself. */
function quotedIn(error: string): string {
  return /"(.*)"/s.exec(error)?.[1] ?? ''
}

/** Returns `#/a/0/b` as `a.0.b`. */
function placeOf(pointer: string): string {
  const keys = keysOf(pointer)
  return keys.length === 0 ? 'the value' : keys.join('.')
}

function keysOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescaped)
}

function escaped(key: string): string {
  return encodeURI(key.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function unescaped(key: string): string {
  try {
    return decodeURI(key).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return key
  }
}

function valueAt(value: unknown, pointer: string): unknown {
  return keysOf(pointer).reduce(memberOf, value)
}

/** Returns the value of the keyword; follows references within the schema. */
function keywordAt(schema: object, location: string): unknown {
  let at: unknown = schema
  for (const key of keysOf(location)) {
    const member = memberOf(at, key)
    const isReference = key === '$ref' && typeof member === 'string' && /^#(\/|$)/.test(member)
    at = isReference ? valueAt(schema, member) : member
  }
  return at
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

const MOST_SHOWN = 80

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}…`
}
