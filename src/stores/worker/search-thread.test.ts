import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { watchThreads } from '../../../test/support/threads.ts'
import type { WatchedThreads } from '../../../test/support/threads.ts'
import { SqliteDocumentStore } from '../sqlite.ts'
import { SearchThread } from './search-thread.ts'

let folder: string
let store: SqliteDocumentStore
let thread: SearchThread
let threads: WatchedThreads

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cria-search-thread-'))
  store = await SqliteDocumentStore.open({ path: join(folder, 'store.db'), name: 'mills' })
  await store.extend([
    { source: 'mill.md', text: 'The mill was built in 1874 beside the river.' },
    { source: 'bakery.md', text: 'The bakery buys its flour from the mill.' },
  ])
  thread = new SearchThread(store)
  threads = watchThreads()
})

afterEach(async () => {
  threads[Symbol.dispose]()
  await thread.close()
  await store.close()
  rmSync(folder, { recursive: true })
})

describe('SearchThread', () => {
  it('QRY-RAG-030 returns the same results from one thread as the store itself', async () => {
    expect(threads.started).toHaveLength(0)
    const questions = ['mill', 'Who buys flour?', 'river 1874', 'nothing of it', '']
    const answers = await Promise.all(questions.map((question) => thread.search(question, { limit: 5 })))
    expect(answers).toEqual(await Promise.all(questions.map((question) => store.retrieve(question, 5))))
    expect(threads.started).toHaveLength(1)
    expect(threads.started[0]?.messages).toEqual(answers.map((chunks) => ({ chunks })))
    const [first, second] = answers[0] ?? []
    expect(first?.evidence?.weights).toBe(second?.evidence?.weights)
  })

  it('finds documents written while it runs, and copies filters when called', async () => {
    const filter: Record<string, string> = { source: 'mill.md' }
    const filtered = thread.search('mill', { filter })
    filter['source'] = 'bakery.md'
    expect((await filtered).map(({ source }) => source)).toEqual(['mill.md'])
    await store.append({ source: 'sails.md', text: 'Sails of linen.' })
    expect(await thread.search('linen')).toMatchObject([{ source: 'sails.md' }])
    await expect(thread.search('mill', { filter: { source: (() => {}) as never } })).rejects.toThrow(/could not be cloned/)
  })

  it('rejects with the errors of the thread, and answers the next question', async () => {
    await expect(thread.search('mill', { limit: Number.NaN })).rejects.toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('must be a number, but is NaN'),
    })
    expect(await thread.search('mill', { limit: 1 })).toHaveLength(1)

    const path = join(folder, 'later.db')
    const early = new SearchThread({ path, name: 'later' })
    await expect(early.search('mill')).rejects.toMatchObject({ code: 'configuration', message: expect.stringContaining(path) })
    const later = await SqliteDocumentStore.open({ path })
    await later.append('A note about turbines.')
    expect(await early.search('turbines')).toHaveLength(1)
    await early.close()
    await later.close()
  })

  it('QRY-RAG-030 an aborted question rejects at once, and is not searched if it was waiting', async () => {
    const reason = new Error('enough')
    await expect(thread.search('mill', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(threads.started).toHaveLength(0)

    const [running, waiting] = [new AbortController(), new AbortController()]
    const questions = [
      thread.search('river', { signal: running.signal }),
      thread.search('flour', { signal: waiting.signal }),
      thread.search('1874', { signal: new AbortController().signal }),
    ]
    running.abort(reason)
    waiting.abort(reason)
    await expect(questions[0]).rejects.toBe(reason)
    await expect(questions[1]).rejects.toBe(reason)
    expect(await questions[2]).toMatchObject([{ source: 'mill.md' }])
    expect(threads.started[0]?.messages).toHaveLength(2)
  })

  it('QRY-RAG-030 a thread that dies fails only its current question; the others get a new thread', async () => {
    const questions = ['river', 'flour', '1874'].map((question) => thread.search(question))
    // A thread takes longer to start than to terminate.
    const ended = threads.started[0]?.worker.terminate()
    await expect(questions[0]).rejects.toMatchObject({ code: 'store_failed', retryable: true })
    await ended
    expect(await questions[1]).toMatchObject([{ source: 'bakery.md' }])
    expect(await questions[2]).toMatchObject([{ source: 'mill.md' }])
    expect(threads.started).toHaveLength(2)

    // Between two questions.
    await threads.started[1]?.worker.terminate()
    expect(await thread.search('flour')).toMatchObject([{ source: 'bakery.md' }])
    expect(threads.started).toHaveLength(3)
  })

  it('ends with its store: open questions fail, and the file is closed', async () => {
    store.closeWith(thread)
    await thread.search('mill')
    const questions = ['river', 'flour'].map((question) => thread.search(question))
    const failed = questions.map((question) =>
      expect(question).rejects.toMatchObject({ code: 'store_failed', message: expect.stringContaining('is closed') }),
    )
    await store.close()
    await Promise.all(failed)
    await expect(thread.search('mill')).rejects.toThrow(/is closed/)
    expect(existsSync(`${store.path}-wal`)).toBe(false)

    const late = new SearchThread(store)
    store.closeWith(late)
    await expect(late.search('mill')).rejects.toThrow(/is closed/)
    expect(threads.started).toHaveLength(1)
  })

  it('QRY-RAG-030 keeps a process alive while it works, and not when it is done', async () => {
    const module = new URL('./search-thread.ts', import.meta.url)
    const script = `
      import { SearchThread } from ${JSON.stringify(module.href)}
      const thread = new SearchThread(${JSON.stringify({ path: store.path, name: 'mills' })})
      void thread.search('mill').then((chunks) => console.log(chunks.length))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { timeout: 15_000 })
    expect(stdout).toBe('2\n')
  })
})
