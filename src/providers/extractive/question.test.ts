import { describe, expect, test } from 'vitest'
import { readQuestion } from './question.ts'

describe('what a question asks for', () => {
  test.each([
    ['Who built the mill?', 'person', ''],
    ['Whose mill burned down?', 'person', ''],
    ['When did the mill open?', 'time', ''],
    ['In what year did the mill open?', 'time', 'year'],
    ['Where is the mill?', 'place', ''],
    ['Which river drives the mill?', 'place', 'mill drive river'],
    ['What is the capital city of Elbonia?', 'place', 'citi capit'],
    ['Why did the mill close?', 'reason', ''],
    ['How did the miller die?', 'manner', ''],
    ['How many sacks does the mill grind?', 'count', 'sack'],
    ['How much does a sack weigh?', 'quantity', ''],
    ['How tall is the mill?', 'quantity', ''],
    ['What percentage of the flour is rye?', 'quantity', 'percentag'],
    ['What is the name of the team that won?', 'name', 'team'],
    ['What does GMT mean?', 'definition', ''],
    ['what is a quern', 'definition', 'quern'],
    ['What did the miller grind?', 'thing', ''],
    ['release date of the second album', 'time', 'date releas'],
    ['the mill was sold by which company?', 'name', 'compani'],
    ['Wie alt ist die Mühle?', 'quantity', ''],
    ['', 'thing', ''],
  ])('%j asks for a %s, focus %j', (text, kind, focus) => {
    const question = readQuestion(text)
    expect(question.kind).toBe(kind)
    if (focus !== '') expect(question.focus.join(' ')).toBe(focus)
  })
})

describe('terms', () => {
  test.each([
    ['What does HACCP mean?', 'definition', ['haccp']],
    ['What do the red trays mean?', 'definition', ['red', 'trays', 'mean']],
    ['what does GMT stand for', 'definition', ['gmt']],
    ['What is meant by proofing?', 'definition', ['proofing']],
    ["What's the meaning of levain?", 'definition', ['levain']],
    ['levain definition', 'definition', ['levain']],
    ['Can you please explain autolyse?', 'definition', ['autolyse']],
    ['How do I define a tool?', 'manner', ['define', 'tool']],
    ['What is the mean temperature of the oven?', 'quantity', ['mean', 'temperature', 'oven']],
    ['Who did stand for mayor?', 'person', ['stand', 'mayor']],
    ['What does mean mean?', 'thing', ['mean']],
  ])('of a question about one word are not those that ask for a definition: %j', (text, kind, expected) => {
    const question = readQuestion(text)
    expect(question.terms.map((term) => term.lower)).toEqual(expected)
    if (kind !== 'thing') expect(question.kind).toBe(kind)
  })

  test.each([
    ['What is C#?', ['c#']],
    ['Who made C and who made R&D?', ['made', 'c', 'r&d']],
    ['Do I take a vitamin D or A?', ['take', 'vitamin', 'd']],
  ])('names of one letter are among them: %j', (text, expected) => {
    expect(readQuestion(text).terms.map((term) => term.lower)).toEqual(expected)
  })

  test('are the words of meaning, each once, and share the weight of the question', () => {
    const { terms } = readQuestion('Who sold the mill and the old mill house to Ida?')
    expect(terms.map((term) => term.lower)).toEqual(['sold', 'mill', 'old', 'house', 'ida'])
    expect(terms.reduce((sum, term) => sum + term.weight, 0)).toBeCloseTo(1, 10)
    expect(terms.map((term) => term.specific)).toEqual([false, false, false, false, true])
  })

  test('weigh what the store says; what it takes for a function word weighs little', () => {
    const { terms } = readQuestion('Which mills won in Ghent?', { mill: 3, ghent: 6 })
    expect(Object.fromEntries(terms.map((term) => [term.lower, Number((term.weight * 11.25).toFixed(2))]))).toEqual({
      mills: 3,
      won: 2.25,
      ghent: 6,
    })
  })

  test('capitals make a word of an acronym', () => {
    expect(readQuestion('Who leads the US navy?').terms.map((term) => term.lower)).toEqual(['leads', 'us', 'navy'])
    expect(readQuestion('who leads us home?').terms.map((term) => term.lower)).toEqual(['leads', 'home'])
  })

  test('what is said of every event names none', () => {
    expect(readQuestion('What happened in 1911?').terms.map((term) => term.lower)).toEqual(['1911'])
    expect(readQuestion('What happened?').terms.map((term) => term.lower)).toEqual(['happened'])
  })

  test('a book as a question is read in part', () => {
    expect(readQuestion('mill '.repeat(300_000)).words.length).toBeLessThan(1000)
  })
})
