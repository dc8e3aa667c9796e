/** Resolves what a call acts on: parses the command line, follows the path, splits the address. */

import { whenNeeded } from '../../util/pattern.ts'
import { homedir } from 'node:os'
import { posix, resolve } from 'node:path'
import type { Tool, ToolSubject } from '../../core/tool.ts'
import { parseCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'
import { realPathOf } from '../../util/real-path.ts'

export type Subject =
  | { readonly kind: 'command'; readonly line: CommandLine }
  /** Absolute, with `/`: as it was written, and where it leads. */
  | { readonly kind: 'path'; readonly written: string; readonly real: string; readonly sensitive?: boolean }
  | { readonly kind: 'url'; readonly url: URL }
  | { readonly kind: 'arguments'; readonly input: unknown }
  /** Nobody can tell what this acts on. */
  | { readonly kind: 'obscure'; readonly reason: string }

/** @param root absolute; relative paths start there. */
export async function subjectsOf(tool: Tool, input: unknown, root: string): Promise<Subject[]> {
  if (tool.subjects === undefined) return [{ kind: 'arguments', input }]
  try {
    const found: Subject[] = []
    // The input was checked against the tool's own schema.
    for (const subject of tool.subjects(input as never)) found.push(...(await understood(subject, root)))
    return found
  } catch {
    return [{ kind: 'obscure', reason: 'the tool cannot say what it acts on' }]
  }
}

/** What came from a tool in JavaScript may have any form; what has none that is known throws or stays obscure. */
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

/** Ways to write a path that programs read differently. */
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
    // `link/..` is where the link's target lies for the system, and where the link lies for a program that tidies the path first.
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
    return { kind: 'obscure', reason: 'the address is no plain http or https URL' }
  }
  return { kind: 'url', url }
}

/** A pattern of paths, absolute: `~/` is the home folder, anything relative starts at `root`. */
export function absolutePattern(pattern: string, root: string): string {
  if (pattern.startsWith('~/')) return `${slashed(homedir())}/${pattern.slice(2)}`
  const absolute = pattern.startsWith('/') || /^[A-Za-z]:/.test(pattern)
  return posix.normalize(slashed(absolute ? pattern : `${root}/${pattern}`))
}

function slashed(path: string): string {
  return process.platform === 'win32' ? path.replaceAll('\\', '/') : path
}
