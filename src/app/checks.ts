/** Checks the home folder and the MCP servers for the doctor. */

import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { reason, remedy } from './paths.ts'
import type { HomePaths, Surroundings } from './paths.ts'
import { toCriaError } from '../core/error.ts'
import type { LoadedConfig } from './config.ts'
import { openMcpServers } from './mcp.ts'

/** Bytes below which somebody should know. */
const LITTLE_SPACE = 100_000_000
/** Bytes below which not even a journal can be begun, or one that is there be opened. */
const NO_SPACE = 1_000_000

export function checkHome({ home, journal }: HomePaths): Check[] {
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
    const message = `${home} cannot be ${there ? 'written' : 'made'}: ${reason(thrown)}.`
    return [{ name, status: 'failed', message, hint: remedy(thrown) }]
  }
  const checks: Check[] = [{ name, status: 'ok', message: there ? home : `${home} (made when it is needed)` }]
  if (there && process.platform !== 'win32' && (statSync(home).mode & 0o077) !== 0) {
    const message = `${home} can be read by others, and it holds your questions.`
    checks.push({ name, status: 'warning', message, hint: `chmod 700 ${home}` })
  }
  const space = spaceCheck(freeSpace(home), home, existsSync(journal))
  return space === undefined ? checks : [...checks, space]
}

/** @param free bytes */
export function spaceCheck(free: number, home: string, hasJournal: boolean): Check | undefined {
  if (free >= LITTLE_SPACE) return undefined
  if (free < NO_SPACE) {
    const message = `The disk of ${home} is full.`
    return { name: 'home', status: 'failed', message, hint: FULL }
  }
  const message = `Less than 100 MB are free on the disk of ${home}.`
  const gc = hasJournal ? ' `cria logs gc --max-age DAYS` makes the journal smaller, as long as there is a little left.' : ''
  return { name: 'home', status: 'warning', message, hint: `Free some space.${gc}` }
}

// To remove old turns takes room as well.
const FULL = 'Free some space, or set CRIA_HOME to a folder on another disk.'

/** What keeps any file in this place from being written; `undefined` when the disk is not the trouble. */
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

export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** The remedy; absent where nothing is wrong. */
  readonly hint?: string
}

export interface CheckMcpOptions {
  /** Start none. */
  readonly offline: boolean
  readonly signal: AbortSignal
}

/** Those of a project are in the configuration only once it is trusted. */
export function checkMcpServers(loaded: LoadedConfig, surroundings: Surroundings, options: CheckMcpOptions): Promise<Check[]> {
  return Promise.all(
    Object.keys(loaded.config.mcpServers ?? {}).map((server) => checkServer(server, loaded, surroundings, options)),
  )
}

async function checkServer(
  server: string,
  loaded: LoadedConfig,
  surroundings: Surroundings,
  { offline, signal }: CheckMcpOptions,
): Promise<Check> {
  const name = `MCP server ${server}`
  const config = loaded.config.mcpServers?.[server]
  if (config === undefined || config.disabled === true) return { name, status: 'ok', message: 'disabled' }
  if (offline) return { name, status: 'ok', message: 'was not started' }
  try {
    const alone: LoadedConfig = { ...loaded, config: { ...loaded.config, mcpServers: { [server]: config } } }
    await using connection = await openMcpServers(alone, surroundings, signal)
    const { tools = [], notices = [] } = connection ?? {}
    const problems = notices.map(({ message }) => message.replace(`The MCP server "${server}" `, '')).join(' ')
    if (problems === '')
      return { name, status: 'ok', message: `starts, and has ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}` }
    const message = tools.length === 0 ? problems : `starts, and has ${tools.length} of its tools: ${problems}`
    return {
      name,
      status: 'warning',
      message,
      hint: 'Correct it under "mcpServers" in config.json, or set "disabled": true there.',
    }
  } catch (thrown) {
    signal.throwIfAborted()
    const { message, hint } = toCriaError(thrown)
    return { name, status: 'failed', message, ...(hint === undefined ? {} : { hint }) }
  }
}
