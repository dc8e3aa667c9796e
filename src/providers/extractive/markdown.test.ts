/** Answers over Markdown: what is quoted reads as a sentence, and what is there for the eye only is never quoted. */

import { expect, test } from 'vitest'
import { answerFromPassages } from './answer.ts'

const KETTLE = `# The kettle

<p align="center"><img src="kettle.svg" alt="kettle boils water"></p>

[![build](https://a.example/b.svg)](https://a.example) ![kettle](kettle.png)

[Kettle guide](guide.md) · [Kettle parts](parts.md) · [Kettle warranty](warranty.md)

## Cleaning the kettle

Fill it with vinegar and wait an hour. Rinse it twice.

## Warning lights

| Light | Meaning                                   | Colour |
|-------|-------------------------------------------|--------|
| 3     | The water tank is empty and must be filled | red    |
| 7     | The lid stands open                        | amber  |

## Questions

**How do I descale the kettle?**

Q: How long is the warranty of the kettle?
A: Two years from the day of purchase.

Which cups fit under the spout? Cups of up to nine centimetres do.

## Accessories

The box of the kettle contains these accessories:

- a brush
- a filter
- two spoons

> The spoons are made of olive wood.

The field \`parts[2]\` of the list names the heater. It is replaced in the workshop.
`

test.each([
  ['a heading speaks for what stands below it', 'How do I clean the kettle?', 'Fill it with vinegar and wait an hour.'],
  ['a row is quoted by its longest cell', 'What does light 3 mean?', 'The water tank is empty and must be filled'],
  ['the name of a column is asked for', 'Which colour is light 7?', 'amber'],
  ['a question gives way to its answer', 'How long is the warranty of the kettle?', 'Two years from the day of purchase.'],
  ['within a paragraph too', 'Which cups fit under the spout?', 'Cups of up to nine centimetres do.'],
  ['a lead-in brings its list', 'Which accessories are in the box of the kettle?', '- a brush\n- a filter\n- two spoons'],
  ['marks of a citation stay out', 'What are the spoons made of?', 'The spoons are made of olive wood.'],
  ['an index in code ends no sentence', 'Which field names the heater?', 'The field `parts[2]` of the list names the heater.'],
])('%s: %j', (_, question, expected) => {
  const { quotes } = answerFromPassages(question, [{ marker: '1', title: 'Kettle', text: KETTLE, score: 5 }])
  const [first] = quotes
  expect(first?.text).toContain(expected)
  for (const { start, end, text } of quotes) {
    expect(text).toBe(KETTLE.slice(start, end))
    expect(text).not.toMatch(/^(?:[#>|*-]|<|Q:|A:)|[|<]|\?$|:$|!\[/)
  }
})

test.each([
  ['only a heading', '# The lid of the kettle'],
  ['only a bold line', '**The lid of the kettle**'],
  ['only a question', 'What is the lid of the kettle?'],
  ['only the head of a table', '| Lid | Kettle |\n|---|---|'],
  ['only links', '- [The lid of the kettle](lid.md)\n- [kettle lid](b.md)'],
  ['only images', '![the lid of the kettle](lid.png)'],
])('%s is no answer', (_, text) => {
  expect(answerFromPassages('What is the lid of the kettle?', [{ marker: '1', text, score: 5 }]).abstained).toBe(true)
})

test.each([
  ['a table of comma-separated values', 'What is the price of the barge?', 'name,price\nSkiff,1200\nBarge,90000\n', '90000'],
  [
    'its quoted cells',
    'What is the note on the barge?',
    'name,note\nSkiff,old\nBarge,"Leaks, but slowly"\n',
    'Leaks, but slowly',
  ],
  ['more than a yes', 'Can two workers run?', '## Can two workers run?\n\nYes. Each locks its job.', 'Yes. Each locks its job.'],
  [
    'an index',
    'What does the handler get?',
    'The handler gets args[2] as payload. It is new.',
    'The handler gets args[2] as payload.',
  ],
])('%s: %j', (_, question, text, expected) => {
  const { quotes } = answerFromPassages(question, [{ marker: '1', text, score: 5 }])
  expect(quotes[0]?.text).toContain(expected)
  expect(quotes[0]?.text).not.toContain('price')
})

test('an index that would read as a marker is quoted as code', () => {
  const text = 'The handler gets args[2] as payload.'
  expect(answerFromPassages('What does the handler get?', [{ marker: '1', text, score: 5 }]).text).toBe(`\`${text}\` [1]`)
})

test('a passage that says only half of a short question has to stand out', () => {
  const passages = [1, 2, 3, 4, 5].map((n) => ({
    marker: String(n),
    title: 'Settings',
    text: `Rule ${n}: the project reads its file before that of the house. Others follow.`,
    score: 5 - n / 10,
  }))
  expect(answerFromPassages('How do I install the project?', passages).abstained).toBe(true)
  expect(answerFromPassages('Which file does the project read?', passages).abstained).toBe(false)
})

test('a title in all but name, which says no more than the question, is no answer', () => {
  const text = 'Northern Lock\nManual\n\n1. Building\nThe walls are of granite.\n\n2. Measures\nDepth: 3 m. Width: 12 m.'
  const answer = answerFromPassages('What is the depth of the northern lock?', [{ marker: '1', text, score: 5 }])
  expect(answer.text).not.toContain('Northern Lock [1]')
  expect(answer.quotes[0]?.text).toContain('Depth: 3 m.')
})

const FERRY = `# Ferry

## Booking

The ferry is booked with the client, which asks the harbour first. A booking is confirmed within two minutes.

\`\`\`sh
ferry book --from Oban --to Mull
# how is the ferry booked
\`\`\`

\`\`\`mermaid
flowchart LR
  client -->|ferry is booked| harbour[(harbour master)]
\`\`\`

## Help

\`\`\`text
Cancel a booking that nobody has boarded yet.

Usage: ferry cancel [options]

      --now   cancel at once, without a question

A booking that was paid by card is refunded to the same card, and one that was paid in cash at the harbour has to be
collected there by the guest.
\`\`\`
`

test.each([
  [
    'how something works is prose, though a line of code says all of the question',
    'How is the ferry booked?',
    'The ferry is booked with the client',
  ],
  ['what to type is code', 'How do I book the ferry to Mull?', 'ferry book --from Oban --to Mull'],
  [
    'what a program prints has sentences over several lines',
    'Where is a booking paid in cash collected?',
    'collected there by the guest.',
  ],
])('CORE-SIMPLE-001 code among prose, %s: %j', (_, question, expected) => {
  const { quotes } = answerFromPassages(question, [{ marker: '1', title: 'Ferry', text: FERRY, score: 5 }])
  expect(quotes[0]?.text).toContain(expected)
  expect(quotes.every(({ text }) => !text.includes('harbour master'))).toBe(true)
})

const LOCK = `# Lock

## Closing the gate

1. Ring the bell twice and wait for the answer of the harbour.
2. Turn the wheel to the left until the red mark stands at the top.
3. Drop the bolt.
4. Switch the lamp to red, and write the hour of closing into the book.

## Opening the gate

- Ring the bell.
- Lift the bolt.
`

test.each([
  ['how to do it', 'How do I close the gate?', ['1. Ring the bell', '4. Switch the lamp']],
  ['its steps', 'What are the steps for closing the gate?', ['1. Ring the bell', '4. Switch the lamp']],
  [
    'something else',
    'When is the bell rung before closing the gate?',
    ['Ring the bell twice and wait for the answer of the harbour.'],
  ],
])('numbered steps are the answer in their order to who asks %s', (_, question, expected) => {
  const { quotes } = answerFromPassages(question, [{ marker: '1', title: 'Lock', text: LOCK, score: 5 }])
  expect(quotes.slice(0, expected.length).map(({ text }, index) => text.startsWith(expected[index] ?? '?'))).toEqual(
    expected.map(() => true),
  )
  if (expected.length === 2) expect(quotes[0]?.text).toMatch(/^1\. [^]+\n2\. [^]+\n3\. Drop the bolt\.$/)
})

test('CORE-SIMPLE-001 what stands below a heading that asks the same comes before what stands in a better passage', () => {
  const passages = [
    {
      marker: '1',
      title: 'Decisions',
      text: 'The booking office opens at nine. A booking that nobody collects goes to the next in line at noon.',
      score: 9,
    },
    {
      marker: '2',
      title: 'Questions',
      text: '## What is a booking?\n\nA place on board with your name.\n\n## How do I get one?\n\nAsk.',
      score: 5,
    },
    { marker: '3', title: 'More', headings: ['More', 'Who may board?'], text: 'Everybody with a ticket.', score: 4 },
  ]
  expect(answerFromPassages('What is a booking?', passages).quotes[0]?.text).toBe('A place on board with your name.')
  expect(answerFromPassages('Who may board the ferry?', passages).quotes[0]?.text).not.toBe('Ask.')
  expect(answerFromPassages('Who may board?', passages).quotes[0]?.text).toBe('Everybody with a ticket.')
})
