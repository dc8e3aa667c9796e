import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { Tool } from '../core/tool.ts'
import { query } from '../engine/query.ts'
import { defineTool } from './define-tool.ts'

interface Town {
  readonly name: string
  readonly founded: Date
  readonly mayor?: string
}

/** A JSON Schema type as libraries declare it. */
interface ObjectSchema {
  type?: 'object'
  properties?: Record<string, { type: 'string' }>
}

const base = { name: 'add', description: 'Adds.', inputSchema: { type: 'object' }, call: () => '' }

const CIRCULAR: Record<string, unknown> = { type: 'object' }
CIRCULAR['properties'] = { self: CIRCULAR }

describe('defineTool', () => {
  it('ENG-TOOL-004 accepts and returns interfaces, dates, maps and anything else that JSON can hold', async () => {
    const inputSchema: ObjectSchema = { type: 'object', properties: { name: { type: 'string' } } }
    const town = (name: string): Town => ({ name, founded: new Date(0) })
    const common = { description: 'Describes a town.', inputSchema, needsPermission: false }
    const outputs = {
      one: ({ name }: Town): Town => town(name),
      many: async ({ name }: Town): Promise<readonly Town[]> => [town(name)],
      date: (): Date => new Date(0),
      map: (): Map<string, bigint> => new Map([['people', 7n]]),
      nothing: (): undefined => undefined,
      stream: (): ReadableStream => new ReadableStream(),
    }
    const tools = Object.entries(outputs).map(([name, call]) => defineTool<Town>({ ...common, name, call }))
    const toolCalls = Object.keys(outputs).map((name) => ({ name, input: { name: 'Ur' } }))
    const results: (string | boolean)[] = []
    for await (const event of query({ model: new ScriptedModel([{ toolCalls }, 'Done.']), tools, prompt: 'Go' }))
      if (event.type === 'tool_result') results.push(event.result.isError || event.result.content)
    expect(results).toEqual([
      '{"name":"Ur","founded":"1970-01-01T00:00:00.000Z"}',
      '[{"name":"Ur","founded":"1970-01-01T00:00:00.000Z"}]',
      '"1970-01-01T00:00:00.000Z"',
      '{"people":"7"}',
      '(no output)',
      true,
    ])
  })

  it('ENG-TOOL-004 types the input of a tool by its schema', async () => {
    const typed = defineTool({
      name: 'typed',
      description: 'Adds.',
      inputSchema: z.object({ a: z.number(), b: z.number().optional() }),
      resources: ({ a }) => ({ reads: [a.toFixed()] }),
      needsPermission: ({ b }) => b !== undefined,
      call: ({ a }) => a.toFixed(1),
    })
    const loose = defineTool({ ...base, name: 'loose', call: (input) => Object.keys(input) })
    const upper = defineTool({ ...base, name: 'upper', call: ({ town }: { town: string }) => town.toUpperCase() })
    const generator = defineTool({
      ...base,
      name: 'generator',
      async *call(_input, ctx) {
        ctx.progress('a')
        yield 'b'
        return 'c'
      },
    })
    const tools: readonly Tool[] = [typed, loose, upper, generator]
    const model = new ScriptedModel([{ toolCalls: [{ name: 'typed', input: { a: 1 } }] }, 'Done.'])
    const results: string[] = []
    for await (const event of query({ model, tools, prompt: 'Go' }))
      if (event.type === 'tool_result') results.push(event.result.content)
    expect(results).toEqual(['1.0'])
  })

  it('ENG-TOOL-004 takes a tool that it has defined, with other members', () => {
    const zod = defineTool({ ...base, inputSchema: z.object({ a: z.number() }), call: ({ a }) => a.toFixed() })
    const literal = defineTool({ ...base, inputSchema: { type: 'object', properties: { a: { type: 'number' } } } })
    const given = defineTool<Town>({ ...base, call: ({ founded }) => founded })
    const tools: readonly Tool[] = [
      defineTool({ ...zod, title: ({ a }) => a.toFixed() }),
      defineTool<{ a: number }>({ ...zod, title: ({ a }) => a.toFixed() }),
      defineTool({ ...literal, title: ({ a }) => a?.toFixed() }),
      defineTool<{ a?: number }>({ ...literal, title: ({ a }) => a?.toFixed() }),
      defineTool({ ...given, title: ({ mayor }) => mayor }),
      defineTool<Town>({ ...given, title: ({ mayor }) => mayor }),
      // @ts-expect-error Its schema describes another input.
      defineTool<Town>({ ...zod, title: ({ mayor }: Town) => mayor }),
    ]
    for (const tool of tools) expect(tool).toMatchObject({ name: 'add', title: expect.any(Function) as unknown })
  })

  it.each<[what: string, tool: unknown, message: RegExp]>([
    ['nothing', null, /A tool must be an object/],
    ['no name', { ...base, name: undefined }, /^undefined is not a name for a tool/],
    ['an empty name', { ...base, name: '' }, /^"" is not a name for a tool/],
    ['dots and blanks', { ...base, name: 'a.b c' }, /^"a\.b c" is not a name for a tool: use 1 to 64 letters/],
    ['a long name', { ...base, name: 'a'.repeat(65) }, /is not a name for a tool/],
    ['letters that not every provider accepts', { ...base, name: 'größe' }, /is not a name for a tool/],
    ['no description', { ...base, description: undefined }, /`description` of tool "add" must be a text/],
    ['no call', { ...base, call: 'x' }, /`call` of tool "add" must be a function, but is "x"/],
    ['a title that is not a function', { ...base, title: 'Adds' }, /`title` of tool "add" must be a function, but is "Adds"/],
    ['resources that are not a function', { ...base, resources: {} }, /`resources` of tool "add" must be a function/],
    ['no schema', { ...base, inputSchema: undefined }, /schema of tool "add" must be a Standard Schema/],
    ['a schema of text', { ...base, inputSchema: { type: 'string' } }, /must describe an object, but its type is "string"/],
    ['a schema of a list', { ...base, inputSchema: z.array(z.string()) }, /must describe an object/],
    [
      'a reference elsewhere',
      { ...base, inputSchema: { properties: { a: { $ref: 'https://x.example/s' } } } },
      /refers to "https:/,
    ],
    [
      'a reference to nothing',
      { ...base, inputSchema: { properties: { a: { $ref: '#/$defs/a' } } } },
      /refers to "#\/\$defs\/a"/,
    ],
    [
      'a schema that contains itself',
      { ...base, inputSchema: CIRCULAR },
      /schema of tool "add" cannot be written as JSON: Converting/,
    ],
    ['a schema that is not JSON', { ...base, inputSchema: { properties: { a: { minimum: 1n } } } }, /as JSON: .*BigInt/],
    [
      'a misspelt type',
      { ...base, inputSchema: { properties: { a: { type: 'strin' } } } },
      /has a type "strin", but there are only obj/,
    ],
    [
      'a pattern that is none',
      { ...base, inputSchema: { properties: { a: { items: { pattern: '(' } } } } },
      /has a pattern "\(", which/,
    ],
    [
      'the same in a list of schemas under a name',
      { ...base, inputSchema: { $defs: { type: { anyOf: [{}, { properties: { default: { type: 'strin' } } }] } } } },
      /has a type "strin"/,
    ],
    [
      'a time limit of nothing',
      { ...base, timeout: 0 },
      /`timeout` of tool "add" must be a number of milliseconds above 0, but is 0/,
    ],
    ['a timeout that is not a number', { ...base, timeout: Number.NaN }, /but is NaN/],
    ['no room for a result', { ...base, maxResultChars: 0 }, /`maxResultChars`/],
  ])('ENG-TOOL-004 reports a mistake in the definition: %s', (_what, tool, message) => {
    expect(() => defineTool(tool as never)).toThrow(message)
    expect(() => query({ model: new ScriptedModel([]), prompt: 'Go', tools: [tool as Tool] })).toThrow(message)
  })

  it('accepts references within a schema, including recursive references', () => {
    const tree = { type: 'object', properties: { left: { $ref: '#' }, a: { $ref: '#/$defs/a~1b' } }, $defs: { 'a/b': {} } }
    expect(defineTool({ ...base, inputSchema: tree }).name).toBe('add')
    expect(
      defineTool({ ...base, inputSchema: { properties: { $ref: { type: 'string' } }, examples: [{ $ref: 'x' }] } }).name,
    ).toBe('add')
    const named = {
      properties: { type: { type: ['string', 'null'] }, pattern: { pattern: '^\\p{L}+$' } },
      default: { type: 'x' },
    }
    expect(defineTool({ ...base, inputSchema: named }).name).toBe('add')
    const annotated = {
      type: 'object',
      properties: { a: { type: 'string', example: { type: 'a cat' }, errorMessage: { type: 'must be a text', pattern: '(' } } },
      dependentRequired: { type: ['pattern'] },
      discriminator: { mapping: { type: 'Cat' } },
    }
    expect(defineTool({ ...base, inputSchema: annotated }).name).toBe('add')
    expect(defineTool({ ...base, timeout: Infinity }).name).toBe('add')
  })
})
