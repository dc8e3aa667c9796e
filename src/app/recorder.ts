/** Opens a recorder for callers who keep it themselves. */

import type { GcReport, JournalKeeper, Recorder } from '../core/recorder.ts'
import { checkNames, checkOneOf } from '../engine/checks/values.ts'
import { openJournal, selfTending } from './journal.ts'
import { homePaths } from './paths.ts'
import { namesOf } from '../util/nearest.ts'

/** Options of `openRecorder()`. */
export interface OpenRecorderOptions {
  /** A file of your own; default the journal of `CRIA_HOME`, shared with the command line. */
  readonly path?: string
  /** Reads only: nothing is made, changed or marked as lost. */
  readonly readOnly?: boolean
  /** `full` waits for the disk with every batch and loses nothing when the machine loses power; default `normal`. */
  readonly synchronous?: 'normal' | 'full'
  /**
   * Told what was removed when the journal was beyond its limits (365 days, 1 GB): once a day at most, a small share of its turns. Default:
   * a warning of the process.
   */
  readonly onCleanUp?: (report: GcReport) => void
}

const OPTIONS = namesOf<OpenRecorderOptions>({ path: true, readOnly: true, synchronous: true, onCleanUp: true })

/**
 * Opens a journal on a SQLite file. Several processes may have the same one open. Close it when you are done, unless it is the shared one.
 *
 * @throws CriaError `journal_failed` or `configuration` that names the file and what to do.
 */
export async function openRecorder(options: string | OpenRecorderOptions = {}): Promise<Recorder & JournalKeeper> {
  const given: OpenRecorderOptions = typeof options === 'string' ? { path: options } : options
  checkNames('openRecorder()', given, OPTIONS)
  checkOneOf('synchronous', given.synchronous, ['normal', 'full'])
  if (given.path === undefined && given.readOnly !== true && given.synchronous === undefined && given.onCleanUp === undefined)
    return openJournal()
  const { SqliteRecorder } = await import('../recorders/sqlite/recorder.ts')
  const path = given.path ?? homePaths({ env: process.env, cwd: process.cwd() }).journal
  return SqliteRecorder.open({ ...selfTending(path), ...given, path })
}
