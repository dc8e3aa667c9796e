/** Opens a journal in a separate folder for each test of a file. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'

/** Opens a journal before each test, passes it to `use` with its folder, and removes both afterwards. */
export function journalForEach(use: (recorder: SqliteRecorder, folder: string) => void): void {
  let opened: SqliteRecorder | undefined
  let folder = ''
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cria-journal-'))
    opened = await SqliteRecorder.open({ path: join(folder, 'cria.db') })
    use(opened, folder)
  })
  afterEach(async () => {
    await opened?.close()
    rmSync(folder, { recursive: true })
  })
}
