import { describe, expect, test } from 'vitest'
import { assistant, system, user } from '../core/message.ts'
import { ChatMemory } from './chat-memory.ts'
import type { ChatMemoryOptions } from './chat-memory.ts'

async function conversation(turns: number, options: ChatMemoryOptions = {}): Promise<ChatMemory> {
  const memory = new ChatMemory(options)
  for (let turn = 1; turn <= turns; turn++) {
    await memory.appendMessage(user(`question ${turn}`))
    await memory.appendMessage(assistant(`answer ${turn}`))
  }
  return memory
}

const texts = (chunks: readonly { readonly text: string }[]): string[] => chunks.map(({ text }) => text)

describe('CORE-STORE-001 ChatMemory', () => {
  test('gives turns in time order, as who said them, whatever the query', async () => {
    const memory = await conversation(2)
    const said = await memory.retrieve('answer 1', 10)
    expect(said.map(({ spokenBy, text }) => [spokenBy, text])).toEqual([
      ['user', 'question 1'],
      ['assistant', 'answer 1'],
      ['user', 'question 2'],
      ['assistant', 'answer 2'],
    ])
    expect(said.map(({ score }) => score)).toEqual([0.25, 0.5, 0.75, 1])
  })

  test.each([
    [0, []],
    [1, ['answer 9']],
    [2, ['question 9', 'answer 9']],
    [3, ['question 9', 'answer 9']],
    [5, ['question 8', 'answer 8', 'question 9', 'answer 9']],
  ])('gives the last whole turns in at most %i messages', async (n, expected) => {
    expect(texts(await (await conversation(9)).retrieve('', n))).toEqual(expected)
  })

  test('gives only what fits into maxChars, newest first', async () => {
    const memory = await conversation(9, { maxChars: 40 })
    expect(texts(await memory.retrieve('', 20))).toEqual(['question 8', 'answer 8', 'question 9', 'answer 9'])
    await memory.appendMessage(user('x'.repeat(41)))
    expect(await memory.retrieve('', 20)).toEqual([])
  })

  test('forgets what is older than maxTurns', async () => {
    const memory = await conversation(9, { maxTurns: 2 })
    expect(await memory.retrieve('', 99)).toHaveLength(4)
    expect(await memory.search('question 7')).toHaveLength(2)
    expect(texts(await memory.search('7'))).toEqual([])
  })

  test('several user messages in a row are one turn; system messages and empty ones are left out', async () => {
    const memory = new ChatMemory()
    for (const message of [system('Be kind.'), user('a'), user(' '), user('b'), assistant('c'), user('d')])
      await memory.appendMessage(message)
    expect(texts(await memory.retrieve('', 3))).toEqual(['d'])
    expect(texts(await memory.retrieve('', 4))).toEqual(['a', 'b', 'c', 'd'])
  })

  test('takes documents as turns of their own, replaces and deletes them by source', async () => {
    const memory = await conversation(1)
    await memory.extend(['a note', { source: 'n', text: 'old', title: 'N', metadata: { team: 'x' } }])
    await memory.append({ source: 'n', text: 'new' })
    expect(texts(await memory.retrieve('', 9))).toEqual(['question 1', 'answer 1', 'a note', 'new'])
    expect((await memory.retrieve('', 1))[0]?.spokenBy).toBeUndefined()
    expect([await memory.delete('n'), await memory.delete('n')]).toEqual([true, false])
    await memory.reset()
    expect(await memory.retrieve('', 9)).toEqual([])
  })

  test('is searched by words, best first, newest of equals first, filtered', async () => {
    const memory = await conversation(3)
    expect(texts(await memory.search('ANSWER 2'))).toEqual(['answer 2', 'question 2', 'answer 3', 'answer 1'])
    expect(texts(await memory.search('2', { filter: { role: 'user' } }))).toEqual(['question 2'])
    expect(texts(await memory.search('answer', { limit: 1 }))).toEqual(['answer 3'])
    for (const nothing of ['', '   ', '"', 'AND (', 'unheard']) expect(await memory.search(nothing)).toEqual([])
  })

  test('limits that make no sense are refused', () => {
    expect(() => new ChatMemory({ maxTurns: 0 })).toThrow(/maxTurns must be a positive whole number, but is 0/)
    expect(() => new ChatMemory({ maxChars: 1.5 })).toThrow(/maxChars/)
  })
})
