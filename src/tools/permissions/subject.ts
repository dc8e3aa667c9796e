/** Resolves the subjects of a call: parses command lines, follows paths, splits URLs. */

import { whenNeeded } from '../../util/pattern.ts'
import { homedir } from 'node:os'
import { posix, resolve } from 'node:path'
import type { Tool, ToolSubject } from '../../core/tool.ts'
import { parseCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'
import { ignoreRejection } from '../../util/promise.ts'
import { realPathOf } from '../../util/real-path.ts'

export type Subject =
  | { readonly kind: 'command'; readonly line: CommandLine }
  /** Absolute, with `/`: the path as written, and its target. */
  | { readonly kind: 'path'; readonly written: string; readonly real: string; readonly sensitive?: boolean }
  | { readonly kind: 'url'; readonly url: URL }
  | { readonly kind: 'arguments'; readonly input: unknown }
  /** A subject that cannot be determined. */
  | { readonly kind: 'obscure'; readonly reason: string }

/** @param root absolute; relative paths start there. */
export async function subjectsOf(tool: Tool, input: unknown, root: string): Promise<Subject[]> {
  if (tool.subjects === undefined) return [{ kind: 'arguments', input }]
  try {
    const found: Subject[] = []
    // The schema of the tool checked the input.
    const subjects = tool.subjects(input as never)
    ignoreRejection(subjects)
    for (const subject of subjects) found.push(...(await understood(subject, root)))
    return found
  } catch {
    return [{ kind: 'obscure', reason: 'the tool cannot say what it acts on' }]
  }
}

/** Resolves a subject. A tool in JavaScript may return any value: unknown forms throw or become `obscure`. */
async function understood(subject: ToolSubject, root: string): Promise<Subject[]> {
  switch (subject.kind) {
    case 'command':
      return [{ kind: 'command', line: parseCommandLine(subject.command) }]
    case 'path':
      return [await pathSubject(subject.path, root, subject.sensitive === true)]
    case 'url':
      return [urlSubject(subject.url)]
    default:
      return [{ kind: 'obscure', reason: 'it acts on something of an unknown kind' }]
  }
}

/** Matches paths that programs interpret differently. */
const AMBIGUOUS_PATH = whenNeeded(() => /^~|^[a-z][a-z\d+.-]+:|\\|%(?:2e|2f|5c|00)|[\p{C}\p{Zl}\p{Zp}]|(?:^|\/)\.{3,}(?:\/|$)/iu)

export function isAmbiguousPath(path: string): boolean {
  return path === '' || (AMBIGUOUS_PATH().test(path) && process.platform !== 'win32')
}

async function pathSubject(path: string, root: string, sensitive: boolean): Promise<Subject> {
  if (isAmbiguousPath(path)) {
    return { kind: 'obscure', reason: `the path ${JSON.stringify(path.slice(0, 200))} can be read in more than one way` }
  }
  try {
    const written = resolve(root, path)
    const real = await realPathOf(path.startsWith('/') ? path : `${root}/${path}`)
    // The system resolves `link/..` to the parent of the link's target, but programs that normalise paths to the parent of the link.
    if (path.includes('..') && (await realPathOf(written)) !== real) {
      return { kind: 'obscure', reason: `the path ${JSON.stringify(path.slice(0, 200))} leads through a link and back` }
    }
    return { kind: 'path', written: slashed(written), real: slashed(real), ...(sensitive ? { sensitive } : {}) }
  } catch {
    return { kind: 'obscure', reason: `the path ${JSON.stringify(path.slice(0, 200))} cannot be followed` }
  }
}

function urlSubject(text: string): Subject {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    return { kind: 'obscure', reason: 'the address is not a plain http or https URL' }
  }
  return { kind: 'url', url }
}

/** Makes a path pattern absolute: `~/` is the home folder, relative patterns start at `root`. */
export function absolutePattern(pattern: string, root: string): string {
  if (pattern.startsWith('~/')) return `${slashed(homedir())}/${pattern.slice(2)}`
  const absolute = pattern.startsWith('/') || /^[A-Za-z]:/.test(pattern)
  return posix.normalize(slashed(absolute ? pattern : `${root}/${pattern}`))
}

function slashed(path: string): string {
  return process.platform === 'win32' ? path.replaceAll('\\', '/') : path
}
