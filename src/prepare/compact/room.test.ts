import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { user } from '../../core/message.ts'
import type { ToolSpec } from '../../core/model.ts'
import { GROUNDING_RULES } from '../compose.ts'
import { estimateMessageTokens, estimateTokens, offeredTokens } from '../tokens.ts'
import { roomForContext, roomForPassages } from './room.ts'

const long = (tokens: number) => user('x'.repeat(tokens * 3.5))
const tool: ToolSpec = { name: 'look', description: 'x'.repeat(350), inputSchema: { type: 'object' } }
const plain = { settings: {}, tools: [] }
const question = user('Why?')
const said = { system: 'Be exact.', history: [], messages: [question] }
const facts = { contextWindow: 10_000, maxOutputTokens: 1000 }

const ASKED = estimateTokens('Be exact.') + estimateMessageTokens(question)
const RULES = estimateTokens(GROUNDING_RULES)

describe('the share of the window for passages', () => {
  it.each<[what: string, room: number | null, expected: number | null]>([
    ['the window is unknown', roomForPassages(said, plain, { contextWindow: null, maxOutputTokens: null }, 0), null],
    ['four fifths of what the rest leaves', roomForPassages(said, plain, facts, 0), (9000 - ASKED - RULES) * 0.8],
    ['less what was put in beside', roomForPassages(said, plain, facts, 500), (8500 - ASKED - RULES) * 0.8],
    [
      'less the output',
      roomForPassages(said, { ...plain, settings: { maxOutputTokens: 3000 } }, facts, 0),
      (7000 - ASKED - RULES) * 0.8,
    ],
    [
      'less the tools',
      roomForPassages(said, { ...plain, tools: [tool] }, facts, 0),
      (9000 - ASKED - RULES - offeredTokens({ tools: [tool] })) * 0.8,
    ],
    ['less the history', roomForPassages({ ...said, history: [long(996)] }, plain, facts, 0), (8000 - ASKED - RULES) * 0.8],
    [
      'a long history will be compacted to half of the window',
      roomForPassages({ ...said, history: [long(50_000)] }, plain, facts, 0),
      (4000 - ASKED - RULES) * 0.8,
    ],
    ['never below nothing', roomForPassages({ ...said, messages: [long(50_000)] }, plain, facts, 0), 0],
  ])('%s', (_what, room, expected) => {
    if (expected === null) expect(room).toBeNull()
    else expect(room).toBeCloseTo(expected, 6)
  })
})

describe('the share of the window for context', () => {
  it.each<[what: string, room: number | null, expected: number | null]>([
    ['the window is unknown', roomForContext(said, plain, { contextWindow: null, maxOutputTokens: null }), null],
    ['a quarter of the window', roomForContext(said, plain, facts), 2500],
    [
      'half of what is left, where that is less',
      roomForContext({ ...said, messages: [long(6996)] }, plain, facts),
      (2000 - estimateTokens('Be exact.')) / 2,
    ],
    ['never below nothing', roomForContext({ ...said, messages: [long(50_000)] }, plain, facts), 0],
  ])('%s', (_what, room, expected) => {
    expect(room).toBe(expected)
  })
})

it('context, passages, question and output never exceed the window', () => {
  const sizes = { contextWindow: fc.integer({ min: 1, max: 200_000 }), asked: fc.nat(100_000), output: fc.nat(50_000) }
  fc.assert(
    fc.property(fc.record(sizes), ({ contextWindow, asked, output }) => {
      const limits = { contextWindow, maxOutputTokens: null }
      const messages = [long(asked)]
      const request = { ...plain, settings: { maxOutputTokens: output } }
      const context = roomForContext({ ...said, messages }, request, limits) ?? 0
      const passages = roomForPassages({ ...said, messages }, request, limits, context) ?? 0
      const reserved = Math.min(output, contextWindow / 2)
      const own = estimateTokens(said.system) + messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
      expect(context + passages).toBeLessThanOrEqual(Math.max(0, contextWindow - reserved - own))
    }),
  )
})
