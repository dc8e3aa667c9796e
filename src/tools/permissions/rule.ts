/** Parses permission rules: `read_file`, `shell(git status)`, `edit(src/**)`, `fetch(https://example.org/*)`. */

import { ConfigurationError } from '../../core/error.ts'
import { describe } from '../../util/check.ts'
import { matchesGlob } from '../../util/glob.ts'

/** Rules that let calls run without asking, require an answer, or forbid them. */
export interface ToolRules {
  /** Calls that run without asking. */
  readonly allow?: readonly string[]
  /** Calls that need an answer, even if the tool itself needs no permission. */
  readonly ask?: readonly string[]
  /** Calls that never run. Wins over `ask`, which wins over `allow`. */
  readonly deny?: readonly string[]
  /**
   * `ask`: after the model has read text from documents, tools or the web, calls need an answer unless the tool is read-only.
   * Default `trust`: such text does not matter.
   */
  readonly afterUntrusted?: 'ask' | 'trust'
  /** The folder from which relative paths in rules start; default the working directory. */
  readonly root?: string
}

export const LISTS = ['allow', 'ask', 'deny'] as const
export type List = (typeof LISTS)[number]

export interface Rule {
  readonly list: List
  /** The rule as written, which names it in decisions. */
  readonly text: string
  /** Pattern of tool names; `*` matches any characters. */
  readonly tool: string
  /** Limits the rule to tools whose fingerprint begins with this text: `mcp__files__read#1a2b3c4d5e6f`. */
  readonly fingerprint: string | undefined
  /** The text in parentheses; absent when the rule covers all calls of the tool. */
  readonly pattern: string | undefined
}

/**
 * @param place where the rule is written, for the error.
 * @throws ConfigurationError for an invalid rule.
 */
export function parseRule(text: string, list: List, place = `\`rules.${list}\``): Rule {
  const { tool, fingerprint, pattern } = partsOf(text) ?? {}
  if (tool === undefined) {
    throw new ConfigurationError(`${place}: ${JSON.stringify(text)} is not a rule. Write ${rightSpelling(text)}.`)
  }
  return { list, text: text.trim(), tool, fingerprint, pattern }
}

export function isRule(text: unknown): boolean {
  return partsOf(text) !== undefined
}

/** Returns a suggestion in place of an invalid rule. */
export function rightSpelling(text: unknown): string {
  const [, name, inner] = /^\s*([\w*-]+(?:#[\da-f]{8,64})?)\s*\(([^]*?)\)?\s*$/.exec(typeof text === 'string' ? text : '') ?? []
  if (name === undefined || inner === undefined) {
    return 'the name of a tool, and in parentheses what it may act on: "shell(git status)"'
  }
  const pattern = inner.trim()
  const whole = JSON.stringify(`${name}(${pattern || '…'})`)
  return pattern === '' ? `"${name}" for all of its calls, or in parentheses what it may act on: ${whole}` : whole
}

function partsOf(text: unknown): Pick<Rule, 'tool' | 'fingerprint' | 'pattern'> | undefined {
  const parts = /^([\w*-]+)(?:#([\da-f]{8,64}))?(?:\(([^]*)\))?$/.exec(typeof text === 'string' ? text.trim() : '')
  const [, tool, fingerprint, given] = parts ?? []
  const pattern = given?.trim()
  return tool === undefined || pattern === '' ? undefined : { tool, fingerprint, pattern }
}

/** @throws ConfigurationError for an invalid rule. */
export function parseRules(rules: ToolRules): Rule[] {
  return LISTS.flatMap((list) => {
    const texts: unknown = rules[list] ?? []
    if (!Array.isArray(texts))
      throw new ConfigurationError(`\`rules.${list}\` must be a list of rules, but is ${describe(texts)}.`)
    return texts.map((text: string) => parseRule(text, list))
  })
}

export function isAbout(rule: Rule, tool: string): boolean {
  return matchesGlob(rule.tool, tool)
}

/** Returns whether a rule applies to a fingerprint. A rule without a fingerprint applies to any. */
export function meansVersion({ fingerprint }: Rule, actual: string | undefined): boolean {
  return fingerprint === undefined || actual?.startsWith(fingerprint) === true
}
