/** Rules of permission as people write them: `read_file`, `shell(git status)`, `edit(src/**)`, `fetch(https://example.org/*)`. */

import { ConfigurationError } from '../../core/error.ts'
import { describe } from '../../util/check.ts'
import { matchesGlob } from '../../util/glob.ts'

/** Which calls run without asking, are asked about, or never run. */
export interface ToolRules {
  /** Run without asking. */
  readonly allow?: readonly string[]
  /** Ask, even where the tool itself needs no permission. */
  readonly ask?: readonly string[]
  /** Never run. Wins over `ask`, which wins over `allow`. */
  readonly deny?: readonly string[]
  /**
   * `ask`: what the model calls after it has read text from documents, tools or the web is asked about, unless the tool changes nothing.
   * Default `trust`: such text makes no difference.
   */
  readonly afterUntrusted?: 'ask' | 'trust'
  /** The folder that relative paths in rules start from; default the working directory. */
  readonly root?: string
}

export const LISTS = ['allow', 'ask', 'deny'] as const
export type List = (typeof LISTS)[number]

export interface Rule {
  readonly list: List
  /** As it was written; this names it in decisions. */
  readonly text: string
  /** Names of tools; `*` stands for any characters. */
  readonly tool: string
  /** The rule is only about the tool of this fingerprint, or one that begins like it: `mcp__files__read#1a2b3c4d5e6f`. */
  readonly fingerprint: string | undefined
  /** What stands in parentheses; absent where the rule is about the tool as such. */
  readonly pattern: string | undefined
}

/** @throws ConfigurationError for what is no rule. */
export function parseRule(text: string, list: List): Rule {
  const { tool, fingerprint, pattern } = partsOf(text) ?? {}
  if (tool === undefined) {
    throw new ConfigurationError(`\`rules.${list}\`: ${JSON.stringify(text)} is no rule. Write ${rightSpelling(text)}.`)
  }
  return { list, text: text.trim(), tool, fingerprint, pattern }
}

export function isRule(text: unknown): boolean {
  return partsOf(text) !== undefined
}

/** What to write instead of what is no rule. */
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

/** @throws ConfigurationError for what is no rule. */
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

/** Whether a rule that names a fingerprint means this one. A rule without one means any. */
export function meansVersion({ fingerprint }: Rule, actual: string | undefined): boolean {
  return fingerprint === undefined || actual?.startsWith(fingerprint) === true
}
