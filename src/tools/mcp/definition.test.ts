import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../../test/support/stopwatch.ts'
import { readDefinitions } from './definition.ts'

async function problemsOf($defs: object, value: object, keywords: object = {}): Promise<readonly string[]> {
  const inputSchema = { type: 'object', properties: { x: { $ref: '#/$defs/a' } }, $defs, ...keywords }
  const [definition] = readDefinitions([{ name: 'tool', description: 'Does it.', inputSchema }], undefined).definitions
  const result = await definition?.schema['~standard'].validate(value)
  return result?.issues?.map(({ message }) => message) ?? []
}

function nested(depth: number, innermost: object): object {
  let value = innermost
  for (let level = 0; level < depth; level++) value = { x: value }
  return value
}

describe('the recursive schema of a server', () => {
  const twice = { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] }

  it('is checked at every level when it has one recursive reference', async () => {
    const $defs = { a: { type: 'object', properties: { x: { $ref: '#/$defs/a' } } } }
    expect(await problemsOf($defs, nested(30, {}))).toEqual([])
    expect(await problemsOf($defs, nested(3, { x: 1 }))).toEqual(['x.x.x.x: must be object, but is 1'])
  })

  it.each<[what: string, $defs: object]>([
    ['recursive references that multiply', { a: { properties: { x: twice } } }],
    [
      'recursive references below a property that is named like a keyword',
      { a: { properties: { x: { properties: { x: { ...twice } } }, default: twice } } },
    ],
    [
      'recursive references through another schema',
      { a: { properties: { x: { allOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] } } }, b: { $ref: '#/$defs/a' } },
    ],
    [
      'references that are relative to another part',
      {
        a: {
          $id: 'https://example.org/a',
          properties: { x: { $ref: '#/$defs/c' } },
          $defs: { c: { properties: { x: { allOf: [{ $ref: '#/$defs/c' }, { $ref: '#/$defs/c' }] } } } },
        },
        c: {},
      },
    ],
    [
      'dynamic references',
      { a: { $dynamicAnchor: 'n', properties: { x: { allOf: [{ $dynamicRef: '#n' }, { $dynamicRef: '#n' }] } } } },
    ],
  ])('does not take exponential time with %s', async (_what, $defs) => {
    const elapsed = stopwatch()
    expect(await problemsOf($defs, nested(40, {}))).toEqual([])
    expect(elapsed()).toBeLessThan(1000)
  })
})

it('regular expressions of a server do not run, under any keyword', async () => {
  const slow = { properties: { x: { pattern: '^(a+)+$' } } }
  const elapsed = stopwatch()
  const value = { x: `${'a'.repeat(40)}!`, default: 1 }
  for (const keywords of [slow, { allOf: [slow] }, { dependentSchemas: { default: slow } }, { dependencies: { default: slow } }])
    expect(await problemsOf({ a: {} }, value, keywords)).toEqual([])
  expect(elapsed()).toBeLessThan(1000)
})
