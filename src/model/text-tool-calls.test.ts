import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/support/stopwatch.ts'
import type { ModelPart } from '../core/model.ts'
import { mayBeToolCall, readTextToolCalls, toolCallsInText } from './text-tool-calls.ts'

const search = {
  name: 'search',
  description: 'Searches.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'], additionalProperties: false },
}
let count = 0
const read = (text: string): unknown[] =>
  toolCallsInText(text, [search], () => `call_${++count}`).map(({ name, input }) => [name, input])
const CALL = ['search', { query: 'x' }]

describe('toolCallsInText', () => {
  it.each([
    ['one object', '{"name":"search","arguments":{"query":"x"}}', [CALL]],
    ['parameters', '{"name":"search","parameters":{"query":"x"}}', [CALL]],
    ['arguments as a string', '{"name":"search","arguments":"{\\"query\\":\\"x\\"}"}', [CALL]],
    ['a list', '[{"name":"search","arguments":{"query":"x"}},{"name":"search","arguments":{"query":"x"}}]', [CALL, CALL]],
    ['a wrapper', '{"tools":[{"name":"search","arguments":{"query":"x"}}]}', [CALL]],
    ['a function wrapper', '{"function":{"name":"search","arguments":{"query":"x"}}}', [CALL]],
    ['a code fence', '```json\n{"name":"search","arguments":{"query":"x"}}\n```', [CALL]],
    ['an answer that has a name', '{"name":"Alice","age":3}', []],
    ['a name that was not offered', '{"name":"delete","arguments":{"query":"x"}}', []],
    ['input that does not fit', '{"name":"search","arguments":{"q":1}}', []],
    ['no input', '{"name":"search"}', []],
    ['prose around it', 'Call {"name":"search","arguments":{"query":"x"}}', []],
    ['a fence in prose', 'Like this:\n```\n{"name":"search","arguments":{"query":"x"}}\n```', []],
    ['one good, one bad', '[{"name":"search","arguments":{"query":"x"}},{"name":"no"}]', []],
    ['cut JSON', '{"name":"search","arguments":{"query":"x"', []],
    ['an empty list', '[]', []],
  ])('CORE-SIMPLE-021 reads %s', (_, text, expected) => {
    expect(read(text)).toEqual(expected)
  })
})

describe('mayBeToolCall', () => {
  it.each([
    ['', true],
    [' \n', true],
    ['{"na', true],
    ['[', true],
    ['`', true],
    ['``', true],
    ['```json', true],
    ['`code`', false],
    ['Sure, {', false],
    ['S', false],
  ])('%j: %s', (beginning, expected) => {
    expect(mayBeToolCall(beginning)).toBe(expected)
  })
})

describe('readTextToolCalls', () => {
  async function* partsOf(pieces: readonly string[]): AsyncGenerator<ModelPart> {
    for (const text of pieces) yield { type: 'text', text }
    yield { type: 'finish', reason: 'stop' }
  }

  async function textOf(pieces: readonly string[]): Promise<string> {
    let text = ''
    for await (const part of readTextToolCalls(partsOf(pieces), [search], () => 'call_1')) {
      text += part.type === 'text' ? part.text : part.type === 'tool-call' ? `<${part.name}>` : ''
    }
    return text
  }

  it.each([
    [[' ', '\n', '{"name":"search","argu', 'ments":{"query":"x"}}'], '<search>'],
    [['`', '`', '`json\n{"name":"search",', '"arguments":{"query":"x"}}\n```'], '<search>'],
    [['  `', '`a` is code'], '  ``a` is code'],
    [['', ' ', 'Text', ' {'], ' Text {'],
  ])('decides by the beginning, however it is cut: %j', async (pieces, expected) => {
    expect(await textOf(pieces)).toBe(expected)
  })

  it('takes linear time for an answer that begins like a call', async () => {
    const timeOf = async (count: number): Promise<number> => {
      const pieces = ['{"text": "', ...Array.from({ length: count }, () => 'word'), '"}']
      const elapsed = stopwatch()
      expect(await textOf(pieces)).toHaveLength(count * 4 + 12)
      return elapsed()
    }
    await timeOf(2000)
    const small = await timeOf(10_000)
    expect(await timeOf(80_000)).toBeLessThan(Math.max(small * 8 * 4, 1000))
  })
})
