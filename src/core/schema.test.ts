import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { defineTool, query, StructuredBot } from '../index.ts'
import type { Tool } from '../index.ts'
import { collect, ScriptedModel } from '../testing.ts'
import { jsonSchemaOf } from './schema.ts'
import type { StandardSchema } from './schema.ts'

const isTown = (value: unknown): value is { town: string } =>
  typeof value === 'object' && value !== null && 'town' in value && typeof value.town === 'string'

/** Of a library that can check and nothing else. */
const homemade: StandardSchema<{ town: string }> = {
  '~standard': {
    version: 1,
    vendor: 'homemade',
    validate: (value) => (isTown(value) ? { value } : { issues: [{ message: 'a town is missing', path: ['town'] }] }),
  },
}
const json = { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] }
const answer = ({ town }: { town: string }): string => `Fog in ${town}.`

const libraries: readonly [library: string, tool: Tool, properties: object | undefined][] = [
  ['Zod', tool(z.object({ town: z.string() })), json.properties],
  ['Valibot', tool(v.object({ town: v.string() })), json.properties],
  ['ArkType', tool(type({ town: 'string' })), json.properties],
  ['any other library of Standard Schema', tool(homemade), undefined],
  ['JSON Schema', defineTool({ name: 'weather', description: 'The weather.', inputSchema: json, call: answer }), json.properties],
]

function tool(inputSchema: StandardSchema<{ town: string }>): Tool {
  return defineTool({ name: 'weather', description: 'The weather.', inputSchema, call: answer })
}

test.each(libraries)(
  'ENG-TOOL-004 %s: the model is shown the schema, and what it sends is checked',
  async (_, weather, shown) => {
    const model = new ScriptedModel([
      { toolCalls: [{ name: 'weather', input: { town: 7 } }] },
      { toolCalls: [{ name: 'weather', input: { town: 'Bergen' } }] },
      'Take a coat.',
    ])
    const { toolResults } = await collect(
      query({ prompt: 'What do I wear?', model, tools: [weather], hasPermissionsToUseTool: () => true }),
    )
    expect(model.requests[0]?.tools?.[0]?.inputSchema['properties']).toEqual(shown)
    expect(toolResults.map(({ isError }) => isError)).toEqual([true, false])
    expect(toolResults[0]?.content).toContain('town')
    expect(toolResults[1]?.content).toBe('Fog in Bergen.')
  },
)

it('CORE-STRUCT-001 sends a Valibot schema to the model, which shapes the object', async () => {
  const model = new ScriptedModel(['{"town": 7}', '{"town": " Bergen "}'])
  const schema = v.object({ town: v.pipe(v.string(), v.trim(), v.description('Where it rains')) })
  const { object, attempts } = await new StructuredBot({ schema, model, recorder: false }).ask('Where?')
  expect(object).toEqual({ town: 'Bergen' })
  expect(attempts).toBe(2)
  expect(JSON.stringify(model.requests[0]?.messages)).toContain('Where it rains')
})

it('ENG-TOOL-004 reports with its reason, before a request, what a library cannot express as JSON Schema', () => {
  const when = z.object({ when: z.date() }) as unknown as StandardSchema<{ town: string }>
  expect(() => tool(when)).toThrow(
    expect.objectContaining({ code: 'configuration', message: expect.stringMatching(/tool "weather" \(zod\).*Date/) as string }),
  )
})

it('ENG-TOOL-004 refuses an old version of a library that converts its schemas only since a later one', () => {
  const old: StandardSchema<{ town: string }> = { '~standard': { ...homemade['~standard'], vendor: 'zod' } }
  expect(() => tool(old)).toThrow(/use a newer version of the library/)
})

describe('Valibot as JSON Schema', () => {
  const table: readonly [what: string, schema: object, expected: object][] = [
    [
      'a number in bounds',
      v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9)),
      { type: 'integer', minimum: 1, maximum: 9 },
    ],
    ['a text in bounds', v.pipe(v.string(), v.nonEmpty(), v.maxLength(4)), { type: 'string', minLength: 1, maxLength: 4 }],
    ['a form', v.pipe(v.string(), v.isoDate()), { type: 'string', format: 'date' }],
    ['a pattern', v.pipe(v.string(), v.regex(/^a+$/)), { type: 'string', pattern: '^a+$' }],
    ['a pattern with flags, which JSON Schema has not', v.pipe(v.string(), v.regex(/^a+$/i)), { type: 'string' }],
    [
      'a check in code',
      v.pipe(
        v.string(),
        v.check((text) => text !== 'x'),
      ),
      { type: 'string' },
    ],
    ['what goes into a transformation', v.pipe(v.string(), v.transform(Number), v.minValue(3)), { type: 'string' }],
    ['a choice', v.picklist(['a', 'b']), { enum: ['a', 'b'] }],
    ['an enum', v.enum({ A: 'a', One: 1 }), { enum: ['a', 1] }],
    ['a literal', v.literal('a'), { const: 'a' }],
    ['null allowed', v.nullable(v.string()), { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['a list', v.pipe(v.array(v.boolean()), v.minLength(2)), { type: 'array', items: { type: 'boolean' }, minItems: 2 }],
    [
      'a pair',
      v.tuple([v.string(), v.number()]),
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 2 },
    ],
    [
      'a pair whose second may be absent',
      v.tuple([v.string(), v.optional(v.number())]),
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 1 },
    ],
    ['a record', v.record(v.string(), v.number()), { type: 'object', additionalProperties: { type: 'number' } }],
    ['either', v.union([v.string(), v.number()]), { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    [
      'both',
      v.intersect([v.object({}), v.object({})]),
      {
        allOf: [
          { type: 'object', properties: {}, required: [] },
          { type: 'object', properties: {}, required: [] },
        ],
      },
    ],
    [
      'members that may be absent',
      v.strictObject({ a: v.optional(v.string(), 'x'), b: v.nullish(v.number()), c: v.string() }),
      {
        type: 'object',
        properties: {
          a: { type: 'string', default: 'x' },
          b: { anyOf: [{ type: 'number' }, { type: 'null' }] },
          c: { type: 'string' },
        },
        required: ['c'],
        additionalProperties: false,
      },
    ],
    [
      'what it is',
      v.pipe(v.string(), v.title('Town'), v.description('Where')),
      { type: 'string', title: 'Town', description: 'Where' },
    ],
    ['metadata', v.pipe(v.string(), v.metadata({ description: 'Where' })), { type: 'string', description: 'Where' }],
    ['what JSON has not', v.object({ when: v.date() }), { type: 'object', properties: { when: {} }, required: ['when'] }],
    ['what contains itself', v.array(v.lazy(() => v.string())), { type: 'array', items: {} }],
  ]
  it.each(table)('ENG-TOOL-004 %s', (_, schema, expected) => {
    expect(jsonSchemaOf(schema, 'a test')).toEqual(expected)
  })
})
