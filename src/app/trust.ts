/**
 * Keeps what the user has allowed: the configuration and the instructions of a folder, and rules for tools.
 *
 * A cloned project could bring a base URL that collects keys, or rules that allow anything. So its configuration is data until the user says
 * otherwise, and the consent is bound to the folder's real path and to the content of the file: another folder or another byte asks again.
 * One file per folder, so that two processes cannot overwrite each other's consent.
 */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigurationError } from '../core/error.ts'
import { isRule } from '../tools/permissions/rule.ts'
import { sha256 } from '../util/hash.ts'
import { consentPath, homeNames, readHomeFile, readSmallFile, removeHomeFile, writeHomeFile } from './home-file.ts'
import { realPath, workspaceRoot } from './paths.ts'
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
  const { folder, sha256: hash } = readHomeFile<Consent>(consentPath(paths, project.folder)) ?? {}
  if (folder !== project.folder || typeof hash !== 'string') return 'untrusted'
  return hash === project.hash ? 'trusted' : 'changed'
}

/** From now on the configuration counts, as long as it stays as it is. */
export function trust({ folder, hash }: ProjectConfig, paths: HomePaths, now: Date = new Date()): void {
  const consent: Consent = { folder, sha256: hash, at: now.toISOString() }
  writeHomeFile(consentPath(paths, folder), consent, paths)
}

/** Takes the consent for a folder back; tells whether there was one. */
export function revokeTrust(folder: string, paths: HomePaths): boolean {
  return removeHomeFile(consentPath(paths, realPath(folder)))
}

function readProject(folder: string, file: string): ProjectConfig {
  const content = readSmallFile(file, 'configuration')
  return { folder, file, content, hash: sha256(content) }
}

/** Consent to files of instructions, which is kept beside that for the configuration. */
interface InstructionConsent {
  readonly folder: string
  /** SHA-256 of each file, by its name relative to the folder. */
  readonly files: Readonly<Record<string, string>>
  readonly at: string
}

const INSTRUCTIONS = '.instructions.json'

/** Hashes by name. What has changed since is data again until the user has looked at it. */
export function trustedInstructions(root: string, paths: HomePaths): ReadonlyMap<string, string> {
  const { folder, files } = readHomeFile<InstructionConsent>(consentPath(paths, root, INSTRUCTIONS)) ?? {}
  return new Map(folder === root && typeof files === 'object' && files !== null ? Object.entries(files) : [])
}

/** From now on these files may instruct, as long as they stay as they are; others that were trusted before stay so. */
export function trustInstructions(
  root: string,
  files: readonly { readonly name: string; readonly hash: string }[],
  paths: HomePaths,
  now: Date = new Date(),
): void {
  const before = Object.fromEntries(trustedInstructions(root, paths))
  const given = Object.fromEntries(files.map(({ name, hash }) => [name, hash]))
  const consent: InstructionConsent = { folder: root, files: { ...before, ...given }, at: now.toISOString() }
  writeHomeFile(consentPath(paths, root, INSTRUCTIONS), consent, paths)
}

/** Tells whether there was a consent. */
export function revokeInstructions(root: string, paths: HomePaths): boolean {
  return removeHomeFile(consentPath(paths, root, INSTRUCTIONS))
}

/** A rule that the user has added by answering "always" to a permission request. */
export interface Approval {
  readonly rule: string
  /** Real path; `null`: everywhere. */
  readonly folder: string | null
  /** ISO 8601. */
  readonly at: string
}

/** Lists the approvals kept for a folder and those kept for every folder, oldest first. */
export function approvalsFor(cwd: string, paths: HomePaths): readonly Approval[] {
  const here = realPath(cwd)
  return all(paths).filter(({ folder }) => folder === null || folder === here)
}

/** @throws CriaError `store_failed` when it cannot be written; ConfigurationError for what is no rule. */
export function keepApproval(
  rule: string,
  where: { readonly folder: string | null },
  paths: HomePaths,
  now: Date = new Date(),
): void {
  if (!isRule(rule)) throw new ConfigurationError(`${JSON.stringify(rule)} is no rule: expected tool or tool(pattern).`)
  const folder = where.folder === null ? null : realPath(where.folder)
  const approval: Approval = { rule, folder, at: now.toISOString() }
  writeHomeFile(fileOf(approval, paths), approval, paths)
}

/** Takes back a rule, here and everywhere; tells whether there was one. */
export function forgetApproval(rule: string, cwd: string, paths: HomePaths): boolean {
  const found = approvalsFor(cwd, paths).filter((approval) => approval.rule === rule)
  for (const approval of found) removeHomeFile(fileOf(approval, paths))
  return found.length > 0
}

function all(paths: HomePaths): readonly Approval[] {
  const folder = approvalsIn(paths)
  return homeNames(folder, '.json')
    .flatMap((name) => readApproval(join(folder, `${name}.json`), paths) ?? [])
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** A file that cannot be read, or is not what its name says, allows nothing. */
function readApproval(file: string, paths: HomePaths): Approval | undefined {
  const { rule, folder, at } = readHomeFile<Approval>(file) ?? {}
  if (typeof rule !== 'string' || !isRule(rule) || typeof at !== 'string') return undefined
  if (folder !== null && typeof folder !== 'string') return undefined
  const approval = { rule, folder, at }
  return fileOf(approval, paths) === file ? approval : undefined
}

function fileOf({ rule, folder }: Approval, paths: HomePaths): string {
  return consentPath({ ...paths, trust: approvalsIn(paths) }, `${folder ?? ''}\n${rule}`)
}

function approvalsIn({ trust }: HomePaths): string {
  return join(trust, 'approvals')
}
