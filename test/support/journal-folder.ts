/** Creates a journal folder for each test of a file, and closes the recorders that the test opens on it. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'
import type { SqliteRecorderOptions } from '../../src/recorders/sqlite/recorder.ts'

/** The journal of the current test. */
export interface JournalFolder {
  readonly folder: string
  readonly path: string
  /** Opens a recorder on the journal; it is closed after the test. */
  open(options?: Partial<SqliteRecorderOptions>): Promise<SqliteRecorder>
}

export function journalFolder(): JournalFolder {
  const opened: SqliteRecorder[] = []
  const place = {
    folder: '',
    path: '',
    open: async (options: Partial<SqliteRecorderOptions> = {}) => {
      const recorder = await SqliteRecorder.open({ path: place.path, ...options })
      opened.push(recorder)
      return recorder
    },
  }
  beforeEach(() => {
    place.folder = mkdtempSync(join(tmpdir(), 'cria-journal-'))
    place.path = join(place.folder, 'cria.db')
  })
  afterEach(async () => {
    for (const recorder of opened.splice(0)) await recorder.close()
    rmSync(place.folder, { recursive: true })
  })
  return place
}

/** Opens a journal before each test and passes it to `use` with its folder. */
export function journalForEach(use: (recorder: SqliteRecorder, folder: string) => void): void {
  const place = journalFolder()
  beforeEach(async () => use(await place.open(), place.folder))
}
