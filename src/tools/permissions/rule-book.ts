/** Parses the rules of a turn once. */

import { resolve } from 'node:path'
import { parseCommandPattern } from './command-rule.ts'
import type { CommandPattern } from './command-rule.ts'
import { realOrSame, realPatternOf } from '../../util/real-path.ts'
import { parseRules } from './rule.ts'
import type { Rule, ToolRules } from './rule.ts'
import { absolutePattern } from './subject.ts'

export interface ReadRule extends Rule {
  /** Absent for a rule without a pattern, and for a pattern that is no command. */
  readonly command: CommandPattern | undefined
  readonly paths: PathPatterns | undefined
}

export interface PathPatterns {
  /** Absolute, as the owner of the rule wrote it. */
  readonly written: string
  /** With the folder that the rules start from in its real place. */
  readonly rooted: string
  /** With every link in its fixed part followed. */
  readonly real: string
}

export interface RuleBook {
  readonly rules: readonly ReadRule[]
  /** Absolute. */
  readonly root: string
  readonly afterUntrusted: 'ask' | 'trust'
}

/** @throws ConfigurationError for what is no rule. */
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
