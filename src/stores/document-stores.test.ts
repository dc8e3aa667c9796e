import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { wordVectors } from '../../test/support/word-vectors.ts'
import type { DocumentStore } from '../core/store.ts'
import { documentStoreSuite } from '../testing/document-store-suite.ts'
import type { StoreUnderTest } from '../testing/document-store-suite.ts'
import { MemoryDocumentStore } from './lazy.ts'
import { SqliteDocumentStore } from './sqlite.ts'
import { SearchThread, WorkerStore } from './worker/search-thread.ts'

/** Opens a store in a file of its own. */
const inFolder = (open: (path: string) => Promise<DocumentStore>) => (): StoreUnderTest => {
  const folder = mkdtempSync(join(tmpdir(), 'cria-store-'))
  return { open: () => open(join(folder, 'store.db')), remove: () => rmSync(folder, { recursive: true }) }
}

for (const [kind, options] of [
  ['', {}],
  [' with vectors', { embeddingModel: wordVectors() }],
] as const) {
  const openFile = (path: string): Promise<SqliteDocumentStore> => SqliteDocumentStore.open({ path, ...options })
  const openWorker = async (path: string): Promise<WorkerStore> => {
    const store = await openFile(path)
    const thread = new SearchThread(store)
    store.closeWith(thread)
    return new WorkerStore(store, thread)
  }
  const openMemory = (): StoreUnderTest => ({ open: () => new MemoryDocumentStore(options), forgets: true, remove: () => {} })

  documentStoreSuite(`SqliteDocumentStore${kind}`, inFolder(openFile), { describe, it })
  documentStoreSuite(`WorkerStore${kind}`, inFolder(openWorker), { describe, it })
  documentStoreSuite(`MemoryDocumentStore${kind}`, openMemory, { describe, it })
}
