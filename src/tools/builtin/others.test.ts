import { describe, expect, it } from 'vitest'
import { callerOf } from '../../../test/support/tool-call.ts'
import { MemoryDocumentStore } from '../../stores/lazy.ts'
import { builtinTools } from './builtin-tools.ts'
import { TodoLists } from './todo.ts'

describe('ask_user', () => {
  it('passes the question to the host, and reports when no user can answer', async () => {
    const asked: unknown[] = []
    const call = callerOf(
      builtinTools({
        root: '.',
        askUser: (question) => {
          asked.push(question)
          return 'the red one'
        },
      }),
    )
    expect((await call('ask_user', { question: 'Which?', options: ['red', 'blue'] })).content).toBe(
      'The user answered: the red one',
    )
    expect(asked).toEqual([{ question: 'Which?', options: ['red', 'blue'] }])
    expect(await callerOf(builtinTools({ root: '.' }))('ask_user', { question: 'Which?' })).toMatchObject({
      isError: true,
      content: expect.stringContaining('nobody to ask') as string,
    })
    const silent = callerOf(builtinTools({ root: '.', askUser: () => undefined }))
    expect((await silent('ask_user', { question: 'Which?' })).content).toBe('The user gave no answer.')
  })

  it('an abort cancels the question', async () => {
    const stop = new AbortController()
    const call = callerOf(builtinTools({ root: '.', askUser: () => new Promise<string>(() => {}) }))
    const asking = call('ask_user', { question: 'Which?' }, { signal: stop.signal })
    stop.abort()
    expect(await asking).toMatchObject({ isError: true })
  })
})

describe('todo', () => {
  it('keeps the list of each session', async () => {
    const todos = new TodoLists()
    const call = callerOf(builtinTools({ root: '.', todos }))
    const items = [
      { text: 'read', state: 'done' },
      { text: 'fix', state: 'doing' },
      { text: 'test', state: 'open' },
    ]
    expect((await call('todo', { items })).content).toBe('[x] read\n[~] fix\n[ ] test')
    await call('todo', { items: [] }, { sessionId: 'other' })
    expect([todos.of('ses'), todos.of('other')]).toEqual([items, []])
  })
})

describe('search_documents', () => {
  it('finds passages in all stores or in one, with their places', async () => {
    const cellar = new MemoryDocumentStore({ name: 'cellar' })
    const kitchen = new MemoryDocumentStore({ name: 'kitchen' })
    await cellar.append({ source: 'wine.md', text: '# Wine\n\nRed wine is called Trollinger.', format: 'markdown' })
    await kitchen.append({ source: 'soup.md', text: 'Soup with red wine and onions.' })
    const tools = builtinTools({ root: '.', stores: [cellar, kitchen] })
    const call = callerOf(tools)
    const { content } = await call('search_documents', { query: 'red wine' })
    expect(content).toContain('[cellar · wine.md:')
    expect(content).toContain('Trollinger')
    expect(content).toContain('[kitchen · soup.md')
    expect((await call('search_documents', { query: 'red wine', store: 'kitchen' })).content).not.toContain('Trollinger')
    expect((await call('search_documents', { query: 'xylophone' })).content).toBe('(no passage was found)')
    expect((await call('search_documents', { query: 'x', store: 'attic' })).isError).toBe(true)
    expect(builtinTools({ root: '.' }).map(({ name }) => name)).not.toContain('search_documents')
  })
})

describe('the list of tools', () => {
  it('has distinct names and descriptions', () => {
    const tools = builtinTools({ root: '.', fetch: true, stores: [new MemoryDocumentStore()] })
    expect(tools.map(({ name }) => name)).toEqual([
      'read_file',
      'write_file',
      'edit_file',
      'list_files',
      'search_files',
      'run_command',
      'search_documents',
      'fetch_url',
      'ask_user',
      'todo',
    ])
    const free = tools.filter(({ needsPermission }) => needsPermission === false).map(({ name }) => name)
    expect(free).toEqual(['list_files', 'search_documents', 'ask_user', 'todo'])
  })
})
