import { expect, test } from 'vitest'
import type { TurnSummary } from '../../core/recorder.ts'
import { turnTable } from './logs-list.ts'

const TURN = {
  turnId: `turn_${'0'.repeat(26)}`,
  status: 'done',
  startedAt: new Date(2026, 0, 31, 8, 15).getTime(),
  latencyMs: 1234,
  costUsd: 0.0042,
  rating: null,
  model: 'openai-compatible/somewhat-long',
  question: 'Which of the doors of the old mill is the one that Ida painted?',
} as TurnSummary

test('a wide terminal shows a turn in one line', () => {
  const shown = turnTable([TURN, { ...TURN, question: 'Why?' }], 200)
  expect(shown.trimEnd().split('\n')).toHaveLength(2)
  expect(shown).toContain('openai-compatible/somewhat-long  Which of')
})

test('one of 80 columns in two, none of them longer than it', () => {
  const lines = turnTable([TURN, { ...TURN, costUsd: null, model: 'a/b', question: 'Why?' }], 80)
    .trimEnd()
    .split('\n')
  expect(lines).toEqual([
    `turn_${'0'.repeat(26)}  2026-01-31 08:15  done  1.2 s  $0.0042`,
    '    openai-compatible/somewhat-long  Which of the doors of the old mill is the …',
    `turn_${'0'.repeat(26)}  2026-01-31 08:15  done  1.2 s        –`,
    '    a/b  Why?',
  ])
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
})

test('a pipe gets one line of each, with up to 200 characters of the question', () => {
  const [line = '', ...others] = turnTable([{ ...TURN, question: 'mill '.repeat(100) }], Infinity)
    .trimEnd()
    .split('\n')
  expect(others).toEqual([])
  expect(line.slice(line.indexOf('mill'))).toHaveLength(200)
})
