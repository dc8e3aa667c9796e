/** Loads the built-in context of a request: project instructions, files read earlier, and the state of the git repository. */

import { open, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ContextPiece, ContextRequest } from '../../core/injection.ts'
import { isSecretPath } from '../../tools/permissions/guarded-paths.ts'
import { AS_IT_WAS_FOUND, isInside } from '../../util/files.ts'
import { sha256 } from '../../util/hash.ts'
import { holdsPrivateKey } from '../../util/secret-files.ts'
import { homePaths, realPath, repositoryRoot, workspaceRoot } from '../paths.ts'
import type { Surroundings } from '../paths.ts'
import { trustedInstructions } from '../trust.ts'
import { runGit } from './safe-git.ts'

type Load = (request: ContextRequest, surroundings: Surroundings) => Promise<readonly ContextPiece[]>

export const LOADERS: Readonly<Record<'project' | 'recentFiles' | 'gitStatus', Load>> = {
  project: loadInstructions,
  recentFiles: loadRecentFiles,
  gitStatus: loadGitStatus,
}

/** File names searched for in every folder from the root of the repository down, in this order. */
const PROJECT_FILES: readonly string[] = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.cria/AGENTS.md']

/** Longer files are unlikely to be instructions, or to have been reviewed in full before they were trusted. */
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
  /** Ordered from the root down. A file found under two names, as a link or a copy, is listed once. */
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
      const hash = sha256(text)
      // On a case-insensitive file system, both names yield the same content.
      if (text.trim() !== '' && !seen.has(hash)) files.push({ name: read.name, text, isCut, hash })
      seen.add(hash)
    }
  }
  return { root, files, skipped }
}

function foldersDown(root: string, cwd: string): string[] {
  const folders = [cwd]
  for (let folder = cwd; folder !== root && folder !== dirname(folder);) {
    folder = dirname(folder)
    folders.unshift(folder)
  }
  return folders
}

/** Adds instructions that the user has trusted, byte for byte, to the system prompt; all others are data. */
async function loadInstructions(request: ContextRequest, surroundings: Surroundings): Promise<readonly ContextPiece[]> {
  const { root, files, skipped } = await findProjectFiles(surroundings.cwd)
  for (const { name, reason } of skipped) request.notice(`${name} is left out: ${reason}.`)
  const trusted = trustedInstructions(root, homePaths(surroundings))
  const foreign = files.filter(({ name, hash, isCut }) => isCut || trusted.get(name) !== hash)
  if (foreign.length > 0) {
    const names = foreign.map(({ name }) => name).join(', ')
    request.notice(`${names}: sent as data, not as instructions. Look at it, then run "cria trust" to trust it.`)
  }
  return files.map((file) => ({
    title: 'instructions of this project',
    source: file.name,
    text: file.text,
    ...(foreign.includes(file) ? {} : { isTrusted: true }),
    ...(file.isCut ? { isCut: true } : {}),
  }))
}

/** The most recently read files that are put in. */
const MOST_FILES = 10
/** Names of resources that are examined to find them. */
const MOST_NAMES = 100

/**
 * Puts in the present text of each file whose text is no longer in the conversation: the file has changed, or the tool result was shortened.
 * Skips deleted files.
 */
async function loadRecentFiles({ reads, maxTokens }: ContextRequest, { cwd }: Surroundings): Promise<readonly ContextPiece[]> {
  const folder = realPath(cwd)
  const root = workspaceRoot(folder)
  const pieces: ContextPiece[] = []
  const seen = new Set<string>()
  const results = reads.map(({ result }) => withoutReturns(result))
  for (const { name } of reads.toReversed().slice(0, MOST_NAMES)) {
    const path = pathOf(name, folder)
    const read = path === undefined ? undefined : await readText(path, root, bytesFor(maxTokens))
    if (read === undefined || 'skipped' in read || seen.has(read.realName)) continue
    seen.add(read.realName)
    if (seen.size > MOST_FILES) break
    const lines = withoutReturns(read.text).trimEnd()
    if (results.some((result) => result.includes(lines))) continue
    pieces.unshift({
      title: 'file that was read earlier, as it is now',
      source: read.realName,
      text: read.text,
      ...(read.isCut ? { isCut: true } : {}),
    })
  }
  return pieces
}

/** Returns an upper bound of the bytes that so many tokens can take. */
function bytesFor(tokens: number): number {
  return Math.max(1024, tokens * 8)
}

/** Resolves the name of a resource to a path; `undefined` where the name is not a path. */
function pathOf(name: string, folder: string): string | undefined {
  if (name === '' || name.endsWith('/') || name.includes('\0')) return undefined
  if (!name.startsWith('file:')) return isAbsolute(name) ? name : join(folder, name)
  try {
    return fileURLToPath(name)
  } catch {
    return undefined
  }
}

function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** Milliseconds; a slower repository is left out, so that it does not delay the question. */
const GIT_TIMEOUT = 3000

const STATUS = ['status', '--porcelain=v1', '--branch', '--untracked-files=normal', '--ignore-submodules=all', '--no-renames']

/** Loads the state of the repository at the beginning of a turn. @param timeout milliseconds. */
export async function loadGitStatus(
  request: ContextRequest,
  { cwd, env }: Surroundings,
  timeout: number = GIT_TIMEOUT,
): Promise<readonly ContextPiece[]> {
  const root = repositoryRoot(cwd)
  if (root === undefined) return []
  const outcome = await runGit(root, STATUS, { env, timeout, signal: request.signal, maxBytes: bytesFor(request.maxTokens) })
  if ('problem' in outcome) {
    request.notice(`The state of the repository is left out: ${outcome.problem}.`)
    return []
  }
  const output = outcome.output.trimEnd()
  return [
    {
      title: 'state of the repository at the beginning of this turn',
      source: 'git status --short --branch',
      text: output.includes('\n') ? output : `${output}\n(nothing to commit, working tree clean)`,
      ...(outcome.isCut ? { isCut: true } : {}),
    },
  ]
}

interface FileText {
  /** Relative to the root, with `/`, as requested and with every link resolved. */
  readonly name: string
  readonly realName: string
  readonly text: string
  readonly isCut: boolean
}

/**
 * @param path absolute.
 * @param root real path of the folder that may be read.
 * @returns `undefined` where no such file exists; the reason where the file is left out.
 */
async function readText(
  path: string,
  root: string,
  maxBytes: number,
): Promise<FileText | { readonly skipped: string } | undefined> {
  let real: string
  try {
    real = await realpath(path)
  } catch (error) {
    return isGone(error) ? undefined : { skipped: 'its path cannot be resolved' }
  }
  if (!isInside(real, root)) return { skipped: 'it leads out of the folder' }
  const realName = nameIn(root, real)
  if (realName.split('/').includes('.git')) return { skipped: 'it belongs to git' }
  if (isSecretPath(basename(path)) || isSecretPath(realName)) return { skipped: 'it may hold secrets' }

  try {
    const read = await readBeginning(real, maxBytes)
    if (read === undefined) return undefined
    const text = textOf(read.bytes, read.isCut)
    if (text === undefined) return { skipped: 'it is not text' }
    if (holdsPrivateKey(text)) return { skipped: 'it may hold secrets (a private key)' }
    return { name: isInside(path, root) ? nameIn(root, path) : realName, realName, text, isCut: read.isCut }
  } catch (error) {
    return isGone(error) ? undefined : { skipped: 'it cannot be read' }
  }
}

/** Returns `undefined` for anything but a regular file. */
async function readBeginning(real: string, maxBytes: number): Promise<{ bytes: Uint8Array; isCut: boolean } | undefined> {
  const file = await open(real, AS_IT_WAS_FOUND)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) return undefined
    const bytes = Buffer.allocUnsafe(Math.min(stats.size, maxBytes))
    let length = 0
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return { bytes: bytes.subarray(0, length), isCut: stats.size > maxBytes }
  } finally {
    await file.close()
  }
}

/** Decodes UTF-8, or UTF-16 with a byte order mark; drops a character that the cut split. `undefined` for anything else. */
function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8'
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isCut })
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

function nameIn(root: string, path: string): string {
  return relative(root, path).split(sep).join('/')
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
