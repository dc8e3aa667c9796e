/** Instructions that a project has written down for those who work on it. */

import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { ContextSource } from '../../core/injection.ts'
import type { HomePaths } from '../paths.ts'
import { trustedInstructions } from '../trust.ts'
import { readText } from './read-text.ts'
import { realPath, workspaceRoot } from './root.ts'

/** Looked for in every folder from the root of the repository down, in this order. */
const PROJECT_FILES: readonly string[] = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.cria/AGENTS.md']

/** More is no instruction, and nobody has read it all before trusting it. */
const MAX_BYTES = 1 << 20

export interface ProjectFile {
  /** Relative to the root, with `/`. */
  readonly name: string
  readonly text: string
  readonly isCut: boolean
  /** SHA-256 of the text, hexadecimal. */
  readonly hash: string
}

export interface ProjectFiles {
  /** Real path of the repository, or of `cwd` outside of one. */
  readonly root: string
  /** From the root down. A file that is there under two names, as a link or a copy, comes once. */
  readonly files: readonly ProjectFile[]
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
}

export async function findProjectFiles(cwd: string): Promise<ProjectFiles> {
  const root = workspaceRoot(cwd)
  const files: ProjectFile[] = []
  const skipped: { name: string; reason: string }[] = []
  const seen = new Set<string>()
  for (const folder of foldersDown(root, realPath(cwd))) {
    for (const name of PROJECT_FILES) {
      const path = join(folder, name)
      const read = await readText(path, root, MAX_BYTES)
      if (read === undefined) continue
      if ('skipped' in read) {
        skipped.push({ name: path, reason: read.skipped })
        continue
      }
      const { text, isCut } = read
      const hash = createHash('sha256').update(text).digest('hex')
      // On a file system that ignores case, the same file is found by its content too.
      if (text.trim() !== '' && !seen.has(hash)) files.push({ name: read.name, text, isCut, hash })
      seen.add(hash)
    }
  }
  return { root, files, skipped }
}

export interface ProjectSourceOptions {
  readonly cwd: string
  readonly paths: HomePaths
  readonly maxTokens: number
}

/** What the user has trusted, word for word, may instruct; anything else is data. */
export function projectSource({ cwd, paths, maxTokens }: ProjectSourceOptions): ContextSource {
  return {
    name: 'project',
    maxTokens,
    isStable: true,
    async load(request) {
      const { root, files, skipped } = await findProjectFiles(cwd)
      for (const { name, reason } of skipped) request.notice(`${name} is left out: ${reason}.`)
      const trusted = trustedInstructions(root, paths)
      const foreign = files.filter(({ name, hash, isCut }) => isCut || trusted.get(name) !== hash).map(({ name }) => name)
      if (foreign.length > 0) {
        request.notice(
          `${foreign.join(', ')}: data to the model, no instructions. Look at it, then run "cria trust" to let it instruct.`,
        )
      }
      return files.map(({ name, text, isCut, hash }) => ({
        title: 'instructions of this project',
        source: name,
        text,
        ...(trusted.get(name) === hash && !isCut ? { isTrusted: true } : {}),
        ...(isCut ? { isCut } : {}),
      }))
    },
  }
}

function foldersDown(root: string, cwd: string): string[] {
  const folders = [cwd]
  for (let folder = cwd; folder !== root && folder !== dirname(folder);) {
    folder = dirname(folder)
    folders.unshift(folder)
  }
  return folders
}
