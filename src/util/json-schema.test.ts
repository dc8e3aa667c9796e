import { describe, expect, it } from 'vitest'
import { schemaProblems } from './json-schema.ts'

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, pattern: '^A' },
    age: { type: 'integer', minimum: 0 },
    kind: { enum: ['a', 'b'] },
    three: { const: 3 },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
    either: { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] },
    one: { oneOf: [{ type: 'number' }, { type: 'integer' }] },
    none: { not: { type: 'string' } },
    part: { $ref: '#/$defs/part' },
    more: { exclusiveMinimum: 10 },
    nothing: false,
    names: { type: 'object', propertyNames: { maxLength: 3 } },
    open: { type: 'object', additionalProperties: { type: 'number' } },
  },
  required: ['name'],
  additionalProperties: false,
  $defs: { part: { type: 'object', properties: { x: { type: ['string', 'null'] } }, required: ['x'] } },
}

describe('schemaProblems', () => {
  it.each([
    [{ name: 'Ada', age: 36 }, []],
    ['text', ['the value: must be object, but is "text"']],
    [{}, ['name: is missing']],
    [{ name: 'Ada', age: 'old' }, ['age: must be integer, but is "old"']],
    [{ name: 'Ada', age: -1.5 }, ['age: must be integer, but is -1.5', 'age: must be at least 0, but is -1.5']],
    [{ name: 'b' }, ['name: must have at least 2 characters, but is "b"', 'name: must match the pattern "^A", but is "b"']],
    [{ name: 'Ada', extra: 1 }, ['extra: is not a property that the schema allows']],
    [{ name: 'Ada', 'a/b~c "d"': 1 }, ['a/b~c "d": is not a property that the schema allows']],
    [{ name: 'Ada', nothing: 1 }, ['nothing: is not allowed']],
    [{ name: 'Ada', kind: 'z' }, ['kind: must be one of ["a","b"], but is "z"']],
    [{ name: 'Ada', three: 4 }, ['three: must be 3, but is 4']],
    [{ name: 'Ada', tags: [] }, ['tags: must have at least 1 items, but is []']],
    [{ name: 'Ada', tags: ['x', 1] }, ['tags.1: must be string, but is 1']],
    [{ name: 'Ada', tags: ['x', 'x'] }, ['tags: Duplicate items at indexes 0 and 1.']],
    [
      { name: 'Ada', either: 3 },
      ['either: fits none of the alternatives (either: must be string, but is 3; or either: must be null, but is 3)'],
    ],
    [{ name: 'Ada', one: 3 }, ['one: fits 2 of the alternatives in `oneOf`, but must fit exactly one']],
    [{ name: 'Ada', none: 's' }, ['none: must not fit {"type":"string"}, but is "s"']],
    [{ name: 'Ada', part: {} }, ['part.x: is missing']],
    [{ name: 'Ada', part: { x: 1 } }, ['part.x: must be string or null, but is 1']],
    [{ name: 'Ada', more: 10 }, ['more: must be more than 10, but is 10']],
    [{ name: 'Ada', names: { long: 1 } }, ['names.long: its name must have at most 3 characters, but is "long"']],
    [{ name: 'Ada', open: { a: 'x' } }, ['open.a: must be number, but is "x"']],
  ])('CORE-STRUCT-001 reports exactly the mismatches of %j', (value, problems) => {
    expect(schemaProblems(schema, value)).toEqual(problems)
  })

  it('CORE-STRUCT-001 reports the alternatives of each item separately', () => {
    const items = { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'null' } }, required: ['b'] }] }
    expect(schemaProblems({ type: 'array', items }, [3, 'x', { a: 1 }])).toEqual([
      '0: fits none of the alternatives (0: must be string, but is 3; or 0: must be object, but is 3)',
      '2: fits none of the alternatives (2: must be string, but is {"a":1}; or 2.b: is missing and 2.a: must be null, but is 1)',
    ])
  })

  it('shows the beginning of a long value', () => {
    const [problem] = schemaProblems({ type: 'number' }, 'x'.repeat(500))
    expect(problem).toMatch(/^the value: must be number, but is "x+…$/)
    expect(problem?.length).toBeLessThan(130)
  })
})
