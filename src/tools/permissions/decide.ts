/** Applies the permission rules to a call. */

import type { Confinement } from '../../core/tool.ts'
import type { CommandLine, SimpleCommand } from './command-line.ts'
import { coversCommand, exactPattern, isHarmless, isWild, meetsLine, namesLine, wordsLeftOut } from './command-rule.ts'
import { matchesArguments, matchesPath, matchesUrl } from '../../util/glob.ts'
import { changesFolder, followsFolder } from './guarded-paths.ts'
import { isAbout } from './rule.ts'
import type { List } from './rule.ts'
import { forbidsPaths, isRelated, meetsPath } from './rule-book.ts'
import type { ReadRule } from './rule-book.ts'
import type { Subject } from './subject.ts'

export interface RuleVerdict {
  readonly verdict: List
  /** The rules that decided, as written by their owner. */
  readonly rule?: string
  readonly reason: string
}

const UNCONFINED: Confinement = { confined: false }

/**
 * Returns the verdict of the rules; `undefined` when no rule applies. `deny` wins over `ask`, which wins over `allow`. A deny or ask rule
 * applies when it matches any part of the call; allow rules only when they cover every part. No pattern covers a part that cannot be understood,
 * except the exact text of a command line, and the user is asked about such a part if any rule is about the tool. Sensitive parts are covered
 * only by a rule that names them.
 */
export function decide(
  rules: readonly ReadRule[],
  tool: string,
  subjects: readonly Subject[],
  confinement: Confinement = UNCONFINED,
): RuleVerdict | undefined {
  const about = rules.filter((rule) => isAbout(rule, tool) || isRelated(rule, tool))
  const denied = about.find((rule) => rule.list === 'deny' && meets(rule, subjects) === 'yes')
  if (denied !== undefined) return { verdict: 'deny', rule: denied.text, reason: `The rule "${denied.text}" forbids it.` }

  const asked = about.find((rule) => rule.list === 'ask' && meets(rule, subjects) === 'yes')
  if (asked !== undefined) return { verdict: 'ask', rule: asked.text, reason: `The rule "${asked.text}" asks.` }

  const named = subjects.every((subject) => subject.kind === 'command' && namedLine(about, subject.line) !== undefined)
  const unclear = about.find((rule) => rule.list !== 'allow' && meets(rule, subjects) === 'unclear')
  if (unclear !== undefined && !(named && subjects.length > 0)) {
    return {
      verdict: 'ask',
      rule: unclear.text,
      reason: `It cannot be decided whether the rule "${unclear.text}" applies${why(subjects)}.`,
    }
  }
  const open = unenforced(rules, subjects, confinement)
  const exactOnly = open !== undefined
  const whole = about.find((rule) => rule.list === 'allow' && rule.pattern === undefined)
  if (whole !== undefined && !exactOnly && !subjects.some(isSensitive)) return allowed([whole])

  const covering = subjects.map((subject) =>
    subject.kind === 'command'
      ? coveringLine(about, subject.line, confinement, exactOnly)
      : about.filter((rule) => rule.list === 'allow' && covers(rule, subject)).slice(0, 1),
  )
  const all = covering.flatMap((each) => each ?? [])
  if (subjects.length > 0 && covering.every((each) => each !== undefined && each.length > 0)) return allowed(all)
  if (open !== undefined && about.some(({ list }) => list === 'allow')) return { verdict: 'ask', reason: open }
  if (about.length > 0 && why(subjects) !== '') return { verdict: 'ask', reason: `No rule can cover it${why(subjects)}.` }
  return undefined
}

/** Returns the reason why only an exact rule covers a command: without a sandbox, rules about paths cannot be enforced. */
function unenforced(
  rules: readonly ReadRule[],
  subjects: readonly Subject[],
  { confined, exposed }: Confinement,
): string | undefined {
  if (confined || !subjects.some(({ kind }) => kind === 'command')) return undefined
  const forbidding = rules.find(forbidsPaths)
  if (forbidding !== undefined) return `No sandbox keeps commands from what the rule "${forbidding.text}" is about.`
  return exposed === undefined
    ? undefined
    : `No sandbox keeps commands from the file ${JSON.stringify(exposed)}, which may hold secrets.`
}

function namedLine(rules: readonly ReadRule[], { text }: CommandLine): ReadRule | undefined {
  return rules.find(({ list, pattern }) => list === 'allow' && pattern !== undefined && namesLine(pattern, text))
}

/** Returns the rules that cover a line: a rule with its text, or a rule for each of its commands. */
function coveringLine(
  rules: readonly ReadRule[],
  line: CommandLine,
  { confined }: Confinement,
  exactOnly: boolean,
): readonly ReadRule[] | undefined {
  const named = namedLine(rules, line)
  if (named !== undefined) return [named]
  if (line.opaque !== undefined || (!confined && line.more !== undefined)) return undefined
  const used: ReadRule[] = []
  for (const [place, command] of line.commands.entries()) {
    const goesElsewhere = line.commands.slice(0, place).some(changesFolder) && followsFolder(command, confined)
    const rule = goesElsewhere ? undefined : coveringCommand(rules, command, { confined, exactOnly })
    if (rule === undefined && !isHarmless(command, { confined })) return undefined
    if (rule !== undefined) used.push(rule)
  }
  // A line of harmless commands only is covered by the first rule about commands.
  const any = rules.find(({ list, command }) => list === 'allow' && command !== undefined)
  return used.length > 0 || any === undefined ? used : [any]
}

function coveringCommand(
  rules: readonly ReadRule[],
  given: SimpleCommand,
  { confined, exactOnly }: { readonly confined: boolean; readonly exactOnly: boolean },
): ReadRule | undefined {
  return rules.find(
    ({ list, command }) =>
      list === 'allow' &&
      command !== undefined &&
      (!exactOnly || !command.some(isWild)) &&
      coversCommand(command, given, { confined }),
  )
}

/** Explains why a rule that seems to cover the call does not, and which rule would; `undefined` when there is no such rule. */
export function nearMiss(rules: readonly ReadRule[], tool: string, subjects: readonly Subject[]): string | undefined {
  const allowing = rules.filter((rule) => rule.list === 'allow' && isAbout(rule, tool))
  for (const { text, pattern, command, paths } of allowing) {
    for (const subject of subjects) {
      const words =
        subject.kind !== 'command' || command === undefined
          ? []
          : subject.line.commands.flatMap((each) => wordsLeftOut(command, each))
      if (words.length > 0) {
        const named = JSON.stringify(words.join(' ').slice(0, MOST_SHOWN))
        return `The rule "${text}" does not cover it: * does not match ${named}, which a rule has to name.`
      }
      if (!isSensitive(subject) || subject.kind !== 'path') continue
      if (pattern === undefined || (paths !== undefined && matchesPath(paths.rooted, subject.real))) {
        return `The rule "${text}" does not cover it: a rule has to name such a file.`
      }
    }
  }
  return undefined
}

/** Returns the rule that allows exactly this command line; `undefined` for other calls, and for a line that cannot be written in a rule. */
export function exactRule(tool: string, subjects: readonly Subject[]): string | undefined {
  const [subject] = subjects
  if (subject?.kind !== 'command' || subjects.length !== 1) return undefined
  const { text, opaque, more, commands } = subject.line
  if (text.length > MOST_SUGGESTED || /[^\P{C}\n\t]/u.test(text)) return undefined
  const isPlain = opaque === undefined && more === undefined && commands.length === 1 && !/[*?[]/.test(text)
  return `${tool}(${isPlain ? text.trim() : exactPattern(text)})`
}

const MOST_SHOWN = 100
const MOST_SUGGESTED = 2000

function isSensitive(subject: Subject): boolean {
  return subject.kind === 'path' && subject.sensitive === true
}

function allowed(rules: readonly ReadRule[]): RuleVerdict {
  const rule = [...new Set(rules.map(({ text }) => text))].join(', ')
  return { verdict: 'allow', rule, reason: `Allowed by the rule "${rule}".` }
}

/** Returns the reason why rules about its parts cannot cover the call. */
function why(subjects: readonly Subject[]): string {
  for (const subject of subjects) {
    const reason =
      subject.kind === 'obscure'
        ? subject.reason
        : subject.kind === 'command'
          ? (subject.line.opaque ?? subject.line.more)
          : undefined
    if (reason !== undefined) return `: ${reason}`
  }
  return ''
}

/** Returns whether a rule of `deny` or `ask` matches any part of the call. */
function meets(rule: ReadRule, subjects: readonly Subject[]): 'yes' | 'no' | 'unclear' {
  if (rule.pattern === undefined) return 'yes'
  let answer: 'no' | 'unclear' = 'no'
  for (const subject of subjects) {
    const met = meetsSubject(rule, subject)
    if (met === true) return 'yes'
    if (met === undefined) answer = 'unclear'
  }
  return answer
}

function meetsSubject(rule: ReadRule, subject: Subject): boolean | undefined {
  const { command, paths, pattern = '' } = rule
  switch (subject.kind) {
    case 'command':
      if (namesLine(pattern, subject.line.text)) return true
      return command === undefined ? undefined : meetsLine(command, subject.line)
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
  const { paths, pattern = '' } = rule
  switch (subject.kind) {
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
