/** Opens journals: that of this home, and journals in files of the caller. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigurationError, isCriaError } from '../core/error.ts'
import type { CriaError } from '../core/error.ts'
import type { GcReport, JournalKeeper, Recorder } from '../core/recorder.ts'
import { checkNames, checkOneOf } from '../engine/checks/values.ts'
import type { OtlpExporter } from '../recorders/otlp/exporter.ts'
import { namesOf } from '../util/nearest.ts'
import { asFailure, homePaths, makeHomeFolder } from './paths.ts'
import type { Surroundings } from './paths.ts'
import { describeCleanUp, upkeep } from './upkeep.ts'

export type Journal = Recorder & JournalKeeper

const shared = new Map<string, Promise<Journal>>()
const exporters = new Set<OtlpExporter>()

/**
 * Opens the journal of `CRIA_HOME`, once per process and file; creates it where it is missing.
 *
 * @throws CriaError `journal_failed` that names the file and what to do.
 */
export function openJournal(surroundings: Surroundings = { env: process.env, cwd: process.cwd() }): Promise<Journal> {
  const { journal } = homePaths(surroundings)
  let opened = shared.get(journal)
  if (opened === undefined) {
    opened = openFile(surroundings)
    shared.set(journal, opened)
    // A failed open is retried by the next call: the folder may be writable by then.
    opened.catch(() => shared.delete(journal))
  }
  return opened
}

/** Journals for which the warning that they cannot be written was already emitted. */
const givenUp = new Set<string>()

/** Emits a process warning, once per journal. */
function warnOfUnwritable({ message, hint }: CriaError, journal: string): void {
  if (givenUp.has(journal)) return
  givenUp.add(journal)
  const advice = `${hint === undefined ? '' : `${hint} `}Without a journal, pass \`recorder: false\`.`
  process.emitWarning(`Turns are not recorded: ${message} ${advice}`, 'CriaJournalWarning')
}

/**
 * Opens the journal for a bot without a recorder; `undefined` where the home cannot be written, after `report`. Such a bot still answers,
 * because its caller did not ask for a record.
 *
 * @param report default: emits one process warning per journal.
 * @throws CriaError as `openJournal` for any other problem: the journal is damaged, or of a newer version.
 */
export async function openJournalIfWritable(
  surroundings: Surroundings = { env: process.env, cwd: process.cwd() },
  report: (failure: CriaError, journal: string) => void | Promise<void> = warnOfUnwritable,
): Promise<Journal | undefined> {
  try {
    return await openJournal(surroundings)
  } catch (thrown) {
    if (!isUnwritable(thrown)) throw thrown
    await report(thrown as CriaError, homePaths(surroundings).journal)
    return undefined
  }
}

const UNWRITABLE: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'ENOSPC', 'EDQUOT'])
/** SQLite's codes for a file that cannot be written (8), a full disk (13), and a file that cannot be opened (14). */
const UNWRITABLE_SQLITE: ReadonlySet<unknown> = new Set([8, 13, 14])

function isUnwritable(thrown: unknown): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
    if (UNWRITABLE.has(code) || (typeof errcode === 'number' && UNWRITABLE_SQLITE.has(errcode & 0xff))) return isCriaError(thrown)
  }
  return false
}

/** Opens an existing journal for changes; `undefined` where it does not exist. */
export async function openJournalIfThere(surroundings: Surroundings): Promise<Journal | undefined> {
  return existsSync(homePaths(surroundings).journal) ? openJournal(surroundings) : undefined
}

/** Opens an existing journal for reading, also where its permissions or disk do not allow writing. */
export async function openJournalToRead(surroundings: Surroundings): Promise<Journal | undefined> {
  const { journal } = homePaths(surroundings)
  if (!existsSync(journal)) return undefined
  try {
    return await openJournal(surroundings)
  } catch (failure) {
    if (!isCriaError(failure) || failure.code !== 'journal_failed') throw failure
    const { SqliteRecorder } = await import('../recorders/sqlite/recorder.ts')
    try {
      return await SqliteRecorder.open({ path: journal, readOnly: true, ...signalOf(surroundings) })
    } catch {
      throw failure
    }
  }
}

async function openFile(surroundings: Surroundings): Promise<Journal> {
  if ((surroundings.env['CRIA_DATABASE_URL'] ?? '') !== '') {
    throw new ConfigurationError(
      'CRIA_DATABASE_URL is set, but a journal in PostgreSQL is not supported yet: unset it to use the file.',
    )
  }
  const paths = homePaths(surroundings)
  makeHomeFolder(paths)
  const { SqliteRecorder } = await import('../recorders/sqlite/recorder.ts')
  try {
    const journal = await SqliteRecorder.open({
      path: paths.journal,
      folder: resolve(surroundings.cwd),
      ...signalOf(surroundings),
      ...selfTending(paths.journal),
    })
    upkeep.journals.add(journal)
    return await withExport(journal, surroundings.env)
  } catch (thrown) {
    throw asFailure(thrown, 'journal_failed')
  }
}

/** Makes a journal that no command maintains clean itself up, and report that as a process warning. */
function selfTending(path: string): { readonly onCleanUp?: (report: GcReport) => void } {
  if (upkeep.atEnd) return {}
  return { onCleanUp: (report) => process.emitWarning(`cria: ${describeCleanUp(path, report)}`) }
}

function signalOf({ signal }: Surroundings): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

/** Sends the spans to the configured collector too, if any, under the variable names of OpenTelemetry's own exporters. */
async function withExport(journal: Journal, env: Surroundings['env']): Promise<Journal> {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? ''
  if (endpoint === '') return journal
  const { exportSpans, headersOf, OtlpExporter } = await import('../recorders/otlp/exporter.ts')
  const serviceName = env['OTEL_SERVICE_NAME'] ?? ''
  const exporter = new OtlpExporter({
    endpoint,
    headers: headersOf(env['OTEL_EXPORTER_OTLP_HEADERS'] ?? ''),
    ...(serviceName === '' ? {} : { serviceName }),
  })
  exporters.add(exporter)
  return exportSpans(journal, exporter)
}

/** Resolves when the spans were sent to the collector, or could not be sent. */
export async function spansSent(): Promise<void> {
  await Promise.all([...exporters].map((exporter) => exporter.flush()))
}

export { exportTurns } from '../recorders/export.ts'

/** Options of `openRecorder()`. */
export interface OpenRecorderOptions {
  /** Path of a file; default the journal of `CRIA_HOME`, shared with the command line. */
  readonly path?: string
  /** Reads only: creates nothing, changes nothing, marks no turn as lost. */
  readonly readOnly?: boolean
  /** `full` waits for the disk with every batch and survives a power failure; `normal` (default) may then lose the last moments. */
  readonly synchronous?: 'normal' | 'full'
  /**
   * Called with a report after old turns were removed, because the journal exceeded its limits (365 days, 1 GB): at most once a day, a small share
   * of its turns. Default: emits a process warning.
   */
  readonly onCleanUp?: (report: GcReport) => void
}

const OPTIONS = namesOf<OpenRecorderOptions>({ path: true, readOnly: true, synchronous: true, onCleanUp: true })

/**
 * Opens a journal on a SQLite file, which several processes may share. Close it when you are done, unless it is the shared journal.
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
