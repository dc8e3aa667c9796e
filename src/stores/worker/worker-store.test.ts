import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { wordVectors } from '../../../test/support/word-vectors.ts'
import { documentStoreSuite } from '../../testing/document-store-suite.ts'
import { SqliteDocumentStore } from '../sqlite.ts'
import { SearchThread, WorkerStore } from './search-thread.ts'

for (const [name, options] of [
  ['WorkerStore', {}],
  ['WorkerStore with vectors', { embeddingModel: wordVectors() }],
] as const)
  documentStoreSuite(
    name,
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'cria-worker-store-'))
      return {
        open: async () => {
          const store = await SqliteDocumentStore.open({ path: join(folder, 'store.db'), ...options })
          const thread = new SearchThread(store)
          store.closeWith(thread)
          return new WorkerStore(store, thread)
        },
        remove: () => rmSync(folder, { recursive: true }),
      }
    },
    { describe, it },
  )
