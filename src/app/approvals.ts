/**
 * Rules that the user has added by answering "always" to a permission request: for one folder, or everywhere. One file for each, so that two
 * processes cannot overwrite each other's.
 */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError } from '../core/error.ts'
import { isRule } from '../tools/permissions/rule.ts'
import { realPath } from './context/root.ts'
import { consentPath, readHomeFile, removeHomeFile, writeHomeFile } from './home-file.ts'
import type { HomePaths } from './paths.ts'

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
  const folder = folderOf(paths)
  return namesIn(folder)
    .flatMap((name) => readApproval(join(folder, name), paths) ?? [])
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch {
    // Nothing was allowed yet.
    return []
  }
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
  return consentPath({ ...paths, trust: folderOf(paths) }, `${folder ?? ''}\n${rule}`)
}

function folderOf({ trust }: HomePaths): string {
  return join(trust, 'approvals')
}
