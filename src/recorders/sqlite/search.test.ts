import { describe, expect, it } from 'vitest'
import { conditionsOf, matchExpression, searchableText } from './lists.ts'

describe('matchExpression', () => {
  it.each(
    Object.entries<string | undefined>({
      '': undefined,
      '  \n ': undefined,
      '"': undefined,
      '( * ) - ^ :': undefined,
      '\0': undefined,
      '😀': undefined,
      llama: '"llama"',
      'llama AND alpaca': '"llama" "AND" "alpaca"',
      'llama llama': '"llama"',
      '"exact phrase"': '"exact" "phrase"',
      "don't": `"don't"`,
      'multi-agent x:y*': '"multi-agent" "x:y*"',
      'a\0b': '"a" "b"',
      '東京 tower': '" 東  京 " "tower"',
      '\uD800x': '"\uFFFDx"',
    }),
  )('%j becomes %j', (query, expression) => {
    expect(matchExpression(query)).toBe(expression)
  })

  it('uses the first words of a query with too many words', () => {
    const expression = matchExpression(Array.from({ length: 10_000 }, (_, n) => `w${n}`).join(' '))
    expect(expression?.split(' ')).toHaveLength(64)
  })
})

describe('searchableText', () => {
  it('leaves text with blanks unchanged', () => {
    expect(searchableText('Where is the harbour? שלום')).toBe('Where is the harbour? שלום')
  })

  it('makes a word of each character in a script without blanks', () => {
    expect(searchableText('東京は')).toBe(' 東  京  は ')
  })

  it('indexes the first million characters', () => {
    expect(searchableText('x'.repeat(2_000_000))).toHaveLength(1_000_000)
  })
})

describe('conditionsOf', () => {
  it.each([['beta'], [[undefined]], [[7]]])('rejects the tags %j, which would select the turns of all users', (tags) => {
    expect(() => conditionsOf({ tags: tags as never })).toThrow('`tags` must be a list of texts.')
  })
})
