/** Runs the checks of `cria doctor`: reports problems of the installation in words, with remedies. Changes nothing. */

import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statfsSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { toCriaError } from '../core/error.ts'
import { EXTRACTIVE_REF } from '../providers/extractive/model.ts'
import { findSandbox } from '../tools/sandbox/system-sandbox.ts'
import type { SandboxConfig } from './config-schema.ts'
import { loadConfig } from './config.ts'
import type { LoadedConfig } from './config.ts'
import { openMcpServers } from './mcp.ts'
import { defaultModelRef } from './models.ts'
import { homePaths, reason, remedy, storePath } from './paths.ts'
import type { HomePaths, Surroundings } from './paths.ts'
import { checkProviders } from './providers.ts'
import { isDerived, storeDocuments, storeNames } from './store-choice.ts'

/** The outcome of one check of `cria doctor`. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** The remedy; absent where the check succeeded. */
  readonly hint?: string
  /** Set if there was nothing to check: it is not in use, or `offline` was set. `status` is then `ok`. */
  readonly skipped?: true
}

function ok(name: string, message: string): Check {
  return { name, status: 'ok', message }
}

function skipped(name: string, message: string): Check {
  return { ...ok(name, message), skipped: true }
}

function warning(name: string, message: string, hint?: string): Check {
  return { name, status: 'warning', message, ...(hint === undefined ? {} : { hint }) }
}

function failed(name: string, message: string, hint?: string): Check {
  return { name, status: 'failed', message, ...(hint === undefined ? {} : { hint }) }
}

/** Makes a failed check of a thrown error. */
function failedWith(name: string, thrown: unknown): Check {
  const { message, hint } = toCriaError(thrown)
  return failed(name, message, hint)
}

export interface Diagnosis {
  /** True when no check has failed. */
  readonly ok: boolean
  readonly checks: readonly Check[]
}

const OLDEST_NODE = [22, 18] as const

export interface DiagnoseOptions {
  readonly signal: AbortSignal
  /**
   * Sends no requests and starts no MCP servers. Default false: each configured provider receives one tiny request, which costs a
   * few tokens, and each server is started and stopped.
   */
  readonly offline?: boolean
}

export async function diagnose(surroundings: Surroundings, { signal, offline = false }: DiagnoseOptions): Promise<Diagnosis> {
  const { env } = surroundings
  const paths = homePaths(surroundings)
  const checks: Check[] = [checkNode(process.versions.node), ...checkHome(paths)]
  let loaded: LoadedConfig | undefined
  try {
    loaded = loadConfig(surroundings)
    checks.push(ok('configuration', loaded.files.length === 0 ? 'no file, none is needed' : loaded.files.join(', ')))
  } catch (thrown) {
    checks.push(failedWith('configuration', thrown))
  }
  checks.push(...checkTrust(loaded), await checkSandbox(loaded?.config.sandbox))
  checks.push(await checkDatabase('journal', paths.journal))
  for (const name of storeNames(paths, { derived: true })) checks.push(await checkStore(name, storePath(paths, name)))
  const chosen = loaded === undefined ? undefined : await checkDefaultModel(env, loaded, offline)
  const config = loaded?.config ?? {}
  for (const { provider, message, hint, skipped: isSkipped } of await checkProviders({
    env,
    config,
    defaultModel: chosen?.ref,
    offline,
    signal,
  })) {
    const wrong = chosen?.ref?.startsWith(`${provider}/`) === true ? failed : warning
    const right = isSkipped === true ? skipped : ok
    checks.push((hint === undefined ? right : wrong)(`provider ${provider}`, message, hint))
  }
  if (chosen !== undefined) checks.push(chosen.check)
  if (loaded !== undefined) checks.push(...(await checkMcpServers(loaded, surroundings, { offline, signal })))
  return { ok: checks.every(({ status }) => status !== 'failed'), checks }
}

/** Reports whether commands run in a sandbox on this machine. */
async function checkSandbox({ mode = 'auto', network = 'none' }: SandboxConfig = {}): Promise<Check> {
  const found = await findSandbox()
  if (mode === 'off')
    return warning('sandbox', 'switched off: commands reach everything that you can', 'Set "sandbox" to "auto" in config.json.')
  if (found.kind === 'none' && mode === 'required') return failed('sandbox', `${found.reason}: commands are refused.`, found.hint)
  if (found.kind === 'none') {
    const effect =
      'commands are not confined; with secrets or forbidden paths around, only those run unasked that a rule names exactly'
    return warning('sandbox', `${found.reason}: ${effect}.`, found.hint)
  }
  const reach = network === 'all' ? 'with the network' : 'without network'
  const root = process.getuid?.() === 0 ? ' The number of processes is not limited for root.' : ''
  return ok('sandbox', `commands and MCP servers run in ${found.kind}, ${reach}; single hosts cannot be allowed.${root}`)
}

function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const fits = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])
  if (fits) return ok('node', `Node ${version}`)
  const oldest = OLDEST_NODE.join('.')
  return failed('node', `Node ${version} is too old: ${oldest} or newer is needed.`, 'Install a newer Node.js.')
}

function checkTrust(loaded: LoadedConfig | undefined): Check[] {
  if (loaded?.project === undefined) return []
  const { file, trust } = loaded.project
  if (trust === 'trusted') return [ok('trust', `${file} is trusted`)]
  const message = trust === 'changed' ? `${file} has changed since you trusted it and is not used.` : `${file} is not used.`
  return [warning('trust', message, 'Look at it, then run `cria trust`.')]
}

async function checkDefaultModel(
  env: Surroundings['env'],
  { config }: LoadedConfig,
  offline: boolean,
): Promise<{ readonly check: Check; readonly ref?: string }> {
  try {
    const ref = await defaultModelRef(env, config, offline ? unasked : fetch)
    const quotes = ref === EXTRACTIVE_REF ? ': answers by quoting, as no other model is configured' : ''
    return { ref, check: ok('default model', `${ref}${quotes}`) }
  } catch (thrown) {
    return { check: { ...failedWith('default model', thrown), hint: 'See docs/configuration.md.' } }
  }
}

const unasked: typeof fetch = () => Promise.reject(new TypeError('No server is asked with --offline.'))

/** Starts each MCP server, unless `offline`. The configuration contains a project's servers only if it is trusted. */
function checkMcpServers(
  loaded: LoadedConfig,
  surroundings: Surroundings,
  { offline, signal }: Required<DiagnoseOptions>,
): Promise<Check[]> {
  const { mcpServers = {} } = loaded.config
  const check = async (server: string): Promise<Check> => {
    const name = `MCP server ${server}`
    const config = mcpServers[server]
    if (config === undefined || config.disabled === true) return skipped(name, 'disabled')
    if (offline) return skipped(name, 'was not started')
    try {
      const alone: LoadedConfig = { ...loaded, config: { ...loaded.config, mcpServers: { [server]: config } } }
      await using connection = await openMcpServers(alone, surroundings, signal)
      const { tools = [], notices = [] } = connection ?? {}
      const problems = notices.map(({ message }) => message.replace(`The MCP server "${server}" `, '')).join(' ')
      if (problems === '') return ok(name, `starts, and has ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`)
      const message = tools.length === 0 ? problems : `starts, and has ${tools.length} of its tools: ${problems}`
      return warning(name, message, 'Correct it under "mcpServers" in config.json, or set "disabled": true there.')
    } catch (thrown) {
      signal.throwIfAborted()
      return failedWith(name, thrown)
    }
  }
  return Promise.all(Object.keys(mcpServers).map(check))
}

/** Free bytes below which the check warns. */
const LITTLE_SPACE = 100_000_000
/** Free bytes below which a journal can neither be created nor opened. */
const NO_SPACE = 1_000_000

export function checkHome({ home, journal }: HomePaths): Check[] {
  const there = existsSync(home)
  let found: Stats | undefined
  try {
    found = statSync(home, { throwIfNoEntry: false })
    if (there) accessSync(home, constants.W_OK)
    // Permission bits do not show whether root, or a read-only file system, accepts writes: only a trial write does.
    else rmdirSync(mkdtempSync(join(nearestFolder(home), '.cria-')))
  } catch (thrown) {
    return [failed('home', `${home} cannot be ${there ? 'written' : 'made'}: ${reason(thrown)}.`, remedy(thrown))]
  }
  if (found?.isDirectory() === false) return [failed('home', `${home} is not a folder.`, 'Set CRIA_HOME to a folder.')]
  const checks = [ok('home', there ? home : `${home} (made when it is needed)`)]
  if (found !== undefined && process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    checks.push(warning('home', `${home} can be read by others, and it holds your questions.`, `chmod 700 ${home}`))
  const space = spaceCheck(freeSpace(home), home, existsSync(journal))
  return space === undefined ? checks : [...checks, space]
}

/** @param free bytes. @returns `undefined` where there is enough space. */
export function spaceCheck(free: number, home: string, hasJournal: boolean): Check | undefined {
  if (free >= LITTLE_SPACE) return undefined
  if (free < NO_SPACE) return failed('home', `The disk of ${home} is full.`, FULL)
  const gc = hasJournal ? ' `cria logs gc --max-age DAYS` makes the journal smaller, as long as there is a little left.' : ''
  return warning('home', `Less than 100 MB are free on the disk of ${home}.`, `Free some space.${gc}`)
}

// Removing old turns needs some free space as well.
const FULL = 'Free some space, or set CRIA_HOME to a folder on another disk.'

/** Returns why the disk prevents writing at `path`; `undefined` when the disk is not the cause. */
export function diskTrouble(path: string): { readonly what: string; readonly hint: string } | undefined {
  try {
    accessSync(nearestFolder(dirname(path)), constants.W_OK)
    return freeSpace(path) < NO_SPACE ? { what: 'the disk is full', hint: FULL } : undefined
  } catch (thrown) {
    const isReadOnly = thrown instanceof Error && 'code' in thrown && thrown.code === 'EROFS'
    return isReadOnly ? { what: reason(thrown), hint: remedy(thrown) } : undefined
  }
}

function freeSpace(path: string): number {
  const { bavail, bsize } = statfsSync(nearestFolder(path))
  return bavail * bsize
}

function nearestFolder(path: string): string {
  let folder = path
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

/** Checks a store and names its documents, also in place of the name of a store made for `--docs`, which is only a hash. */
async function checkStore(name: string, path: string): Promise<Check> {
  const check = await checkDatabase(`store ${name}`, path)
  const documents = check.status === 'ok' ? await storeDocuments({ name, path }) : []
  if (documents.length === 0) return check
  const paths = documents.join(', ')
  return isDerived(name) ? { ...check, name: `store for --docs ${paths}` } : { ...check, message: `${check.message}: ${paths}` }
}

/** Larger files are not checked page by page: the time grows with the size. */
const MOST_CHECKED_BYTES = 100_000_000

/** Opens the file read-only and lets SQLite check its pages and indexes. */
async function checkDatabase(name: string, path: string): Promise<Check> {
  if (!existsSync(path)) return ok(name, 'does not exist yet')
  const { DatabaseSync } = await import('node:sqlite')
  try {
    using database = new DatabaseSync(path, { readOnly: true })
    database.exec('PRAGMA busy_timeout = 2000')
    const { size } = statSync(path)
    const isWhole = size <= MOST_CHECKED_BYTES
    const verdict = isWhole ? database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] : 'ok'
    if (verdict !== 'ok')
      return failed(name, `${path} is damaged: ${String(verdict)}.`, 'Move the file away; a new one is begun.')
    const problem = await problemOf(path)
    if (problem !== undefined) return warning(name, problem.message, problem.hint)
    const version = database.prepare('PRAGMA user_version').get()?.['user_version']
    const unread = isWhole ? '' : ', too large to be checked page by page here: `sqlite3 FILE "PRAGMA quick_check"` does'
    return ok(name, `${path} (schema ${String(version)}, ${Math.ceil(size / 1000)} kB${unread})`)
  } catch (thrown) {
    // SQLite needs some free space even to read a file; the file itself may be intact.
    const trouble = diskTrouble(path)
    if (trouble === undefined)
      return failed(name, `${path} cannot be read: ${reason(thrown)}.`, 'Check its permissions, or move it away.')
    return failed(name, `${path} cannot be read: ${trouble.what} (${reason(thrown)}).`, `Leave it where it is. ${trouble.hint}`)
  }
}

/** Finds an intact database that is not a file of cria, or is of a newer version. */
async function problemOf(path: string): Promise<Pick<Check, 'message' | 'hint'> | undefined> {
  try {
    const opened = path.endsWith('cria.db')
      ? await (await import('../recorders/sqlite/recorder.ts')).SqliteRecorder.open({ path, readOnly: true })
      : await (await import('../stores/sqlite.ts')).SqliteDocumentStore.open({ path, readOnly: true })
    await opened.close?.()
    return undefined
  } catch (thrown) {
    return failedWith('', thrown)
  }
}
