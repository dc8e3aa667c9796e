import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { recorderSuite } from '../../../test/contract/recorder.ts'
import { SqliteRecorder } from './recorder.ts'

recorderSuite(
  'SqliteRecorder',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'cria-journal-'))
    return {
      open: (options) => SqliteRecorder.open({ path: join(folder, 'cria.db'), ...options }),
      remove: () => rmSync(folder, { recursive: true }),
    }
  },
  { describe, it },
)
