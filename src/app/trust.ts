/**
 * Decides whether the configuration in a folder is used.
 *
 * A cloned project could bring a base URL that collects keys, or rules that allow anything. So its configuration is data until the user says
 * otherwise, and the consent is bound to the folder's real path and to the content of the file: another folder or another byte asks again.
 * One file per folder, so that two processes cannot overwrite each other's consent.
 */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomically } from '../util/files.ts'
import { readConfigFile } from './config-file.ts'
import { realPath, workspaceRoot } from './context/root.ts'
import { makeHomeFolder } from './paths.ts'
import type { HomePaths } from './paths.ts'

export type TrustState = 'trusted' | 'changed' | 'untrusted'

/** A project's own configuration, as it was read: what is hashed is what is parsed. */
export interface ProjectConfig {
  /** Real path of the folder that holds `.cria`. */
  readonly folder: string
  readonly file: string
  readonly content: string
  /** SHA-256 of the content, hexadecimal. */
  readonly hash: string
}

interface Consent {
  readonly folder: string
  readonly sha256: string
  readonly at: string
}

const FOLDER_AND_FILE = ['.cria', 'config.json'] as const

/**
 * The `.cria/config.json` of the nearest folder upwards, no further than the repository that `cwd` lies in; outside of a repository only
 * that of `cwd` itself. The user's own home is never a project.
 *
 * @throws ConfigurationError when the file is there and cannot be read.
 */
export function findProjectConfig(cwd: string, paths: HomePaths): ProjectConfig | undefined {
  const start = realPath(cwd)
  const root = workspaceRoot(start)
  for (let folder = start; ; folder = dirname(folder)) {
    const file = join(folder, ...FOLDER_AND_FILE)
    if (existsSync(file) && realPath(dirname(file)) !== realPath(paths.home)) return readProject(folder, file)
    if (folder === root || folder === dirname(folder)) return undefined
  }
}

export function trustState(project: ProjectConfig, paths: HomePaths): TrustState {
  const consent = readConsent(consentFile(project.folder, paths))
  if (consent === undefined || consent.folder !== project.folder) return 'untrusted'
  return consent.sha256 === project.hash ? 'trusted' : 'changed'
}

/** From now on the configuration counts, as long as it stays as it is. */
export function trust(project: ProjectConfig, paths: HomePaths, now: Date = new Date()): void {
  makeHomeFolder(paths, paths.trust)
  const consent: Consent = { folder: project.folder, sha256: project.hash, at: now.toISOString() }
  writeFileAtomically(consentFile(project.folder, paths), `${JSON.stringify(consent, undefined, 2)}\n`)
}

/** Takes the consent for a folder back; tells whether there was one. */
export function revokeTrust(folder: string, paths: HomePaths): boolean {
  const file = consentFile(realPath(folder), paths)
  if (!existsSync(file)) return false
  rmSync(file, { force: true })
  return true
}

function readProject(folder: string, file: string): ProjectConfig {
  const content = readConfigFile(file)
  return { folder, file, content, hash: createHash('sha256').update(content).digest('hex') }
}

function readConsent(file: string): Consent | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<Consent> | null
    return typeof value?.folder === 'string' && typeof value.sha256 === 'string' ? (value as Consent) : undefined
  } catch {
    // A consent that cannot be read is none.
    return undefined
  }
}

function consentFile(folder: string, paths: HomePaths): string {
  return join(paths.trust, `${createHash('sha256').update(folder).digest('hex').slice(0, 32)}.json`)
}
