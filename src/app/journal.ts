/** Opens journals: that of this home, and recorders for callers who keep them themselves. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigurationError, CriaError, isCriaError } from '../core/error.ts'
import type { GcReport, JournalKeeper, Recorder } from '../core/recorder.ts'
import { checkNames, checkOneOf } from '../engine/checks/values.ts'
import type { OtlpExporter } from '../recorders/otlp/exporter.ts'
import { namesOf } from '../util/nearest.ts'
import { homePaths, makeHomeFolder } from './paths.ts'
import type { Surroundings } from './paths.ts'
import { describeCleanUp, upkeep } from './upkeep.ts'

export type Journal = Recorder & JournalKeeper

const shared = new Map<string, Promise<Journal>>()
const exporters = new Set<OtlpExporter>()

/**
 * The journal of `CRIA_HOME`, opened once per process and file, and made where it is missing.
 *
 * @throws CriaError `journal_failed` that names the file and what to do.
 */
export function openJournal(surroundings: Surroundings = { env: process.env, cwd: process.cwd() }): Promise<Journal> {
  const { journal } = homePaths(surroundings)
  let opened = shared.get(journal)
  if (opened === undefined) {
    opened = openFile(surroundings)
    shared.set(journal, opened)
    // What failed once may work later: a folder that was made writable, a disk with room.
    opened.catch(() => shared.delete(journal))
  }
  return opened
}

/** Journals of which it has been said that they cannot be written. */
const givenUp = new Set<string>()

/**
 * The journal for a bot that was given no recorder; `undefined` where the home cannot be written, which a warning of the process says once. A bot
 * that nobody told where to write answers all the same.
 *
 * @throws CriaError as `openJournal` for whatever else is wrong with the journal: it is damaged, or written by a newer version.
 */
export async function openJournalIfWritable(
  surroundings: Surroundings = { env: process.env, cwd: process.cwd() },
): Promise<Journal | undefined> {
  try {
    return await openJournal(surroundings)
  } catch (thrown) {
    if (!isUnwritable(thrown)) throw thrown
    const { message, hint } = thrown as CriaError
    const { journal } = homePaths(surroundings)
    if (!givenUp.has(journal)) {
      givenUp.add(journal)
      const advice = `${hint === undefined ? '' : `${hint} `}Without a journal, pass \`recorder: false\`.`
      process.emitWarning(`Turns are not recorded: ${message} ${advice}`, 'CriaJournalWarning')
    }
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

/** The same, where there is one already: for those who change what is in it. */
export async function openJournalIfThere(surroundings: Surroundings): Promise<Journal | undefined> {
  return existsSync(homePaths(surroundings).journal) ? openJournal(surroundings) : undefined
}

/** The same for those who only read: a journal that cannot be written, by its permissions or those of its disk, can still be read. */
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
      'CRIA_DATABASE_URL is set, but a journal in PostgreSQL is not there yet: unset it to use the file.',
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
    // Nobody named this file on the command line: that it cannot be used is a failure, no wrong usage.
    if (thrown instanceof ConfigurationError) {
      const { message, hint } = thrown
      throw new CriaError('journal_failed', message, { cause: thrown, ...(hint === undefined ? {} : { hint }) })
    }
    throw thrown
  }
}

/** Where no command line looks after the journal, it looks after itself, and says what it has removed as a warning of the process. */
export function selfTending(path: string): { readonly onCleanUp?: (report: GcReport) => void } {
  if (upkeep.atEnd) return {}
  return { onCleanUp: (report) => process.emitWarning(`cria: ${describeCleanUp(path, report)}`) }
}

function signalOf({ signal }: Surroundings): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

/** Where a collector is configured, it gets the spans as well, under the names that OpenTelemetry's own exporters read. */
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

/** Resolves when a collector has been sent what it is to get, or cannot be. */
export async function spansSent(): Promise<void> {
  await Promise.all([...exporters].map((exporter) => exporter.flush()))
}

export { exportTurns } from '../recorders/export.ts'

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
