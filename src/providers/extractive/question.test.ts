import { describe, expect, test } from 'vitest'
import { readQuestion, readQuestions } from './question.ts'

const terms = (text: string): string[] => readQuestion(text).terms.map(({ term }) => term)

test.each([
  ['How do I install kiln?', 'steps'],
  ['Which option prints each command?', 'name'],
  ['What is a recipe?', 'definition'],
  ['What does parse_recipe do?', 'definition'],
  ['When was the mill built?', 'time'],
  ['Who built the mill?', 'person'],
  ['How many seats has the plan?', 'number'],
  ['What is the default port?', 'number'],
  ['Why is the build cached?', 'reason'],
  ['error: recipe has no source', 'cause'],
  ['Is CliRunner thread safe?', 'yes-no'],
  ['prompt for a password', 'anything'],
])('%s seeks %s', (question, sought) => {
  expect(readQuestion(question).sought).toBe(sought)
})

describe('terms', () => {
  test('signs that the analyser drops become separate terms', () => {
    expect(terms('What does --no-cache do?')).toContain('--no-cache')
    expect(terms('the difference of &str and String')).toContain('&str')
    expect(terms('What does the ? operator do')).toContain('?')
    expect(terms('C# support')).toContain('c#')
  })

  test('words that only ask are not terms', () => {
    expect(terms('What does RecipeError mean?')).toEqual(['recip', 'error', 'recipeerror'])
    expect(terms('Wann wurde die Mühle gebaut?')).toEqual(['muhl', 'gebaut'])
  })

  test('weights are shares, and a verb without meaning weighs less', () => {
    const { terms: found, weight } = readQuestion('make a package', { make: 2, packag: 2 })
    expect(found).toEqual([
      { term: 'make', weight: expect.closeTo(0.6 / 2.6) },
      { term: 'packag', weight: expect.closeTo(2 / 2.6) },
    ])
    expect(weight).toBeCloseTo(2.6)
  })
})

describe('two questions in one', () => {
  test.each([
    'How do I sign a package, and how do I publish it?',
    'Which exit code has A and which B?',
    'How do I install it? What does it cost?',
    'What is the difference between locking and syncing?',
    'How do find_object and ensure_object differ?',
  ])('%s are two', (question) => {
    expect(readQuestions(question)).toHaveLength(2)
  })

  test.each(['In a computational problem, what is a string?', 'How do I read and write files?'])('%s is one', (question) => {
    expect(readQuestions(question)).toHaveLength(1)
  })
})
