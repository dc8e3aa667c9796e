import { expect, test } from 'vitest'
import { manyOf, readSchema } from './ask-object.ts'

test.each([
  ['name', { name: { type: 'string' } }],
  ['name, age int, bio', { name: { type: 'string' }, age: { type: 'integer' }, bio: { type: 'string' } }],
  ['tags str[], price float', { tags: { type: 'array', items: { type: 'string' } }, price: { type: 'number' } }],
  [
    'name: of the person, first name first\nisAlive bool\n',
    { name: { type: 'string', description: 'of the person, first name first' }, isAlive: { type: 'boolean' } },
  ],
])('%j describes an object whose fields are all required', (text, properties) => {
  expect(readSchema(text, '/')).toEqual({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  })
})

test('a JSON Schema is taken as it is, and many are a list of items', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  expect(readSchema(JSON.stringify(schema), '/')).toEqual(schema)
  expect(manyOf(schema)).toMatchObject({ properties: { items: { type: 'array', items: schema } }, required: ['items'] })
})

test.each([
  ['name, age integr', '"age integr" is not a field'],
  ['name, name int', 'names the field name twice'],
  ['first name here', '"first name here" is not a field'],
  ['{ "type": ', 'is not JSON'],
  ['{}', 'is not a JSON Schema'],
  ['missing.json', 'the file does not exist'],
  ['__proto__ constructor', 'is not a field'],
])('%j is refused', (text, expected) => {
  expect(() => readSchema(text, '/')).toThrow(expected)
})
