import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rolesAndContents } from '../../test/support/shown.ts'
import { user } from '../core/message.ts'
import type { ScoredChunk } from '../core/store.ts'
import { composeChat, composeRag } from './compose.ts'
import { delimiterFor } from './fence.ts'

const chunk = (id: string, text = `text of ${id}`, score = 1): ScoredChunk => ({
  id,
  text,
  source: `${id}.md`,
  start: 0,
  end: text.length,
  metadata: {},
  score,
})
const question = user('Why?')
const base = { system: 'Be exact.', history: [], question, passageTokens: null }

describe('composeRag', () => {
  it('QRY-RAG-016 orders system prompt, document chunks, memory chunks, question', () => {
    const { messages, processedMessages } = composeRag({
      ...base,
      documents: { store: 'docs', chunks: [chunk('a'), chunk('b')] },
      memories: { store: 'notes', chunks: [chunk('m')] },
    })
    expect(messages.map(({ role, retrieved }) => [role, retrieved?.marker, retrieved?.origin])).toEqual([
      ['system', undefined, undefined],
      ['retrieved', '1', 'docstore'],
      ['retrieved', '2', 'docstore'],
      ['retrieved', '3', 'memory'],
      ['user', undefined, undefined],
    ])
    expect(messages[0]?.content).toBe('Be exact.')
    expect(processedMessages.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'user', 'user'])
  })

  it('QRY-RAG-012 ends with the question as it was asked', () => {
    const { messages, processedMessages } = composeRag({ ...base, documents: { store: 'docs', chunks: [chunk('a')] } })
    expect(messages.at(-1)).toBe(question)
    expect(processedMessages.at(-1)?.content).toBe('Why?')
  })

  it('QRY-RAG-010 sends a chunk that was returned twice only once, at its best rank', () => {
    const found = [chunk('a'), chunk('b'), chunk('a')]
    const { messages, documentsSent } = composeRag({
      ...base,
      documents: { store: 'd', chunks: found },
      memories: { store: 'm', chunks: [chunk('b')] },
    })
    expect(messages.flatMap(({ retrieved }) => retrieved?.chunk.id ?? [])).toEqual(['a', 'b'])
    expect(documentsSent).toBe(2)
  })

  it('QRY-RAG-014 drops and counts the chunks that do not fit, worst first', () => {
    const long = 'word '.repeat(100)
    const documents = { store: 'd', chunks: [chunk('a', long), chunk('b', `${long}b`), chunk('c', `${long}c`)] }
    const { messages, dropped, documentsSent } = composeRag({ ...base, documents, passageTokens: 420 })
    expect(messages.flatMap(({ retrieved }) => retrieved?.chunk.id ?? [])).toEqual(['a', 'b'])
    expect([documentsSent, dropped]).toEqual([2, 1])
  })

  it('QRY-RAG-014 fences retrieved text in the user role with a delimiter that the text cannot hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, source) => {
        const found = { ...chunk('a', text), source }
        const [, passage] = composeRag({ ...base, documents: { store: 'd', chunks: [found] } }).processedMessages
        expect(passage?.role).toBe('user')
        const [label = '', open = ''] = passage?.content.split('\n') ?? []
        expect(label).toContain(JSON.stringify(source))
        expect(open).toMatch(/^<<<[0-9a-f]{8,}$/)
        expect(text).not.toContain(open.slice(3))
        expect(passage?.content.endsWith(`\n${open.slice(3)}>>>`)).toBe(true)
      }),
    )
  })

  it('derives the delimiter from the text, so that equal requests stay equal', () => {
    expect(delimiterFor('x')).toBe(delimiterFor('x'))
    expect(delimiterFor(delimiterFor('x'))).not.toBe(delimiterFor('x'))
  })
})

describe('composeChat', () => {
  it('CORE-SIMPLE-010 puts memories between system prompt and user messages, in the role that said them', () => {
    const said: ScoredChunk = { ...chunk('t', 'My name is Ada.'), spokenBy: 'user' }
    const { messages, processedMessages } = composeChat({
      system: 'Be kind.',
      history: [],
      memories: { store: 'chat', chunks: [said, chunk('note')] },
      input: [question],
    })
    expect(rolesAndContents(messages)).toEqual([
      ['system', 'Be kind.'],
      ['user', 'My name is Ada.'],
      ['retrieved', 'text of note'],
      ['user', 'Why?'],
    ])
    expect(processedMessages[2]).toMatchObject({ role: 'user', content: expect.stringContaining('<<<') })
  })
})
