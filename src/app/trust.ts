/**
 * Stores the user's consent: to the configuration and the instructions of a folder, and to rules for tools.
 *
 * A cloned project could bring a base URL that collects keys, or rules that allow everything. Therefore its configuration is ignored until the user
 * trusts it, and trust is bound to the folder's real path and the file's content: another folder or a changed byte must be trusted again.
 * One file per folder, so that two processes cannot overwrite each other's consent.
 */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigurationError } from '../core/error.ts'
import { isRule } from '../tools/permissions/rule.ts'
import { sha256 } from '../util/hash.ts'
import { homeNames, readHomeFile, readSmallFile, realPath, removeHomeFile, workspaceRoot, writeHomeFile } from './paths.ts'
import type { HomePaths } from './paths.ts'

export type TrustState = 'trusted' | 'changed' | 'untrusted'

/** A project's own configuration as read; the hash is of the same content that is parsed. */
export interface ProjectConfig {
  /** Real path of the folder that contains `.cria`. */
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
 * Finds the `.cria/config.json` of the nearest folder upwards within the repository of `cwd`; outside of a repository only
 * that of `cwd` itself. The user's own home is never a project.
 *
 * @throws ConfigurationError when the file exists and cannot be read.
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

/** Trusts the configuration with its present content. */
export function trust({ folder, hash }: ProjectConfig, paths: HomePaths, now: Date = new Date()): void {
  const consent: Consent = { folder, sha256: hash, at: now.toISOString() }
  writeHomeFile(consentPath(paths, folder), consent, paths)
}

/** Revokes the trust in a folder; reports whether it was trusted. */
export function revokeTrust(folder: string, paths: HomePaths): boolean {
  return removeHomeFile(consentPath(paths, realPath(folder)))
}

/** Returns the path of a consent: a file in the trust folder, named by a hash of its subject. */
function consentPath({ trust }: HomePaths, about: string, ending: string = '.json'): string {
  return join(trust, `${sha256(about).slice(0, 32)}${ending}`)
}

function readProject(folder: string, file: string): ProjectConfig {
  const content = readSmallFile(file, 'configuration')
  return { folder, file, content, hash: sha256(content) }
}

/** Consent to instruction files, stored beside that for the configuration. */
interface InstructionConsent {
  readonly folder: string
  /** SHA-256 of each file, by its name relative to the folder. */
  readonly files: Readonly<Record<string, string>>
  readonly at: string
}

const INSTRUCTIONS = '.instructions.json'

/** Returns the trusted hashes by name. A file with another hash must be trusted again. */
export function trustedInstructions(root: string, paths: HomePaths): ReadonlyMap<string, string> {
  const { folder, files } = readHomeFile<InstructionConsent>(consentPath(paths, root, INSTRUCTIONS)) ?? {}
  return new Map(folder === root && typeof files === 'object' && files !== null ? Object.entries(files) : [])
}

/** Trusts these instruction files with their present content, in addition to those trusted before. */
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

/** Revokes the trust in the instruction files of a folder; reports whether any were trusted. */
export function revokeInstructions(root: string, paths: HomePaths): boolean {
  return removeHomeFile(consentPath(paths, root, INSTRUCTIONS))
}

/** A rule that the user has added by answering "always" to a permission request. */
export interface Approval {
  readonly rule: string
  /** Real path; `null` applies everywhere. */
  readonly folder: string | null
  /** ISO 8601. */
  readonly at: string
}

/** Lists the approvals kept for a folder and those kept for every folder, oldest first. */
export function approvalsFor(cwd: string, paths: HomePaths): readonly Approval[] {
  const here = realPath(cwd)
  return all(paths).filter(({ folder }) => folder === null || folder === here)
}

/** Stores an approval. @throws CriaError `store_failed` when it cannot be written; ConfigurationError for an invalid rule. */
export function keepApproval(
  rule: string,
  where: { readonly folder: string | null },
  paths: HomePaths,
  now: Date = new Date(),
): void {
  if (!isRule(rule)) throw new ConfigurationError(`${JSON.stringify(rule)} is not a rule: expected tool or tool(pattern).`)
  const folder = where.folder === null ? null : realPath(where.folder)
  const approval: Approval = { rule, folder, at: now.toISOString() }
  writeHomeFile(fileOf(approval, paths), approval, paths)
}

/** Revokes a rule, for this folder and everywhere; reports whether it existed. */
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

/** Returns `undefined`, which allows nothing, for a file that cannot be read or does not match its name. */
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
