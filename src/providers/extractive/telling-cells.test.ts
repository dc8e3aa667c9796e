import { describe, expect, test } from 'vitest'
import { answerFromPassages } from './answer.ts'

const LAMPS = `## Lamps

| Lamp | Meaning | What to do |
|---|---|---|
| L04 | The pump is out of oil | Fill up to the mark |
| L17 | Cable broken | Call the workshop; it sends somebody the same day |
`
const JOBS = `| Job | Who | Until | Wage |
|---|---|---|---|
| Grease the winch | Solveig | 12 May | 300 |
| Repaint the hull | Anders Holm | 3 June | 900 |
`
const BOATS = 'id,boat,length_m,weight_kg,colours\nQ1,Small skiff,4,250,red;white;blue\nQ2,Old barge,22,41000,black;tarred\n'

describe('of a table', () => {
  test.each([
    ['the row of another name is not quoted', 'What does L17 mean?', LAMPS, ['Cable broken']],
    ['nor in place of the right one', 'What does lamp L04 mean?', LAMPS, ['The pump is out of oil']],
    ['who asks for who', 'Who greases the winch?', JOBS, ['Solveig']],
    ['and when for until', 'When must the hull be repainted?', JOBS, ['3 June']],
    ['how much for a wage', 'What is the wage for greasing the winch?', JOBS, ['300']],
    ['a measure asks for its column', 'How heavy is the old barge?', BOATS, ['41000']],
    [
      'cells that could be one number are two',
      'What does the red skiff cost?',
      'boat,kg,price\nred skiff,900,295.00\nblue skiff,800,120.00\n',
      ['295.00'],
    ],
    [
      'a column by another word',
      'How much does the blue skiff weigh?',
      'boat,kilos,weight\nred skiff,2,900\nblue skiff,4,800\n',
      ['800'],
    ],
    ['another for another', 'How long is the small skiff?', BOATS, ['4']],
  ])('%s: %j', (_, question, text, expected) => {
    const { quotes } = answerFromPassages(question, [{ marker: '1', text, score: 5 }])
    expect(quotes.map((quote) => quote.text)).toEqual(expected)
  })

  test.each([
    ['a person', 'Who repaints the hull?', '| Repaint the hull | 900 kroner at the end | Anders Holm |', 'Anders Holm'],
    ['a time', 'When is the hull repainted?', '| Repaint the hull | by Anders Holm alone | 3 June |', '3 June'],
  ])('without names of columns the cell that looks like %s', (_, question, text, expected) => {
    expect(answerFromPassages(question, [{ marker: '1', text, score: 5 }]).quotes[0]?.text).toBe(expected)
  })

  test('rows that say as much of the question as each other all count', () => {
    const text = '| Boat | Colour |\n|---|---|\n| red barge | tarred |\n| red skiff | varnished |\n| green skiff | bare |\n'
    const { quotes } = answerFromPassages('Which boats are red?', [{ marker: '1', text, score: 5 }])
    expect(quotes.map((quote) => quote.text)).toEqual(['red barge', 'red skiff'])
  })
})
