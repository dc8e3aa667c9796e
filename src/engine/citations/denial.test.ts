import { expect, test } from 'vitest'
import type { Retrieved } from '../../core/message.ts'
import { compare, foldedWords } from './comparison.ts'
import { denialProblem } from './denial.ts'
import { readPlace, readWords } from './reading.ts'

function problemOf(statement: string, sentence: string): string | undefined {
  const retrieved: Retrieved = {
    marker: '1',
    origin: 'docstore',
    store: 'docs',
    chunk: { id: 'c1', text: sentence, source: 'a.md', start: 0, end: sentence.length, metadata: {}, score: 1 },
  }
  const comparison = compare(statement, [], [retrieved])
  const passage = comparison.passage('1')
  if (passage === undefined) throw new Error('There is a passage 1.')
  const { answer } = comparison
  return denialProblem(
    readWords(foldedWords(answer, 0, answer.ids.length)),
    readPlace(passage, { from: 0, to: passage.ids.length }),
  )
}

test.each([
  ['neither denies', 'The pump starts.', 'The pump starts by itself.', undefined],
  ['both deny', 'It never starts alone.', 'The pump does not start alone.', undefined],
  ['only the passage does', 'The pump starts alone.', 'The pump does not start alone.', 'leaves out “not”'],
  [
    'only the statement does',
    'The pump does not start.',
    'The pump can start.',
    'denies with “not” what the passage does not deny',
  ],
  ['the passage denies something else', 'The pump starts.', 'The pump starts; no ladder is needed.', undefined],
  [
    'the statement denies what the passage says of another clause',
    'The pump does not start when the valve opens.',
    'The pump can start but the valve does not open.',
    'denies with “not” what the passage does not deny',
  ],
  ['a weak denial answers a strong one', 'The pump starts without a key.', 'The pump needs no key.', undefined],
  ['not only denies nothing', 'The pump starts.', 'The pump not only starts.', undefined],
  ['a denial behind what it denies', 'Die Pumpe startet allein.', 'Die Pumpe startet nicht.', 'leaves out “nicht”'],
  ['Chinese', '水泵启动', '水泵不启动', 'leaves out “不”'],
])('%s', (_, statement, sentence, expected) => {
  expect(problemOf(statement, sentence)).toBe(expected)
})
