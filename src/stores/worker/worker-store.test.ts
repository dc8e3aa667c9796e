import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { documentStoreSuite } from '../../testing/document-store-suite.ts'
import { SqliteDocumentStore } from '../sqlite.ts'
import { SearchThread } from './search-thread.ts'
import { WorkerStore } from './worker-store.ts'

documentStoreSuite(
  'WorkerStore',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'cria-worker-store-'))
    return {
      open: async () => {
        const store = await SqliteDocumentStore.open({ path: join(folder, 'store.db') })
        const thread = new SearchThread(store)
        store.closeWith(thread)
        return new WorkerStore(store, thread)
      },
      remove: () => rmSync(folder, { recursive: true }),
    }
  },
  { describe, it },
)
