import { expect, test } from 'vitest'
import { readBlocks } from './docs.ts'

test('marked blocks are returned with their lines, others are ignored', () => {
  const page = [
    '# Page',
    '```ts run',
    'const a = 1',
    '```',
    '```ts',
    'not this',
    '```',
    '```sh run',
    'cria --help',
    '```',
    '```ts check',
    '```',
  ].join('\n')
  expect(readBlocks('a.md', page)).toEqual([
    { line: 2, language: 'ts', execute: true, code: 'const a = 1\n' },
    { line: 8, language: 'sh', execute: true, code: 'cria --help\n' },
    { line: 11, language: 'ts', execute: false, code: '' },
  ])
})

test.each(['ts runs', 'sh check', 'js run'])('an unknown mark is an error: %s', (mark) => {
  expect(() => readBlocks('a.md', `\`\`\`${mark}\n\`\`\`\n`)).toThrow(`a.md:1: "${mark}"`)
})
