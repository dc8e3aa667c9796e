import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { cacheStoreSuite } from '../../testing/recorder-suite.ts'
import { journalFolder } from '../../../test/support/journal-folder.ts'
import { MemoryCache, ResponseCache } from '../../model/response-cache.ts'
import type { SqliteRecorder } from './recorder.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

cacheStoreSuite('answers in memory', () => ({ store: new MemoryCache(), close: () => {} }), { describe, it: test })

const place = journalFolder()
const open = (readOnly = false): Promise<SqliteRecorder> => place.open({ readOnly })

const ANSWER = { parts: [{ type: 'text' as const, text: 'kept \ud83d' }], finishReason: 'stop' as const, abstained: false }

describe('a cache in the file of a journal', () => {
  test('ENG-CACHE-001 is shared by all recorders of the file, and survives them', async () => {
    const [one, two] = [await open(), await open()]
    await new ResponseCache({ store: one.cache }).set('k', ANSWER)
    expect(await new ResponseCache({ store: two.cache }).get('k')).toEqual(ANSWER)
    for (const recorder of [one, two]) await recorder.close()
    expect(await new ResponseCache({ store: (await open()).cache }).get('k')).toEqual(ANSWER)
  })

  test('ENG-CACHE-001 LRU and age apply across recorders', async () => {
    const [one, two] = [await open(), await open()]
    let now = 0
    const cacheOf = ({ cache }: SqliteRecorder): ResponseCache =>
      new ResponseCache({ store: cache, max: 2, ttl: 10, clock: { now: () => now } })
    await cacheOf(one).set('a', ANSWER)
    await cacheOf(two).set('b', ANSWER)
    await cacheOf(one).get('a')
    await cacheOf(two).set('c', ANSWER)
    expect(await cacheOf(one).get('b')).toBeUndefined()
    expect(await cacheOf(two).get('a')).toEqual(ANSWER)
    now = 10
    expect(await cacheOf(one).get('a')).toBeUndefined()
    await one.gc()
    expect(rows()).toEqual([])
  })

  test.each([
    ['is cut', (value: string) => value.slice(0, -3)],
    ['has another text', (value: string) => value.replace('kept', 'lost')],
    ['is of an older format', (value: string) => value.replace('cria-answer-1', 'cria-answer-0')],
    ['is not an answer', () => 'hello'],
    ['is empty', () => ''],
    ['holds bytes', () => new Uint8Array([1, 2, 3])],
  ])('ENG-CACHE-001 an entry that %s is not found', async (_, damage) => {
    const cache = new ResponseCache({ store: (await open()).cache })
    await cache.set('k', ANSWER)
    const [value] = rows()
    change('UPDATE answers SET value = ?', damage(value ?? ''))
    expect(await cache.get('k')).toBeUndefined()
    await cache.set('k', ANSWER)
    expect(await cache.get('k')).toEqual(ANSWER)
  })

  test('ENG-CACHE-001 an entry under another key is not found', async () => {
    const cache = new ResponseCache({ store: (await open()).cache })
    await cache.set('k', ANSWER)
    change('UPDATE answers SET key = ?', 'other')
    expect(await cache.get('other')).toBeUndefined()
  })

  test('ENG-CACHE-001 a failing file returns no answer, and does not throw', async () => {
    const recorder = await open()
    const cache = new ResponseCache({ store: recorder.cache })
    await cache.set('k', ANSWER)
    await recorder.close()
    expect(await cache.get('k')).toBeUndefined()
    await cache.set('k', ANSWER)
  })

  test('ENG-CACHE-001 a read-only journal returns answers and stores none', async () => {
    await new ResponseCache({ store: (await open()).cache }).set('k', ANSWER)
    const cache = new ResponseCache({ store: (await open(true)).cache })
    await cache.set('other', ANSWER)
    expect([await cache.get('k'), await cache.get('other')]).toEqual([ANSWER, undefined])
  })

  test('ENG-CACHE-001 opening a journal of an older version creates the table', async () => {
    const database = new DatabaseSync(place.path)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA journal_mode = WAL`)
    for (const migration of MIGRATIONS.slice(0, 2)) database.exec(migration)
    database.exec('PRAGMA user_version = 2')
    database.close()
    const cache = new ResponseCache({ store: (await open()).cache })
    await cache.set('k', ANSWER)
    expect(await cache.get('k')).toEqual(ANSWER)
  })
})

function rows(): string[] {
  const database = new DatabaseSync(place.path)
  const values = database.prepare('SELECT value FROM answers').all()
  database.close()
  return values.map((row) => String(row['value']))
}

function change(sql: string, value: string | Uint8Array): void {
  const database = new DatabaseSync(place.path)
  database.prepare(sql).run(value)
  database.close()
}
