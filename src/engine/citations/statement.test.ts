import { describe, expect, test } from 'vitest'
import type { Retrieved } from '../../core/message.ts'
import { compare } from './comparison.ts'
import { supportOf } from './statement.ts'

/** The words that bear a statement out, or why none do. */
function check(statement: string, text: string, title?: string): string {
  const chunk = { id: 'c1', text, source: 'mill.md', start: 0, end: text.length, metadata: {}, score: 1 }
  const retrieved: Retrieved = {
    marker: '1',
    origin: 'docstore',
    store: 'docs',
    chunk: title === undefined ? chunk : { ...chunk, title },
  }
  const comparison = compare(statement, [], [retrieved])
  const passage = comparison.passage('1')
  if (passage === undefined) throw new Error('There is a passage 1.')
  const support = supportOf(comparison, passage, { from: 0, to: comparison.answer.ids.length })
  if (!support.supported) return support.reason
  return text.slice(passage.starts[support.place.from], passage.ends[support.place.to - 1])
}

describe('supportOf', () => {
  test.each([
    [
      'two sentences together',
      'Built in 1874, it ground rye.',
      'The mill was built in 1874. It ground rye.',
      'The mill was built in 1874. It ground rye',
    ],
    [
      'the shorter of two places that say it',
      'They ground rye.',
      'The mill ground rye for three villages. It ground rye. It fell.',
      'It ground rye',
    ],
    [
      'the place without a problem',
      'The pump starts alone.',
      'The pump does not start alone. It is true that this pump always starts alone.',
      'It is true that this pump always starts alone',
    ],
    [
      'a name in another sentence',
      'Rye was ground by Ida.',
      'Ida built it. So it stood. Rye was ground there.',
      'Rye was ground there',
    ],
    ['a name that stands nowhere', 'Rye was ground by Ida.', 'Rye was ground there.', '“Ida” is not in the passage'],
    [
      'a number that stands elsewhere',
      'In 1902 rye was ground.',
      'Rye was ground in 1874. So it was. It fell in 1902.',
      '“1902” does not stand there',
    ],
    [
      'the contrary',
      'The rye harvest shows an increase.',
      'The rye harvest shows a decrease.',
      'says “increase” where the passage has “decrease”',
    ],
    [
      'too few of the words',
      'A steamer brought coal, timber and rye.',
      'They ground rye.',
      'not in the passage: steamer, brought, coal, timber',
    ],
    ['too few words', 'It is rye.', 'They ground rye.', 'too few words to check'],
    ['nothing of it', 'A steamer brought coal.', 'They ground rye.', 'the passage has none of it'],
  ])('%s', (_, statement, text, expected) => {
    expect(check(statement, text)).toBe(expected)
  })

  test('characters of two UTF-16 units are looked for where they stand together', () => {
    expect(check('𠀀𠀁，𠀁𠀀', '𠀀甲。乙。𠀁甲。乙。乙。𠀀𠀁，𠀁𠀀。')).toBe('𠀀𠀁，𠀁𠀀')
  })

  test('what the title says, the passage need not repeat', () => {
    expect(check('Rye was ground by Ida.', 'Rye was ground there.', 'Ida’s mill')).toBe('Rye was ground there')
  })

  test('a sentence with the rare words is found among a thousand with the common one', () => {
    const text = `${'The mill stood still. '.repeat(1000)}The mill ground barley. ${'The mill stood still. '.repeat(1000)}`
    expect(check('Barley was ground by the mill.', text)).toBe('The mill ground barley')
  })
})
