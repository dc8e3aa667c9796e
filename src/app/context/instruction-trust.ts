/**
 * Decides which instruction files of a project are followed.
 *
 * The consent is bound to the folder and to every word of each file: what a pull, or the model itself, has changed since is data again
 * until the user has looked at it. Kept beside the consent for the configuration, one file per folder.
 */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../util/files.ts'
import { makeHomeFolder } from '../paths.ts'
import type { HomePaths } from '../paths.ts'

interface Consent {
  readonly folder: string
  /** SHA-256 of each file, by its name relative to the folder. */
  readonly files: Readonly<Record<string, string>>
  readonly at: string
}

/** Hashes by name. */
export function trustedInstructions(root: string, paths: HomePaths): ReadonlyMap<string, string> {
  const consent = read(consentFile(root, paths))
  return new Map(consent?.folder === root ? Object.entries(consent.files) : [])
}

/** From now on these files may instruct, as long as they stay as they are; others that were trusted before stay so. */
export function trustInstructions(
  root: string,
  files: readonly { readonly name: string; readonly hash: string }[],
  paths: HomePaths,
  now: Date = new Date(),
): void {
  makeHomeFolder(paths, paths.trust)
  const before = Object.fromEntries(trustedInstructions(root, paths))
  const given = Object.fromEntries(files.map(({ name, hash }) => [name, hash]))
  const consent: Consent = { folder: root, files: { ...before, ...given }, at: now.toISOString() }
  writeFileAtomically(consentFile(root, paths), `${JSON.stringify(consent, undefined, 2)}\n`)
}

/** Tells whether there was a consent. */
export function revokeInstructions(root: string, paths: HomePaths): boolean {
  const file = consentFile(root, paths)
  if (!existsSync(file)) return false
  rmSync(file, { force: true })
  return true
}

function read(file: string): Consent | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<Consent> | null
    const isWhole = typeof value?.folder === 'string' && typeof value.files === 'object' && value.files !== null
    return isWhole ? (value as Consent) : undefined
  } catch {
    // A consent that cannot be read is none.
    return undefined
  }
}

function consentFile(root: string, paths: HomePaths): string {
  return join(paths.trust, `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.instructions.json`)
}
