/** What do the rules say about a call? */

import { coversCommand, meetsCommand, wordsLeftOut } from './command-rule.ts'
import { matchesGlob, matchesPath } from './glob.ts'
import { COMMANDS, commandMeetsPaths, isKindred, meetsPath } from './kindred.ts'
import { isAbout } from './rule.ts'
import type { List } from './rule.ts'
import type { ReadRule } from './rule-book.ts'
import type { Subject } from './subject.ts'

export interface RuleVerdict {
  readonly verdict: List
  /** The rules that decided, as they were written. */
  readonly rule?: string
  readonly reason: string
}

/**
 * `deny` wins over `ask`, which wins over `allow`. A prohibition counts when any part of the call meets it, a permission only when every
 * part is covered by one. What is not understood is never covered, and is asked about when there are rules about the arguments of the
 * tool. What is sensitive is covered only by a rule that names it. `undefined`: no rule says anything.
 */
export function decide(rules: readonly ReadRule[], tool: string, subjects: readonly Subject[]): RuleVerdict | undefined {
  const about = rules.filter((rule) => isAbout(rule, tool) || isKindred(rule, tool))
  const denied = about.find((rule) => rule.list === 'deny' && meets(rule, tool, subjects) === 'yes')
  if (denied !== undefined) return { verdict: 'deny', rule: denied.text, reason: `The rule "${denied.text}" forbids it.` }

  const asked = about.find((rule) => rule.list === 'ask' && meets(rule, tool, subjects) === 'yes')
  if (asked !== undefined) return { verdict: 'ask', rule: asked.text, reason: `The rule "${asked.text}" asks.` }

  const whole = about.find((rule) => rule.list === 'allow' && rule.pattern === undefined)
  const unclear = about.find((rule) => rule.list !== 'allow' && meets(rule, tool, subjects) === 'unclear')
  if (unclear !== undefined) {
    return {
      verdict: 'ask',
      rule: unclear.text,
      reason: `Nobody can tell whether the rule "${unclear.text}" is meant${why(subjects)}.`,
    }
  }
  if (whole !== undefined && !subjects.some(isSensitive)) return allowed([whole])

  const covering = subjects.map((subject) => about.find((rule) => rule.list === 'allow' && covers(rule, subject)))
  if (subjects.length > 0 && covering.every((rule) => rule !== undefined)) return allowed(covering)
  if (about.length > 0 && subjects.some(({ kind }) => kind === 'obscure')) {
    return { verdict: 'ask', reason: `No rule can cover it${why(subjects)}.` }
  }
  return undefined
}

/** Why a permission that looks as if it covered the call does not; `undefined` when none does. */
export function nearMiss(rules: readonly ReadRule[], tool: string, subjects: readonly Subject[]): string | undefined {
  for (const { text, pattern, command, paths } of rules.filter((rule) => rule.list === 'allow' && isAbout(rule, tool))) {
    for (const subject of subjects) {
      const words = subject.kind === 'command' && command !== undefined ? wordsLeftOut(command, subject.command) : []
      if (words.length > 0) {
        const named = JSON.stringify(words.join(' ').slice(0, MOST_SHOWN))
        return `The rule "${text}" does not cover it: no * stands for ${named}, which has to be named.`
      }
      if (!isSensitive(subject) || subject.kind !== 'path') continue
      if (pattern === undefined || (paths !== undefined && matchesPath(paths.rooted, subject.real))) {
        return `The rule "${text}" does not cover it: such a file has to be named.`
      }
    }
  }
  return undefined
}

const MOST_SHOWN = 100

function isSensitive(subject: Subject): boolean {
  return subject.kind === 'path' && subject.sensitive === true
}

function allowed(rules: readonly ReadRule[]): RuleVerdict {
  const rule = [...new Set(rules.map(({ text }) => text))].join(', ')
  return { verdict: 'allow', rule, reason: `Allowed by the rule "${rule}".` }
}

function why(subjects: readonly Subject[]): string {
  const obscure = subjects.find((subject) => subject.kind === 'obscure')
  return obscure === undefined ? '' : `: ${obscure.reason}`
}

/** Whether the call does anything that a prohibition (or a wish to be asked) is about. */
function meets(rule: ReadRule, tool: string, subjects: readonly Subject[]): 'yes' | 'no' | 'unclear' {
  if (rule.pattern === undefined) return 'yes'
  let answer: 'no' | 'unclear' = 'no'
  for (const subject of subjects) {
    const met = meetsSubject(rule, tool, subject)
    if (met === true) return 'yes'
    if (met === undefined) answer = 'unclear'
  }
  return answer
}

function meetsSubject(rule: ReadRule, tool: string, subject: Subject): boolean | undefined {
  const { command, paths, pattern = '' } = rule
  switch (subject.kind) {
    case 'command':
      if (tool === COMMANDS && isKindred(rule, tool)) {
        const met = commandMeetsPaths(rule, subject.command, subject.root)
        if (met !== false || !isAbout(rule, tool)) return met
      }
      return command === undefined ? undefined : meetsCommand(command, subject.command)
    case 'path':
      return meetsPath(paths, subject.written, subject.real)
    case 'url':
      return matchesUrl(pattern, subject.url)
    case 'arguments':
      return matchesArguments(pattern, subject.input)
    default:
      return undefined
  }
}

function covers(rule: ReadRule, subject: Subject): boolean {
  const { command, paths, pattern = '' } = rule
  switch (subject.kind) {
    case 'command':
      return command !== undefined && coversCommand(command, subject.command)
    case 'path':
      if (isSensitive(subject) && pattern.includes('*')) return false
      return paths !== undefined && [paths.written, paths.rooted].some((each) => matchesPath(each, subject.real))
    case 'url':
      return matchesUrl(pattern, subject.url) === true
    case 'arguments':
      return matchesArguments(pattern, subject.input) === true
    default:
      return false
  }
}

/** `https://example.org/docs/*`, or a host alone: `*.example.org`. `undefined` for a pattern that is neither. */
export function matchesUrl(pattern: string, url: URL): boolean | undefined {
  const parts = /^(?:(https?):\/\/)?([^/?#]*[^/?#:])(\/.*)?$/i.exec(pattern)
  if (parts === null) return undefined
  const [, protocol, host = '', path] = parts
  if (protocol !== undefined && `${protocol.toLowerCase()}:` !== url.protocol) return false
  const named = host.includes(':') && !host.endsWith(']') ? url.host : url.hostname
  if (!matchesGlob(host.toLowerCase(), named.replace(/\.$/, ''))) return false
  return path === undefined || matchesGlob(path, url.pathname + url.search)
}

/** For tools that do not say what they act on: `env=staging, region=eu-*`. `undefined` for a pattern of another form. */
export function matchesArguments(pattern: string, input: unknown): boolean | undefined {
  const conditions = pattern.split(',').map((condition) => /^\s*([\w.-]+)\s*=([^]*)$/.exec(condition))
  if (conditions.some((condition) => condition === null)) return undefined
  return conditions.every((condition) => {
    const [, name = '', expected = ''] = condition ?? []
    const value = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined
    return ['string', 'number', 'boolean'].includes(typeof value) && matchesGlob(expected.trim(), String(value))
  })
}
