import { expect, test } from 'vitest'
import type { Retrieved } from '../core/message.ts'
import { checkAnswer } from './check.ts'

const passage = (text: string): Retrieved => ({
  marker: '1',
  origin: 'docstore',
  store: 'docs',
  chunk: { id: 'c1', text, source: 'mill.md', start: 0, end: text.length, metadata: {}, score: 1 },
})

const fill = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length)).slice(0, length)

/** Processor time in milliseconds; the best of three, as other tests share the processor. */
function cost(answer: string, text: string): number {
  const times = [1, 2, 3].map(() => {
    const start = process.cpuUsage()
    checkAnswer(answer, [passage(text)])
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

/** Limit for four times the length, which takes 4 times as long, or 16 times if quadratic. */
const MOST = 10

test.each<[string, (size: number) => readonly [answer: string, text: string]]>([
  [
    'many markers',
    (size) => [fill('The mill ground 12 sacks of rye for 3 villages [1]. ', size), fill('It ground 14 sacks of rye. ', 5000)],
  ],
  [
    'a long cell',
    (size) => [
      fill('Row 4 has 12 things [1]. ', 500),
      `| a | b |\n|---|---|\n| 1 | ${fill('word 17 things, ', size)} |\n| 2 | 3 |`,
    ],
  ],
  ['many rows', (size) => [fill('The K1 costs 99 [1]. ', 500), fill('| K1 | 79 |\n| K2 | 99 |\n', size)]],
  ['one word again and again', (size) => [`"${fill('a ', size)}" [1]`, fill('a ', size)]],
  ['numbers', (size) => [`${fill('12 ', size)}[1]`, fill('13 ', size)]],
  ['quotation marks', (size) => [`${fill('"a ', size)}[1]`, fill('"a ', size)]],
  ['fences', (size) => [`${fill('```\n', size)}[1]`, fill('```\n', size)]],
  ['spaces', (size) => [`a${fill(' ', size)}b [1]`, fill('a  ', size)]],
  ['markup', (size) => [`${fill('[<', size)} [1]`, fill('<a](', size)]],
  ['a script without spaces', (size) => [`${fill('磨坊建于', size)}[1]`, fill('磨坊建于', size)]],
  ['dates', (size) => [`${fill('3 May ', size)}[1]`, fill('4 May ', size)]],
  ['lists', (size) => [`${fill('GET, PUT, ', size)}and TRACE [1]`, fill('GET, PUT, ', size)]],
])('the cost grows with the length: %s', (_, make) => {
  const size = 8000
  cost(...make(size))
  const small = cost(...make(size))
  const large = cost(...make(4 * size))
  expect(large / Math.max(small, 5)).toBeLessThan(MOST)
})
