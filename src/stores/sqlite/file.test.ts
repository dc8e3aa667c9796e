import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SqliteDocumentStore } from '../sqlite.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-store-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

const MILL = { source: 'mill.md', text: 'The mill was built in 1874 beside the river.' }

/** A store with one document, closed. */
async function filled(path: string): Promise<string> {
  const store = await SqliteDocumentStore.open({ path })
  await store.append(MILL)
  await store.close()
  return path
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

describe('the file of a document store', () => {
  it('is refused and unchanged when it is not a document store', async () => {
    const cases: Readonly<Record<string, readonly [prepare: (path: string) => void, message: RegExp]>> = {
      folder: [(path) => mkdirSync(path), /is a folder/],
      empty: [(path) => writeFileSync(path, ''), /is an empty file/],
      text: [(path) => writeFileSync(path, 'Dear diary, today I indexed nothing.'), /is damaged, or a file of another kind/],
      other: [(path) => change(path, 'CREATE TABLE diary (day TEXT)'), /database of another application/],
      journal: [(path) => change(path, 'CREATE TABLE turns (id TEXT); PRAGMA application_id = 7'), /another application/],
    }
    for (const [name, [prepare, message]] of Object.entries(cases)) {
      const path = join(folder, name)
      prepare(path)
      const before = statSync(path).isDirectory() ? '' : readFileSync(path)
      for (const readOnly of [false, true]) {
        await expect(SqliteDocumentStore.open({ path, readOnly })).rejects.toMatchObject({ code: 'configuration', message })
      }
      expect(statSync(path).isDirectory() ? '' : readFileSync(path)).toEqual(before)
    }
  })

  it('is refused when it was made by a newer version', async () => {
    const path = await filled(join(folder, 'store.db'))
    change(path, 'PRAGMA user_version = 99')
    await expect(SqliteDocumentStore.open({ path })).rejects.toMatchObject({ code: 'configuration', message: /newer version/ })
  })

  it('is not created when opened read-only', async () => {
    const path = join(folder, 'missing.db')
    await expect(SqliteDocumentStore.open({ path, readOnly: true })).rejects.toMatchObject({ message: /no document store at/ })
    expect(readdirSync(folder)).toEqual([])
  })

  it('causes an error with advice when its folder cannot be created', async () => {
    writeFileSync(join(folder, 'file'), '')
    const opening = SqliteDocumentStore.open({ path: join(folder, 'file', 'store.db') })
    await expect(opening).rejects.toMatchObject({ code: 'store_failed' })
  })

  it('is accessible to its owner only', async () => {
    const path = await filled(join(folder, 'deep', 'store.db'))
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('is searched and not written when opened read-only', async () => {
    const path = await filled(join(folder, 'store.db'))
    const store = await SqliteDocumentStore.open({ path, readOnly: true })
    expect(await store.retrieve('mill', 5)).toHaveLength(1)
    await expect(store.append(MILL)).resolves.toBeUndefined()
    await expect(store.append({ ...MILL, text: 'Another text.' })).rejects.toMatchObject({
      code: 'store_failed',
      message: /read-only/,
    })
    expect(await store.retrieve('mill', 5)).toHaveLength(1)
    await store.close()
    await expect(store.retrieve('mill', 5)).rejects.toMatchObject({ code: 'store_failed', message: /is closed/ })
  })

  it('is indexed again after a version change of the analyzer; until then it can be read but not searched', async () => {
    const path = await filled(join(folder, 'store.db'))
    change(path, "UPDATE facts SET value = 0 WHERE name = 'analyzer'; DELETE FROM lists; DELETE FROM numbers")
    const reader = await SqliteDocumentStore.open({ path, readOnly: true })
    expect(await reader.getDocument('mill.md')).toMatchObject(MILL)
    expect(await reader.stats()).toMatchObject({ sources: 1, chunks: 1 })
    await expect(reader.retrieve('mill', 5)).rejects.toMatchObject({ message: /Open it once for writing/ })
    const store = await SqliteDocumentStore.open({ path })
    const fresh = await SqliteDocumentStore.open({ path: ':memory:' })
    await fresh.append(MILL)
    expect(await store.retrieve('the mill by the rivers', 5)).toEqual(await fresh.retrieve('the mill by the rivers', 5))
    expect(await reader.retrieve('mill', 5)).toHaveLength(1)
    await reader.close()
    await store.close()
    await fresh.close()
  })

  it('keeps its documents when it is older, and is indexed again when opened for writing', async () => {
    const path = join(folder, 'store.db')
    const [first, vectors] = MIGRATIONS
    const id = `chunk_${'0'.repeat(24)}`
    const details = JSON.stringify({ metadata: {}, start: 0, end: MILL.text.length, lines: [1, 1] })
    change(
      path,
      `${first}; ${vectors}; PRAGMA user_version = 2; PRAGMA application_id = ${APPLICATION_ID};
       INSERT INTO facts VALUES ('analyzer', 1);
       INSERT INTO sources VALUES (1, 'mill.md', 'h', 'r', 1, NULL, NULL, NULL, '{}', '["",""]');
       INSERT INTO chunks VALUES (1, 1, '${id}', '${details}', '${MILL.text}');
       UPDATE facts SET value = 2 WHERE name = 'next_chunk'; UPDATE facts SET value = 1 WHERE name = 'chunks'`,
    )
    await expect(SqliteDocumentStore.open({ path, readOnly: true })).rejects.toMatchObject({
      message: /Open it once for writing/,
    })
    const store = await SqliteDocumentStore.open({ path })
    expect(await store.retrieve('built mills', 5)).toMatchObject([{ id, source: 'mill.md' }])
    expect(await store.stats()).toMatchObject({ sources: 1, chunks: 1 })
    await store.append({ source: 'sails.md', text: 'The mill has sails of linen.' })
    expect(await store.retrieve('mill', 5)).toHaveLength(2)
    await store.close()
  })

  it('is indexed correctly by a process that deletes a document after another process rebuilt the file', async () => {
    const path = join(folder, 'store.db')
    const [one, other, fresh] = await Promise.all(
      [path, path, ':memory:'].map((each) => SqliteDocumentStore.open({ path: each })),
    )
    if (one === undefined || other === undefined || fresh === undefined) throw new Error('not opened')
    await one.append({ source: 'a.md', text: 'wheat barley oats' })
    await other.reset()
    await other.extend([
      { source: 'b.md', text: 'rye spelt millet' },
      { source: 'c.md', text: 'maize' },
    ])
    await one.delete('c.md')
    const late = { source: 'd.md', text: 'barley and rye' }
    await one.append(late)
    await fresh.extend([{ source: 'b.md', text: 'rye spelt millet' }, late])
    for (const query of ['barley', 'rye', 'wheat', 'spelt', 'oats']) {
      expect(await other.retrieve(query, 5)).toEqual(await fresh.retrieve(query, 5))
    }
    for (const store of [one, other, fresh]) await store.close()
  })

  it('causes an error that names the damage', async () => {
    const path = await filled(join(folder, 'store.db'))
    const bytes = readFileSync(path)
    bytes.fill(0xff, 4096)
    writeFileSync(path, bytes)
    const attempt = SqliteDocumentStore.open({ path }).then((store) => store.retrieve('mill', 5))
    await expect(attempt).rejects.toMatchObject({ code: 'store_failed', message: /damaged/ })
  })

  it.skipIf(process.getuid?.() === 0)('is read where nothing may be written', async () => {
    const path = await filled(join(folder, 'store.db'))
    chmodSync(path, 0o400)
    chmodSync(folder, 0o500)
    const store = await SqliteDocumentStore.open({ path, readOnly: true })
    expect(await store.retrieve('mill', 5)).toHaveLength(1)
    await store.close()
    chmodSync(folder, 0o700)
  })
})
