/**
 * A prohibition of paths, or a wish to be asked about them, is meant for whatever does the same: who forbids to read a folder forbids to
 * search in it, and to print it by a command. Permissions are about the tool that they name.
 */

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { SimpleCommand, Word } from './command-line.ts'
import { folded, isClosed } from './glob.ts'
import { NAMING, pathsIn, READING } from './guarded-paths.ts'
import { programOf } from './programs.ts'
import { realPathOfSync } from './real-path.ts'
import { isAbout } from './rule.ts'
import type { PathPatterns, ReadRule } from './rule-book.ts'
import type { Subject } from './subject.ts'

export const COMMANDS = 'run_command'

/** Rules about the second kind of tools hold for the first, too. */
const KINDRED: Readonly<Record<string, readonly string[]>> = {
  search_files: ['read_file'],
  write_file: ['edit_file'],
  edit_file: ['write_file'],
  [COMMANDS]: ['read_file', 'write_file', 'edit_file'],
}

/** Whether a prohibition that does not name the tool is about it all the same. */
export function isKindred(rule: ReadRule, tool: string): boolean {
  return rule.list !== 'allow' && rule.paths !== undefined && (KINDRED[tool] ?? []).some((kin) => isAbout(rule, kin))
}

/** Whether any of the names of a path is meant. */
export function meetsPath(paths: PathPatterns | undefined, ...given: readonly string[]): boolean {
  if (paths === undefined) return false
  const patterns = [paths.written, paths.rooted, paths.real]
  return given.some((path) => isClosed(path, patterns))
}

/**
 * Patterns of what a tool that looks into whole folders keeps to itself. A rule that the call itself meets is not among them: somebody was
 * asked.
 */
export function closedPaths(rules: readonly ReadRule[], tool: string, subjects: readonly Subject[]): readonly string[] {
  const closing = rules.filter((rule) => rule.list !== 'allow' && (isAbout(rule, tool) || isKindred(rule, tool)))
  return closing.flatMap(({ paths }) => {
    const isGranted = subjects.some((subject) => subject.kind === 'path' && meetsPath(paths, subject.written, subject.real))
    return paths === undefined || isGranted ? [] : [...new Set([paths.written, paths.rooted, paths.real])]
  })
}

/** They look into whole folders; those of the second list also into the present one when none is named. */
const WALKING: ReadonlySet<string> = new Set('grep egrep fgrep rgrep rg ag ack tar bsdtar zip 7z cp rsync scp diff'.split(' '))
const WALKING_HERE: ReadonlySet<string> = new Set(['rg', 'ag', 'ack', 'rgrep'])

/**
 * Whether a command does what a rule about paths forbids: `undefined` when it names such a path, and nobody can tell.
 *
 * @param root absolute; where the command runs.
 */
export function commandMeetsPaths(rule: ReadRule, command: SimpleCommand, root: string): boolean | undefined {
  const { paths } = rule
  const [name, ...words] = command
  if (paths === undefined || name === undefined) return false
  const program = programOf(name.text)
  if (NAMING.has(program)) return false
  const isReading = READING.has(program)
  const forbidsReading = isAbout(rule, 'read_file')
  if (!forbidsReading && isReading) return false
  const found = [...(name.text.includes('/') ? [name] : []), ...words].map((word) => wordMeets(word, paths, root, program))
  if (found.includes('yes')) return forbidsReading && isReading ? true : undefined
  if (found.includes('maybe')) return undefined
  return WALKING_HERE.has(program) && isInside(fixedPart(paths.rooted), root) ? undefined : false
}

function wordMeets({ text, wild }: Word, paths: PathPatterns, root: string, program: string): 'yes' | 'maybe' | 'no' {
  let answer: 'maybe' | 'no' = 'no'
  for (const path of pathsIn(text).flatMap(fromBelow)) {
    const absolute = resolve(root, path.replace(/^~(?=\/|$)/, homedir()))
    if (wild !== 'no') {
      const known = fixedPart(absolute)
      const closed = fixedPart(paths.rooted)
      if (isInside(known, closed) || isInside(closed, known)) answer = 'maybe'
      continue
    }
    const real = whereItLeads(absolute)
    if (meetsPath(paths, absolute, real)) return 'yes'
    if (WALKING.has(program) && isInside(fixedPart(paths.rooted), real)) answer = 'maybe'
  }
  return answer
}

/** The command may have gone to a folder below. */
function fromBelow(path: string): string[] {
  const inside = path.replace(/^(?:\.\.?\/)+/, '')
  return inside === path ? [path] : [path, inside]
}

/** The folders before the first part that is a pattern. */
function fixedPart(pattern: string): string {
  const parts = pattern.split('/')
  const first = parts.findIndex((part) => /[*?[]/.test(part))
  return first === -1 ? pattern : parts.slice(0, first).join('/')
}

function isInside(path: string, folder: string): boolean {
  const [inner, outer] = [folded(path), folded(folder)]
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
}

/** As it is written where that cannot be told. */
function whereItLeads(path: string): string {
  try {
    return realPathOfSync(path)
  } catch {
    return path
  }
}
