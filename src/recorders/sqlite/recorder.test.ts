import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { recorderProperties } from '../../../test/contract/recorder-properties.ts'
import { recorderSuite } from '../../testing/recorder-suite.ts'
import type { JournalUnderTest } from '../../testing/recorder-suite.ts'
import { thisOwner } from './lease.ts'
import { SqliteRecorder } from './recorder.ts'

function createJournal(): JournalUnderTest {
  const folder = mkdtempSync(join(tmpdir(), 'cria-journal-'))
  // As on a system that does not report the start of a process: then only the lease decides whether a turn is held.
  const owner = { ...thisOwner(), started: '' }
  return {
    open: (options) => SqliteRecorder.open({ path: join(folder, 'cria.db'), owner, ...options }),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

recorderSuite('SqliteRecorder', createJournal, { describe, it })
recorderProperties('SqliteRecorder: every turn', createJournal, { describe, it })
