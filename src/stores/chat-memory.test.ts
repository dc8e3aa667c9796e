import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { assistant, system, toolResult, user } from '../core/message.ts'
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
  test('returns turns in time order with their roles, for any query', async () => {
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
  ])('returns the last whole turns in at most %i messages', async (n, expected) => {
    expect(texts(await (await conversation(9)).retrieve('', n))).toEqual(expected)
  })

  test('returns the newest turns that fit into maxChars', async () => {
    const memory = await conversation(9, { maxChars: 40 })
    expect(texts(await memory.retrieve('', 20))).toEqual(['question 8', 'answer 8', 'question 9', 'answer 9'])
    await memory.appendMessage(user('x'.repeat(41)))
    expect(await memory.retrieve('', 20)).toEqual([])
  })

  test('drops turns beyond maxTurns', async () => {
    const memory = await conversation(9, { maxTurns: 2 })
    expect(await memory.retrieve('', 99)).toHaveLength(4)
    expect(await memory.search('question 7')).toHaveLength(2)
    expect(texts(await memory.search('7'))).toEqual([])
  })

  test('keeps several user messages in a row as one turn, and skips system messages and empty ones', async () => {
    const memory = new ChatMemory()
    for (const message of [system('Be kind.'), user('a'), user(' '), user('b'), assistant('c'), user('d')])
      await memory.appendMessage(message)
    expect(texts(await memory.retrieve('', 3))).toEqual(['d'])
    expect(texts(await memory.retrieve('', 4))).toEqual(['a', 'b', 'c', 'd'])
  })

  test('keeps each document as a turn, and replaces and deletes documents by source', async () => {
    const memory = await conversation(1)
    await memory.extend(['a note', { source: 'n', text: 'old', title: 'N', metadata: { team: 'x' } }])
    await memory.append({ source: 'n', text: 'new' })
    expect(texts(await memory.retrieve('', 9))).toEqual(['question 1', 'answer 1', 'a note', 'new'])
    expect((await memory.retrieve('', 1))[0]?.spokenBy).toBeUndefined()
    expect([await memory.delete('n'), await memory.delete('n')]).toEqual([true, false])
    await memory.reset()
    expect(await memory.retrieve('', 9)).toEqual([])
  })

  test('searches words, best first, newer first among equals, with filters', async () => {
    const memory = await conversation(3)
    expect(texts(await memory.search('ANSWER 2'))).toEqual(['answer 2', 'question 2', 'answer 3', 'answer 1'])
    expect(texts(await memory.search('2', { filter: { role: 'user' } }))).toEqual(['question 2'])
    expect(texts(await memory.search('answer', { limit: 1 }))).toEqual(['answer 3'])
    for (const nothing of ['', '   ', '"', 'AND (', 'unknown']) expect(await memory.search(nothing)).toEqual([])
  })

  test('refuses invalid limits', () => {
    expect(() => new ChatMemory({ maxTurns: 0 })).toThrow(/maxTurns must be a positive whole number, but is 0/)
    expect(() => new ChatMemory({ maxChars: 1.5 })).toThrow(/maxChars/)
  })
})

describe('saving and loading a ChatMemory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cria-chat-memory-'))
  const path = join(folder, 'chat.json')
  afterAll(() => rmSync(folder, { recursive: true }))

  const image = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const
  const call = { type: 'tool-call', id: 'c', name: 'look', input: { at: 'x' } } as const

  async function whole(): Promise<ChatMemory> {
    const memory = new ChatMemory({ name: 'ada' })
    await memory.append(
      user([image]),
      assistant([call]),
      toolResult({ id: 'c', name: 'look', content: 'A cat.' }),
      assistant('A cat.'),
    )
    await memory.append([user('Thanks.'), { role: 'assistant', content: '# Bye\n\u001B[2J' }])
    await memory.append({ source: 'n', text: 'A note.', metadata: { team: 'x' } })
    return memory
  }

  test('CORE-STORE-001 append accepts messages, lists of messages and documents, and keeps images, calls and results', async () => {
    const said = await (await whole()).retrieve('', 99)
    expect(said.map(({ spokenBy, text, parts }) => [spokenBy, text, parts?.map(({ type }) => type)])).toEqual([
      ['user', '', ['image']],
      ['assistant', '', ['tool-call']],
      ['tool', 'A cat.', ['tool-result']],
      ['assistant', 'A cat.', undefined],
      ['user', 'Thanks.', undefined],
      ['assistant', '# Bye\n\u001B[2J', undefined],
      [undefined, 'A note.', undefined],
    ])
    expect(await (await whole()).retrieve('', 3)).toHaveLength(3)
    await expect(new ChatMemory().append(42 as never)).rejects.toThrow(/A document must be/)
    await expect(new ChatMemory().append([{ role: 'moderator' }] as never)).rejects.toThrow(/role must be one of/)
  })

  test('CORE-STORE-001 is unchanged after saving and loading, and accepts further turns', async () => {
    const memory = await whole()
    await memory.save(path)
    const loaded = await ChatMemory.load(path)
    expect(loaded.name).toBe('ada')
    expect(await loaded.retrieve('', 99)).toEqual(await memory.retrieve('', 99))
    expect((await ChatMemory.load(path, { name: 'bo', maxTurns: 2 })).toMarkdown()).not.toContain('image/png')
    await loaded.append(user('Again.'))
    await loaded.save(path)
    expect(await (await ChatMemory.load(path)).retrieve('', 99)).toHaveLength(8)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['chat.json'])
  })

  test.each([
    ['invalid JSON', '{', /holds something other than a chat memory/],
    ['other JSON', '{"turns":[]}', /holds something other than a chat memory/],
    ['another version', '{"format":"cria-chat-memory","version":2,"name":"a","turns":[]}', /version 2/],
    ['a damaged turn', '{"format":"cria-chat-memory","version":1,"name":"a","turns":[[]]}', /damaged/],
    ['an unknown role', JSON.stringify(holding({ spokenBy: 'system' })), /damaged/],
    ['an unknown part type', JSON.stringify(holding({ spokenBy: 'user', parts: [{ type: 'shell', run: 'rm' }] })), /damaged/],
  ])('CORE-STORE-001 does not load %s', async (_, content, error) => {
    const other = join(folder, 'other.json')
    writeFileSync(other, content)
    await expect(ChatMemory.load(other)).rejects.toThrow(error)
    rmSync(other)
  })

  test('CORE-STORE-001 reports a file that does not exist, or cannot be written', async () => {
    await expect(ChatMemory.load(join(folder, 'none.json'))).rejects.toMatchObject({ code: 'not_found' })
    await expect((await whole()).save(join(folder, 'none', 'chat.json'))).rejects.toMatchObject({ code: 'store_failed' })
  })

  test('CORE-STORE-001 forks into independent threads', async () => {
    const memory = await conversation(3, { maxTurns: 3 })
    const [all, first] = [memory.fork(), memory.fork({ turns: 1, name: 'first' })]
    await first.append(user('elsewhere'), assistant('yes'))
    await all.append(user('question 4'))
    expect(texts(await memory.retrieve('', 99))).toHaveLength(6)
    expect([first.name, texts(await first.retrieve('', 99))]).toEqual(['first', ['question 1', 'answer 1', 'elsewhere', 'yes']])
    expect(texts(await all.retrieve('', 99))).toEqual(['question 2', 'answer 2', 'question 3', 'answer 3', 'question 4'])
    expect(() => memory.fork({ turns: -1 })).toThrow(/turns/)
  })

  test('CORE-STORE-001 exports Markdown with message headings escaped and terminal control characters removed', async () => {
    expect((await whole()).toMarkdown()).toBe(
      [
        ['User', '[image/png]'],
        ['Assistant', 'Calls `look` with `{"at":"x"}`'],
        ['Tool', '`look` returned:\n\nA cat.'],
        ['Assistant', 'A cat.'],
        ['User', 'Thanks.'],
        ['Assistant', '\\# Bye\n␛[2J'],
        ['Note: n', 'A note.'],
      ]
        .map(([heading, text]) => `## ${heading}\n\n${text}\n`)
        .join('\n'),
    )
  })

  function holding(chunk: object): object {
    const whole = { id: 'i', source: 's', text: 't', start: 0, end: 1, metadata: {}, ...chunk }
    return { format: 'cria-chat-memory', version: 1, name: 'a', turns: [[whole]] }
  }
})
