/** Looks at everything that cria needs, and says in words what is wrong and what to do. Leaves nothing behind. */

import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { toCriaError } from '../core/error.ts'
import type { Check } from './check.ts'
import { checkProviders } from './check-providers.ts'
import { loadConfig } from './config.ts'
import type { LoadedConfig } from './config.ts'
import { defaultModelRef } from './models.ts'
import { homePaths, reason } from './paths.ts'
import type { HomePaths, Surroundings } from './paths.ts'

export interface Diagnosis {
  /** Nothing has failed. */
  readonly ok: boolean
  readonly checks: readonly Check[]
}

const OLDEST_NODE = [22, 18] as const
const LEAST_SPACE = 100_000_000

export interface DiagnoseOptions {
  readonly signal: AbortSignal
  /** Ask no provider anything. Default false: each one that is configured gets one tiny request, which costs a few tokens. */
  readonly offline?: boolean
}

export async function diagnose(surroundings: Surroundings, { signal, offline = false }: DiagnoseOptions): Promise<Diagnosis> {
  const paths = homePaths(surroundings)
  const checks: Check[] = [checkNode(process.versions.node), ...checkHome(paths)]
  const { loaded, check } = checkConfig(surroundings)
  checks.push(check, ...checkTrust(loaded))
  checks.push(await checkDatabase('journal', paths.journal))
  for (const file of storeFiles(paths))
    checks.push(await checkDatabase(`store ${file.slice(0, -'.db'.length)}`, join(paths.stores, file)))
  const chosen = loaded === undefined ? undefined : await checkDefaultModel(surroundings, loaded)
  const config = loaded?.config ?? {}
  checks.push(...(await checkProviders({ env: surroundings.env, config, defaultModel: chosen?.ref, offline, signal })))
  if (chosen !== undefined) checks.push(chosen.check)
  return { ok: checks.every(({ status }) => status !== 'failed'), checks }
}

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const fits = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])
  return fits
    ? { name: 'node', status: 'ok', message: `Node ${version}` }
    : {
        name: 'node',
        status: 'failed',
        message: `Node ${version} is too old: ${OLDEST_NODE.join('.')} or newer is needed.`,
        hint: 'Install a newer Node.js.',
      }
}

function checkHome({ home }: HomePaths): Check[] {
  const name = 'home'
  const there = existsSync(home)
  try {
    if (there) accessSync(home, constants.W_OK)
    // Whoever may write everywhere is told so of folders that take nothing: only trying tells.
    else rmdirSync(mkdtempSync(join(nearestFolder(home), '.cria-')))
    if (there && !statSync(home).isDirectory()) {
      return [{ name, status: 'failed', message: `${home} is no folder.`, hint: 'Set CRIA_HOME to a folder.' }]
    }
  } catch (thrown) {
    return [
      {
        name,
        status: 'failed',
        message: `${home} cannot be ${there ? 'written' : 'made'}: ${reason(thrown)}.`,
        hint: 'Make it writable, or set CRIA_HOME.',
      },
    ]
  }
  const checks: Check[] = [{ name, status: 'ok', message: there ? home : `${home} (made when it is needed)` }]
  if (there && process.platform !== 'win32' && (statSync(home).mode & 0o077) !== 0) {
    const message = `${home} can be read by others, and it holds your questions.`
    checks.push({ name, status: 'warning', message, hint: `chmod 700 ${home}` })
  }
  const { bavail, bsize } = statfsSync(nearestFolder(home))
  if (bavail * bsize < LEAST_SPACE) {
    const message = `Less than 100 MB are free on the disk of ${home}.`
    checks.push({ name, status: 'warning', message, hint: 'Free some space; `cria logs gc` removes old turns.' })
  }
  return checks
}

function nearestFolder(path: string): string {
  let folder = path
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

function checkConfig(surroundings: Surroundings): { readonly loaded: LoadedConfig | undefined; readonly check: Check } {
  try {
    const loaded = loadConfig(surroundings)
    const message = loaded.files.length === 0 ? 'no file, none is needed' : loaded.files.join(', ')
    return { loaded, check: { name: 'configuration', status: 'ok', message } }
  } catch (thrown) {
    const { message, hint } = toCriaError(thrown)
    return {
      loaded: undefined,
      check: { name: 'configuration', status: 'failed', message, ...(hint === undefined ? {} : { hint }) },
    }
  }
}

function checkTrust(loaded: LoadedConfig | undefined): Check[] {
  if (loaded?.project === undefined) return []
  const { file, trust } = loaded.project
  if (trust === 'trusted') return [{ name: 'trust', status: 'ok', message: `${file} is trusted` }]
  const message = trust === 'changed' ? `${file} has changed since you trusted it and does not count.` : `${file} does not count.`
  return [{ name: 'trust', status: 'warning', message, hint: 'Look at it, then run `cria trust`.' }]
}

function storeFiles({ stores }: HomePaths): readonly string[] {
  try {
    return readdirSync(stores)
      .filter((file) => file.endsWith('.db'))
      .toSorted()
  } catch {
    return []
  }
}

/** Opens the file for reading only, and lets SQLite check its pages and indexes. */
async function checkDatabase(name: string, path: string): Promise<Check> {
  if (!existsSync(path)) return { name, status: 'ok', message: 'not there yet' }
  const { DatabaseSync } = await import('node:sqlite')
  try {
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      database.exec('PRAGMA busy_timeout = 2000')
      const found = database.prepare('PRAGMA quick_check(1)').get()
      const verdict = found === undefined ? '' : Object.values(found)[0]
      if (verdict !== 'ok') {
        return {
          name,
          status: 'failed',
          message: `${path} is damaged: ${String(verdict)}.`,
          hint: 'Move the file away; a new one is begun.',
        }
      }
      const problem = await problemOf(path)
      if (problem !== undefined) return { name, status: 'warning', message: problem }
      const version = database.prepare('PRAGMA user_version').get()?.['user_version']
      return { name, status: 'ok', message: `${path} (schema ${String(version)}, ${Math.ceil(statSync(path).size / 1000)} kB)` }
    } finally {
      database.close()
    }
  } catch (thrown) {
    return {
      name,
      status: 'failed',
      message: `${path} cannot be read: ${reason(thrown)}.`,
      hint: 'Check its permissions, or move it away.',
    }
  }
}

/** A sound database may still be none of ours, or that of a newer version. */
async function problemOf(path: string): Promise<string | undefined> {
  try {
    const opened = path.endsWith('cria.db')
      ? await (await import('../recorders/sqlite/recorder.ts')).SqliteRecorder.open({ path, readOnly: true })
      : await (await import('../stores/sqlite.ts')).SqliteDocumentStore.open({ path, readOnly: true })
    await opened.close?.()
    return undefined
  } catch (thrown) {
    return toCriaError(thrown).message
  }
}

async function checkDefaultModel(
  { env }: Surroundings,
  { config }: LoadedConfig,
): Promise<{ readonly check: Check; readonly ref?: string }> {
  const name = 'default model'
  try {
    const ref = await defaultModelRef(env, config)
    const message = ref === 'builtin/extractive' ? `${ref}: answers by quoting, as no other model is configured` : ref
    return { ref, check: { name, status: 'ok', message } }
  } catch (thrown) {
    return { check: { name, status: 'failed', message: toCriaError(thrown).message, hint: 'See docs/configuration.md.' } }
  }
}
