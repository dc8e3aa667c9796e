import { describe, expect, it } from 'vitest'
import { assistant, retrieved, user } from '../../core/message.ts'
import type { Retrieved } from '../../core/message.ts'
import { decodeMessage, encodeMessage, useOf } from './message.ts'

function passage(changes: Partial<Retrieved['chunk']>, marker = '1'): Retrieved {
  const chunk = { id: 'c', text: 'A passage.', source: 'a.md', start: 0, end: 10, metadata: {}, score: 1, ...changes }
  return { marker, origin: 'docstore', store: 'default', chunk }
}

describe('a stored message', () => {
  it('is the same for equal content with different ids', () => {
    expect(encodeMessage(user('Hello'))).toBe(encodeMessage(user('Hello')))
    expect(encodeMessage(user('Hello'))).not.toBe(encodeMessage(assistant('Hello')))
  })

  it('is the same for a passage used for another question', () => {
    const one = retrieved(passage({ score: 2.5 }))
    const other = retrieved(passage({ score: 0.1, evidence: { coverage: 1, weights: { passage: 2 } } }, '7'))
    expect(encodeMessage(one)).toBe(encodeMessage(other))
    expect(decodeMessage(other.id, encodeMessage(one), useOf(other))).toEqual(other)
  })

  it('holds the text of a passage once, but both texts of a fenced passage', () => {
    const plain = retrieved(passage({}))
    const fenced = { ...plain, content: '<<< A passage. >>>', parts: [{ type: 'text' as const, text: '<<< A passage. >>>' }] }
    expect(encodeMessage(plain).match(/A passage/g)).toHaveLength(1)
    for (const message of [plain, fenced]) {
      expect(decodeMessage(message.id, encodeMessage(message), useOf(message))).toEqual(message)
    }
  })
})
