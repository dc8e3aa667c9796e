import { describe, expect, it } from 'vitest'
import { mayBeToolCall, toolCallsInText } from './text-tool-calls.ts'

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
  ])('%j: %s', (beginning, expected) => {
    expect(mayBeToolCall(beginning)).toBe(expected)
  })
})
