/**
 * Reads the rules of a turn, and applies path rules to tools that they do not name. Denying to read a folder also denies searching it,
 * and hides it from commands. An allow rule counts only for the tool it names; a path in it without a star is also opened to commands in the
 * sandbox.
 */

import { resolve } from 'node:path'
import type { CommandReach } from '../../core/tool.ts'
import { isClosed } from '../../util/glob.ts'
import { realOrSame, realPatternOf } from '../../util/real-path.ts'
import type { SimpleCommand } from './command-line.ts'
import { coversCommand, isHarmless, namesLine, parseCommandPattern } from './command-rule.ts'
import type { CommandPattern } from './command-rule.ts'
import { isAbout, parseRules } from './rule.ts'
import type { Rule, ToolRules } from './rule.ts'
import { absolutePattern } from './subject.ts'
import type { Subject } from './subject.ts'

export interface ReadRule extends Rule {
  /** Absent for a rule without a pattern, and for a pattern that is not a command. */
  readonly command: CommandPattern | undefined
  readonly paths: PathPatterns | undefined
}

export interface PathPatterns {
  /** The path as written in the rule, made absolute. */
  readonly written: string
  /** The path with the links of the rules' root resolved. */
  readonly rooted: string
  /** The path with all links resolved, up to the first part with a star. */
  readonly real: string
}

export interface RuleBook {
  readonly rules: readonly ReadRule[]
  /** Absolute path from which relative paths start. */
  readonly root: string
  readonly afterUntrusted: 'ask' | 'trust'
}

/** @throws ConfigurationError for an invalid rule. */
export async function readRules(rules: ToolRules): Promise<RuleBook> {
  const root = resolve(rules.root ?? process.cwd())
  const realRoot = realOrSame(root)
  const read = parseRules(rules).map((rule) => readRule(rule, root, realRoot))
  return { rules: await Promise.all(read), root, afterUntrusted: rules.afterUntrusted ?? 'trust' }
}

export async function readRule(rule: Rule, root: string, realRoot: string = realOrSame(root)): Promise<ReadRule> {
  const { pattern } = rule
  if (pattern === undefined) return { ...rule, command: undefined, paths: undefined }
  const written = absolutePattern(pattern, root)
  const rooted = written === root || written.startsWith(`${root}/`) ? `${realRoot}${written.slice(root.length)}` : written
  return {
    ...rule,
    command: parseCommandPattern(pattern),
    paths: { written, rooted, real: await realPatternOf(written).catch(() => written) },
  }
}

/** For each tool, further tools whose `deny` and `ask` rules apply to it. */
const RELATED: Readonly<Record<string, readonly string[]>> = {
  search_files: ['read_file'],
  write_file: ['edit_file'],
  edit_file: ['write_file'],
}

/** A name in rules that is not a tool: commands that it covers may use the network. */
export const NETWORK = 'network'

/** Returns whether a `deny` or `ask` rule for another tool applies to this tool as well. */
export function isRelated(rule: ReadRule, tool: string): boolean {
  return rule.list !== 'allow' && rule.paths !== undefined && (RELATED[tool] ?? []).some((other) => isAbout(rule, other))
}

/** Returns whether the patterns match any of the names of a path. */
export function meetsPath(paths: PathPatterns | undefined, ...given: readonly string[]): boolean {
  return paths !== undefined && given.some((path) => isClosed(path, patternsOf(paths)))
}

function patternsOf({ written, rooted, real }: PathPatterns): readonly string[] {
  return [...new Set([written, rooted, real])]
}

/**
 * Returns the paths of `deny` and `ask` rules, which a tool that reads whole folders must not show, except those of rules that match the call
 * itself: about these the user was asked.
 */
export function closedPaths(rules: readonly ReadRule[], tool: string, subjects: readonly Subject[]): readonly string[] {
  const closing = rules.filter((rule) => rule.list !== 'allow' && (isAbout(rule, tool) || isRelated(rule, tool)))
  return closing.flatMap(({ paths }) => {
    const isGranted = subjects.some((subject) => subject.kind === 'path' && meetsPath(paths, subject.written, subject.real))
    return paths === undefined || isGranted ? [] : patternsOf(paths)
  })
}

/** Returns whether a rule about paths applies to commands in a sandbox as well. */
export function forbidsPaths(rule: ReadRule): boolean {
  return rule.list !== 'allow' && ['read_file', 'search_files', 'edit_file', 'write_file'].some((tool) => isAbout(rule, tool))
}

/** Returns the effect of the rules on a command in a sandbox. */
export function commandReach(rules: readonly ReadRule[], subjects: readonly Subject[]): CommandReach {
  const patterns = (tools: readonly string[], allow: boolean): readonly string[] => {
    const about = rules.filter((rule) => (rule.list === 'allow') === allow && tools.some((tool) => isAbout(rule, tool)))
    // A rule without a pattern concerns the tool, not paths.
    // An allow rule applies to the path as written, not to the target of a link in the workspace.
    const named = ({ written, rooted }: PathPatterns): readonly string[] => [written, rooted]
    return about.flatMap(({ paths }) => (paths === undefined ? [] : allow ? named(paths) : patternsOf(paths)))
  }
  return {
    hidden: patterns(['read_file', 'search_files'], false),
    readOnly: patterns(['edit_file', 'write_file'], false),
    shown: patterns(['read_file'], true),
    writable: patterns(['edit_file', 'write_file'], true),
    network: mayUseNetwork(rules, subjects),
  }
}

/**
 * Returns whether `network` rules cover every command of the line, or name the line itself. Rules for only some of them do not count: a covered
 * command could send what the others pass to it.
 */
function mayUseNetwork(rules: readonly ReadRule[], subjects: readonly Subject[]): boolean {
  const about = rules.filter(({ tool }) => tool === NETWORK)
  const lines = subjects.flatMap((subject) => (subject.kind === 'command' ? [subject.line] : []))
  const covers = ({ command }: ReadRule, each: SimpleCommand): boolean =>
    command !== undefined && coversCommand(command, each, { confined: true })
  return lines.every(({ text, commands, opaque }) => {
    const isWhole = ({ pattern }: ReadRule): boolean => pattern === undefined || namesLine(pattern, text)
    if (about.some((rule) => rule.list !== 'allow' && (isWhole(rule) || commands.some((each) => covers(rule, each)))))
      return false
    const allowing = about.filter(({ list }) => list === 'allow')
    if (allowing.some(isWhole)) return true
    const needed = commands.filter((each) => !isHarmless(each, { confined: true }))
    return opaque === undefined && needed.length > 0 && needed.every((each) => allowing.some((rule) => covers(rule, each)))
  })
}
