import { DatabaseSync } from 'node:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recorderProperties } from '../../../test/contract/recorder-properties.ts'
import { memoryStorage, query, recorderOn, SimpleBot } from '../../index.ts'
import type { JournalRows, JournalStorage, Tool } from '../../index.ts'
import { collect, recorderSuite, ScriptedModel } from '../../testing.ts'
import type { Collected, JournalUnderTest } from '../../testing.ts'

const inMemory = (): JournalUnderTest => {
  const storage = memoryStorage()
  return { open: (options) => recorderOn(storage, options), remove: () => {} }
}

/** A storage on a table of two columns, an example for other databases. */
function tableStorage(path: string): JournalStorage {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA busy_timeout = 5000; CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID')
  const rows: JournalRows = {
    get: (key) => database.prepare('SELECT value FROM rows WHERE key = ?').get(key)?.['value'] as string | undefined,
    list: ({ from, to, reverse = false, limit = -1 }) =>
      database
        .prepare(`SELECT key, value FROM rows WHERE key >= ? AND key < ? ORDER BY key ${reverse ? 'DESC' : ''} LIMIT ?`)
        .all(from, to, limit)
        .map(({ key, value }) => [String(key), String(value)] as const),
    set: (key, value) => void database.prepare('INSERT OR REPLACE INTO rows VALUES (?, ?)').run(key, value),
    delete: (key) => void database.prepare('DELETE FROM rows WHERE key = ?').run(key),
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    transaction: (work) => {
      const done = last.then(async () => {
        database.exec('BEGIN IMMEDIATE')
        try {
          const result = await work(rows)
          database.exec('COMMIT')
          return result
        } catch (error) {
          database.exec('ROLLBACK')
          throw error
        }
      })
      last = done.catch(() => {})
      return done
    },
    close: async () => {
      await last
      database.close()
    },
  }
}

const inTable = (): JournalUnderTest => {
  const folder = mkdtempSync(join(tmpdir(), 'cria-table-'))
  return {
    open: (options) => recorderOn(tableStorage(join(folder, 'rows.db')), options),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

recorderSuite('recorderOn(memoryStorage())', inMemory, { describe, it }, { claims: [] })
recorderSuite('recorderOn(a table of two columns)', inTable, { describe, it }, { claims: [] })
recorderProperties('recorderOn(memoryStorage()): every turn', inMemory, { describe, it })

describe('recorderOn', () => {
  it('REC-LOG-001 stores the turns and sessions of bots for all recorders on the same storage', async () => {
    const storage = memoryStorage()
    const model = new ScriptedModel(['Hello, Ada.', 'You are Ada.'])
    const recorder = recorderOn(storage)
    const bot = new SimpleBot({ model, recorder, streamTarget: 'none' })
    const { sessionId } = await bot.ask('I am Ada.')
    await bot.ask('Who am I?', { sessionId })
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(['I am Ada.', 'Hello, Ada.', 'Who am I?'])
    const { turns } = await recorderOn(storage).read.turns()
    expect(turns).toMatchObject([{ question: 'Who am I?' }, { question: 'I am Ada.' }])
    await recorder.close()
  })

  it('a waiting turn can be decided by another recorder on the same storage, once', async () => {
    const storage = memoryStorage()
    const sent: unknown[] = []
    const send: Tool = {
      name: 'send',
      description: 'Sends.',
      inputSchema: { type: 'object' },
      call: (input) => void sent.push(input),
    }
    const model = new ScriptedModel([{ toolCalls: [{ id: 'c', name: 'send', input: { to: 'ada' } }] }, 'Sent.', 'Sent.'])
    const sessionId = 'ses/~waiting%'
    const ask = { prompt: 'Send it.', sessionId, model, tools: [send], hasPermissionsToUseTool: () => 'wait' as const }
    const waited = await collect(query({ ...ask, recorder: recorderOn(storage) }))
    const turnId = waited.events[0]?.turnId ?? ''
    expect(waited.result?.finishReason).toBe('waiting')
    const later = recorderOn(storage)
    expect((await later.read.turns({ status: 'waiting' })).turns).toMatchObject([{ turnId }])
    const decide = { turnId, decisions: true }
    const decided = await collect(query({ sessionId, model, tools: [send], recorder: later, decide }))
    expect(decided.text).toBe('Sent.')
    expect(sent).toEqual([{ to: 'ada' }])
    const { turns } = await later.read.turns()
    expect(turns).toMatchObject([
      { status: 'done', question: 'Send it.' },
      { status: 'done', turnId },
    ])
    const again = await collect(query({ sessionId, model, tools: [send], recorder: later, decide }))
    expect(again.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'not_found' } })
    expect(sent).toHaveLength(1)
  })

  it('a session belongs to its first user', async () => {
    const recorder = recorderOn(memoryStorage())
    const ask = (userId: string | undefined): Promise<Collected> =>
      collect(
        query({
          prompt: 'x',
          sessionId: 's',
          model: new ScriptedModel(['x']),
          recorder,
          ...(userId === undefined ? {} : { userId }),
        }),
      )
    await ask('ada')
    await ask(undefined)
    expect((await ask('bob')).events.at(-1)).toMatchObject({ type: 'error', error: { code: 'permission_denied' } })
    expect((await recorder.read.turns({ userId: 'ada' })).turns).toHaveLength(2)
  })

  it('a failing storage ends the turn with `journal_failed`, and an invalid storage is rejected at once', async () => {
    const broken: JournalStorage = { transaction: () => Promise.reject(new Error('disk full')) }
    const bot = new SimpleBot({ model: new ScriptedModel(['x']), recorder: recorderOn(broken), streamTarget: 'none' })
    await expect(bot.ask('x')).rejects.toMatchObject({
      code: 'journal_failed',
      message: expect.stringContaining('disk full') as string,
    })
    expect(() => recorderOn({} as never)).toThrow(/takes a storage/)
    await expect(recorderOn(memoryStorage()).read.turns({ search: 'x' })).rejects.toThrow(/has no `search`/)
  })
})
