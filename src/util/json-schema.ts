/** Checks values against JSON Schema. The validator interprets the schema: nothing is compiled, so a schema cannot run code. */

import { Validator } from '@cfworker/json-schema'

const validators = new WeakMap<object, Validator>()

/** What does not fit, one line each; empty when the value fits. */
export function schemaProblems(schema: object, value: unknown): string[] {
  let validator = validators.get(schema)
  if (validator === undefined) {
    validator = new Validator(schema, '2020-12', false)
    validators.set(schema, validator)
  }
  const { valid, errors } = validator.validate(value)
  if (valid) return []
  // The outermost errors only say that something inside them failed.
  const inner = errors.filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items')
  return (inner.length > 0 ? inner : errors).map(
    ({ instanceLocation, error }) => `${instanceLocation.replace(/^#\/?/, '') || 'the value'}: ${error}`,
  )
}
