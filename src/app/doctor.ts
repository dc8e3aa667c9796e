/** Looks at everything that cria needs, and says in words what is wrong and what to do. Leaves nothing behind. */

import { existsSync, statSync } from 'node:fs'
import { toCriaError } from '../core/error.ts'
import type { Check } from './checks.ts'
import { checkHome, checkMcpServers, diskTrouble } from './checks.ts'
import { checkProviders } from './check-providers.ts'
import type { SandboxConfig } from './config-schema.ts'
import { findSandbox } from '../tools/sandbox/find-sandbox.ts'
import { loadConfig } from './config.ts'
import type { LoadedConfig } from './config.ts'
import { defaultModelRef } from './models.ts'
import { homePaths, reason, storePath } from './paths.ts'
import { storeNames } from './store-choice.ts'
import { storeDocuments } from './store-list.ts'
import type { Surroundings } from './paths.ts'

export interface Diagnosis {
  /** Nothing has failed. */
  readonly ok: boolean
  readonly checks: readonly Check[]
}

const OLDEST_NODE = [22, 18] as const

export interface DiagnoseOptions {
  readonly signal: AbortSignal
  /**
   * Ask no provider anything and start no MCP server. Default false: each provider that is configured gets one tiny request, which costs a
   * few tokens, and each server is started and ended.
   */
  readonly offline?: boolean
}

export async function diagnose(surroundings: Surroundings, { signal, offline = false }: DiagnoseOptions): Promise<Diagnosis> {
  const paths = homePaths(surroundings)
  const checks: Check[] = [checkNode(process.versions.node), ...checkHome(paths)]
  const { loaded, check } = checkConfig(surroundings)
  checks.push(check, ...checkTrust(loaded), await checkSandbox(loaded?.config.sandbox))
  checks.push(await checkDatabase('journal', paths.journal))
  for (const name of storeNames(paths, { derived: true })) checks.push(await checkStore(name, storePath(paths, name)))
  const chosen = loaded === undefined ? undefined : await checkDefaultModel(surroundings, loaded, offline)
  const config = loaded?.config ?? {}
  checks.push(...(await checkProviders({ env: surroundings.env, config, defaultModel: chosen?.ref, offline, signal })))
  if (chosen !== undefined) checks.push(chosen.check)
  if (loaded !== undefined) checks.push(...(await checkMcpServers(loaded, surroundings, { offline, signal })))
  return { ok: checks.every(({ status }) => status !== 'failed'), checks }
}

/** Reports whether commands run in a sandbox on this machine. */
async function checkSandbox({ mode = 'auto', network = 'none' }: SandboxConfig = {}): Promise<Check> {
  const found = await findSandbox()
  const name = 'sandbox'
  if (mode === 'off')
    return {
      name,
      status: 'warning',
      message: 'switched off: commands reach everything that you do',
      hint: 'Set "sandbox" to "auto" in config.json.',
    }
  if (found.kind === 'none') {
    const effect =
      mode === 'required'
        ? 'commands are refused'
        : 'commands are not confined; with secrets or forbidden paths around, only those run unasked that a rule names exactly'
    return { name, status: mode === 'required' ? 'failed' : 'warning', message: `${found.reason}: ${effect}.`, hint: found.hint }
  }
  const reach = network === 'all' ? 'with the network' : 'without network'
  const root = process.getuid?.() === 0 ? ' The number of processes is not limited for root.' : ''
  return {
    name,
    status: 'ok',
    message: `commands and MCP servers run in ${found.kind}, ${reach}; hosts cannot be told apart.${root}`,
  }
}

function checkNode(version: string): Check {
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

function checkConfig(surroundings: Surroundings): { readonly loaded: LoadedConfig | undefined; readonly check: Check } {
  try {
    const loaded = loadConfig(surroundings)
    const message = loaded.files.length === 0 ? 'no file, none is needed' : loaded.files.join(', ')
    return { loaded, check: { name: 'configuration', status: 'ok', message } }
  } catch (thrown) {
    return { loaded: undefined, check: { name: 'configuration', status: 'failed', ...told(thrown) } }
  }
}

function told(thrown: unknown): Pick<Check, 'message' | 'hint'> {
  const { message, hint } = toCriaError(thrown)
  return { message, ...(hint === undefined ? {} : { hint }) }
}

function checkTrust(loaded: LoadedConfig | undefined): Check[] {
  if (loaded?.project === undefined) return []
  const { file, trust } = loaded.project
  if (trust === 'trusted') return [{ name: 'trust', status: 'ok', message: `${file} is trusted` }]
  const message = trust === 'changed' ? `${file} has changed since you trusted it and does not count.` : `${file} does not count.`
  return [{ name: 'trust', status: 'warning', message, hint: 'Look at it, then run `cria trust`.' }]
}

/** Says of which documents a store is: the name of one that is kept for `--docs` tells nothing. */
async function checkStore(name: string, path: string): Promise<Check> {
  const check = await checkDatabase(`store ${name}`, path)
  const documents = check.status === 'ok' ? await storeDocuments({ name, path }) : []
  return documents.length === 0 ? check : { ...check, message: `${check.message}: ${documents.join(', ')}` }
}

/** A larger file is not read as a whole: that would take longer the more is in it. */
const MOST_CHECKED_BYTES = 100_000_000

/** Opens the file for reading only, and lets SQLite check its pages and indexes. */
async function checkDatabase(name: string, path: string): Promise<Check> {
  if (!existsSync(path)) return { name, status: 'ok', message: 'not there yet' }
  const { DatabaseSync } = await import('node:sqlite')
  try {
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      database.exec('PRAGMA busy_timeout = 2000')
      const { size } = statSync(path)
      const isWhole = size <= MOST_CHECKED_BYTES
      const found = isWhole ? database.prepare('PRAGMA quick_check(1)').get() : undefined
      const verdict = found === undefined ? '' : Object.values(found)[0]
      if (isWhole && verdict !== 'ok') {
        return {
          name,
          status: 'failed',
          message: `${path} is damaged: ${String(verdict)}.`,
          hint: 'Move the file away; a new one is begun.',
        }
      }
      const problem = await problemOf(path)
      if (problem !== undefined) return { name, status: 'warning', ...problem }
      const version = database.prepare('PRAGMA user_version').get()?.['user_version']
      return {
        name,
        status: 'ok',
        message: `${path} (schema ${String(version)}, ${Math.ceil(size / 1000)} kB${isWhole ? '' : ', too large to be checked page by page here: `sqlite3 FILE "PRAGMA quick_check"` does'})`,
      }
    } finally {
      database.close()
    }
  } catch (thrown) {
    // SQLite needs a little room beside a file even to read it; the file itself may be sound.
    const trouble = diskTrouble(path)
    const why = trouble === undefined ? reason(thrown) : `${trouble.what} (${reason(thrown)})`
    const hint = trouble === undefined ? 'Check its permissions, or move it away.' : `Leave it where it is. ${trouble.hint}`
    return { name, status: 'failed', message: `${path} cannot be read: ${why}.`, hint }
  }
}

/** A sound database may still be none of ours, or that of a newer version. */
async function problemOf(path: string): Promise<Pick<Check, 'message' | 'hint'> | undefined> {
  try {
    const opened = path.endsWith('cria.db')
      ? await (await import('../recorders/sqlite/recorder.ts')).SqliteRecorder.open({ path, readOnly: true })
      : await (await import('../stores/sqlite.ts')).SqliteDocumentStore.open({ path, readOnly: true })
    await opened.close?.()
    return undefined
  } catch (thrown) {
    return told(thrown)
  }
}

async function checkDefaultModel(
  { env }: Surroundings,
  { config }: LoadedConfig,
  offline: boolean,
): Promise<{ readonly check: Check; readonly ref?: string }> {
  const name = 'default model'
  try {
    const ref = await defaultModelRef(env, config, offline ? nobody : fetch)
    const message = ref === 'builtin/extractive' ? `${ref}: answers by quoting, as no other model is configured` : ref
    return { ref, check: { name, status: 'ok', message } }
  } catch (thrown) {
    return { check: { name, status: 'failed', message: toCriaError(thrown).message, hint: 'See docs/configuration.md.' } }
  }
}

const nobody: typeof fetch = () => Promise.reject(new TypeError('Nobody is asked with --offline.'))
