/** A JSON Schema as Anthropic's structured output takes it. https://docs.claude.com/en/docs/build-with-claude/structured-outputs */

import type { Json, JsonObject } from '../../core/json.ts'
import { asArray, asObject, asString } from '../wire/json.ts'

/** Refused; they are told to the model in words. What it writes is checked against the whole schema anyway. */
const IN_WORDS = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'not',
])
const SCHEMAS_BY_NAME = new Set(['properties', '$defs', 'definitions'])
const LISTS_OF_SCHEMAS = new Set(['anyOf', 'oneOf', 'allOf'])

export function outputSchema(schema: JsonObject): JsonObject {
  const kept: Record<string, Json | undefined> = {}
  const words: string[] = []
  for (const [name, value] of Object.entries(schema)) {
    if (IN_WORDS.has(name)) words.push(`${name}: ${JSON.stringify(value)}`)
    else if (SCHEMAS_BY_NAME.has(name))
      kept[name] = Object.fromEntries(Object.entries(asObject(value) ?? {}).map(([key, each]) => [key, convert(each)]))
    else if (LISTS_OF_SCHEMAS.has(name))
      kept[name === 'oneOf' ? 'anyOf' : name] = asArray(value).map((each) => convert(each as Json))
    else kept[name] = name === 'items' ? convert(value) : value
  }
  if (schema['type'] === 'object' || schema['properties'] !== undefined) kept['additionalProperties'] = false
  if (words.length > 0) kept['description'] = [asString(schema['description']), words.join(', ')].filter(Boolean).join(' ')
  return kept
}

function convert(value: Json | undefined): Json {
  const schema = asObject(value)
  return schema === undefined ? (value ?? {}) : outputSchema(schema)
}
