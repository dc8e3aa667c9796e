import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { wordVectors } from '../../test/support/word-vectors.ts'
import { documentStoreSuite } from '../testing/document-store-suite.ts'
import { MemoryDocumentStore } from './lazy.ts'
import { SqliteDocumentStore } from './sqlite.ts'

documentStoreSuite(
  'SqliteDocumentStore',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'cria-store-'))
    return {
      open: () => SqliteDocumentStore.open({ path: join(folder, 'store.db') }),
      remove: () => rmSync(folder, { recursive: true }),
    }
  },
  { describe, it },
)

documentStoreSuite('MemoryDocumentStore', () => ({ open: () => new MemoryDocumentStore(), forgets: true, remove: () => {} }), {
  describe,
  it,
})

documentStoreSuite(
  'SqliteDocumentStore with vectors',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'cria-store-'))
    return {
      open: () => SqliteDocumentStore.open({ path: join(folder, 'store.db'), embeddingModel: wordVectors() }),
      remove: () => rmSync(folder, { recursive: true }),
    }
  },
  { describe, it },
)

documentStoreSuite(
  'MemoryDocumentStore with vectors',
  () => ({ open: () => new MemoryDocumentStore({ embeddingModel: wordVectors() }), forgets: true, remove: () => {} }),
  { describe, it },
)
