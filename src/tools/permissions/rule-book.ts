/** Parses the rules of a turn once. */

import { resolve } from 'node:path'
import { parseCommandPattern } from './command-rule.ts'
import type { CommandPattern } from './command-rule.ts'
import { realOrSame, realPatternOf } from '../../util/real-path.ts'
import { parseRules } from './rule.ts'
import type { Rule, ToolRules } from './rule.ts'
import { absolutePattern } from './subject.ts'

export interface ReadRule extends Rule {
  /** Absent for a rule without a pattern, and for a pattern that is not a command. */
  readonly command: CommandPattern | undefined
  readonly paths: PathPatterns | undefined
}

export interface PathPatterns {
  /** Absolute path as written in the rule. */
  readonly written: string
  /** Path with the links of the rules' root resolved. */
  readonly rooted: string
  /** Path with all links in its fixed part resolved. */
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
