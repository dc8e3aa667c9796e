/** Runs all checks of `cria doctor`: reports in words what is wrong and what to do. Changes nothing. */

import { EXTRACTIVE_REF } from '../providers/extractive/model.ts'
import { findSandbox } from '../tools/sandbox/system-sandbox.ts'
import { checkDatabase, checkHome, checkStore, failed, failedWith, ok, warning } from './checks.ts'
import type { Check } from './checks.ts'
import type { SandboxConfig } from './config-schema.ts'
import { loadConfig } from './config.ts'
import type { LoadedConfig } from './config.ts'
import { openMcpServers } from './mcp.ts'
import { defaultModelRef } from './models.ts'
import { homePaths, storePath } from './paths.ts'
import type { Surroundings } from './paths.ts'
import { checkProviders } from './providers.ts'
import { storeNames } from './store-choice.ts'

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
  checks.push(...(await checkProviders({ env, config, defaultModel: chosen?.ref, offline, signal })))
  if (chosen !== undefined) checks.push(chosen.check)
  if (loaded !== undefined) checks.push(...(await checkMcpServers(loaded, surroundings, { offline, signal })))
  return { ok: checks.every(({ status }) => status !== 'failed'), checks }
}

/** Reports whether commands run in a sandbox on this machine. */
async function checkSandbox({ mode = 'auto', network = 'none' }: SandboxConfig = {}): Promise<Check> {
  const found = await findSandbox()
  if (mode === 'off')
    return warning('sandbox', 'switched off: commands reach everything that you do', 'Set "sandbox" to "auto" in config.json.')
  if (found.kind === 'none' && mode === 'required') return failed('sandbox', `${found.reason}: commands are refused.`, found.hint)
  if (found.kind === 'none') {
    const effect =
      'commands are not confined; with secrets or forbidden paths around, only those run unasked that a rule names exactly'
    return warning('sandbox', `${found.reason}: ${effect}.`, found.hint)
  }
  const reach = network === 'all' ? 'with the network' : 'without network'
  const root = process.getuid?.() === 0 ? ' The number of processes is not limited for root.' : ''
  return ok('sandbox', `commands and MCP servers run in ${found.kind}, ${reach}; hosts cannot be told apart.${root}`)
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
  const message = trust === 'changed' ? `${file} has changed since you trusted it and does not count.` : `${file} does not count.`
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
    if (config === undefined || config.disabled === true) return ok(name, 'disabled')
    if (offline) return ok(name, 'was not started')
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
