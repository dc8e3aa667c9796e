import { expect, test } from 'vitest'
import { answerFromPassages } from './answer.ts'
import { readUnits } from './sentences.ts'

const unitsOf = (text: string): string[] => readUnits(text).map(({ start, end }) => text.slice(start, end))

test.each<[string, string, string[]]>([
  [
    'each fact stands alone, the title is not repeated',
    '---\ntitle: Locks\nowner: Ida Marsh\ntags:\n  - water\n---\n\nA lock is slow.\n',
    ['owner: Ida Marsh', 'water', 'A lock is slow.'],
  ],
  ['TOML', '+++\ndepth = 3\n+++\nA lock.', ['depth = 3', 'A lock.']],
  ['Windows', '---\r\nowner: Ida\r\n---\r\nA lock.\r\n', ['owner: Ida', 'A lock.']],
  ['a rule at the top is none', '---\nA lock is slow.\n\n---\nIt leaks.', ['A lock is slow.', 'It leaks.']],
  ['what is never closed is none', '---\nowner: Ida\n', ['owner: Ida']],
])('%s', (_, text, expected) => {
  expect(unitsOf(text)).toEqual(expected)
})

test('the facts about a file are no part of an answer about what it says', () => {
  const text =
    '---\ntitle: Lock safety\nstatus: draft\nowner: Works\n---\n\n# Lock safety\n\nIn an emergency at the lock call Ida Marsh.\n'
  const answer = answerFromPassages('Whom do I call in an emergency at the lock?', [
    { marker: '1', text, title: 'Lock safety', score: 1 },
  ])
  expect(answer.text).toBe('In an emergency at the lock call Ida Marsh. [1]')
})
