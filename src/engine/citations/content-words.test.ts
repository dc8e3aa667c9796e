import { expect, test } from 'vitest'
import { compare, foldedWords } from './comparison.ts'
import { contentWordsOf } from './content-words.ts'

function read(statement: string): string[] {
  const { answer } = compare(statement, [], [])
  const said = { from: 0, to: answer.ids.length }
  return contentWordsOf(answer, said, foldedWords(answer, said.from, said.to)).map(({ word, kind }) => `${kind} ${word}`)
}

test.each([
  ['The mill was built in 1874.', ['word mill', 'word built', 'number 1874']],
  ['In spring three of them paid Ida Marsh.', ['word spring', 'number three', 'word paid', 'name ida', 'name marsh']],
  ['It was not J who paid.', ['word paid']],
  ['Mill and Barge of Ida Marsh', ['word mill', 'word barge', 'word ida', 'word marsh']],
  ['Im Winter hält die Mühle in Ludbury.', ['word winter', 'word hält', 'word mühle', 'word ludbury']],
  ['He said: “Peter of Kent bought it”', ['word peter', 'name kent', 'word bought']],
  ['水车的轮', ['pair 水车']],
])('%s', (statement, expected) => {
  expect(read(statement)).toEqual(expected)
})
