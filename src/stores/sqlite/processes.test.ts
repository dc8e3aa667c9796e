import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MemoryDocumentStore } from '../lazy.ts'
import { SqliteDocumentStore } from '../sqlite.ts'

const STORE = new URL('../sqlite.ts', import.meta.url).href
/** Stores `count` documents one after the other, and reports each. */
const WRITER = `
  const { SqliteDocumentStore } = await import(${JSON.stringify(STORE)})
  const [path, name, count] = process.argv.slice(2)
  const store = await SqliteDocumentStore.open({ path })
  for (let at = 0; at < Number(count); at++) {
    const source = name + '-' + (at % 40)
    await store.append({ source, text: 'Document ' + at + ' of ' + name + ' speaks of topic' + (at % 7) + ' and unique' + name + at + '.' })
    process.stdout.write(source + ' ' + at + '\\n')
  }
  await store.close()
`

let folder: string
let path: string
let script: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-store-'))
  path = join(folder, 'store.db')
  script = join(folder, 'writer.mjs')
  writeFileSync(script, WRITER)
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

function writer(name: string, count: number): ChildProcess {
  return spawn(process.execPath, [script, path, name, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] })
}

function integrity(): unknown {
  const database = new DatabaseSync(path)
  try {
    return database.prepare('PRAGMA integrity_check').get()
  } finally {
    database.close()
  }
}

/** Expects the results of an index that was built at once from the same documents. */
async function expectAsFresh(store: SqliteDocumentStore, queries: readonly string[]): Promise<void> {
  const fresh = new MemoryDocumentStore()
  for (const { source } of store.sources()) {
    const document = await store.getDocument(source)
    if (document !== undefined) await fresh.append(document)
  }
  for (const query of queries) expect(await store.retrieve(query, 200)).toEqual(await fresh.retrieve(query, 200))
  await fresh.close()
}

describe('several processes on one store', () => {
  it('lose no documents when they write at once', async () => {
    const names = ['anna', 'berta', 'carla', 'dora']
    const codes = await Promise.all(
      names.map(async (name) => {
        const [code] = await once(
          writer(name, 30).on('spawn', () => {}),
          'exit',
        )
        return code as unknown
      }),
    )
    expect(codes).toEqual(names.map(() => 0))
    expect(integrity()).toEqual({ integrity_check: 'ok' })
    const store = await SqliteDocumentStore.open({ path })
    expect(await store.stats()).toMatchObject({ sources: 120, chunks: 120 })
    for (const name of names) expect(await store.retrieve(`unique${name}29`, 1)).toMatchObject([{ source: `${name}-29` }])
    await expectAsFresh(store, ['topic3 document', 'uniqueanna1', 'speaks of topics'])
    await store.close()
  })

  it('keep reported documents after a kill, and continue', async () => {
    const store = await SqliteDocumentStore.open({ path })
    for (let round = 0; round < 6; round++) {
      const child = writer(`killed${round}`, 100_000)
      const reported = new Map<string, string>()
      const after = 1 + ((round * 37) % 90)
      if (child.stdout === null) throw new Error('the writer has no output')
      for await (const line of createInterface({ input: child.stdout })) {
        const [source = '', at = ''] = line.split(' ')
        reported.set(source, at)
        if (reported.size + Number(at) > 2 * after) child.kill('SIGKILL')
      }
      for (const [source, at] of reported) {
        const text = (await store.getDocument(source))?.text
        // The next document of the same source may have been stored without a report.
        expect(text).toMatch(new RegExp(`^Document (${at}|${Number(at) + 40}) of `))
      }
    }
    expect(integrity()).toEqual({ integrity_check: 'ok' })
    await expectAsFresh(store, ['topic3 document', 'speaks of topics', 'uniquekilled05'])
    await store.append({ source: 'after', text: 'Life goes on.' })
    expect(await store.retrieve('life', 1)).toMatchObject([{ source: 'after' }])
    await store.close()
  }, 60_000)

  it('see documents that others have written or removed', async () => {
    const one = await SqliteDocumentStore.open({ path })
    const other = await SqliteDocumentStore.open({ path })
    await one.append({ source: 'a', text: 'first words' })
    expect(await other.retrieve('words', 5)).toHaveLength(1)
    await other.append({ source: 'b', text: 'second words' })
    await one.append({ source: 'a', text: 'changed altogether' })
    expect(await one.retrieve('words', 5)).toMatchObject([{ source: 'b' }])
    await other.reset()
    expect(await one.retrieve('words changed', 5)).toEqual([])
    await one.append({ source: 'c', text: 'words again' })
    expect(await other.retrieve('words', 5)).toMatchObject([{ source: 'c' }])
    await one.close()
    await other.close()
  })
})
