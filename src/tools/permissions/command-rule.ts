/** Compares a rule such as `shell(git log *)` with a command. */

import { parseCommandLine } from './command-line.ts'
import type { CommandLine, SimpleCommand, Word } from './command-line.ts'
import { matchesGlob } from '../../util/glob.ts'
import { guardedWords, NAMING, READING } from './guarded-paths.ts'
import { OUTSIDE, programOf, riskyWords, runsOthers } from './programs.ts'

/** The words of a rule. A last word `*` matches any further words; a `*` inside a word matches any characters of that word. */
export type CommandPattern = SimpleCommand

/** Returns `undefined` for a pattern of several commands, which matches only a line with the same text. */
export function parseCommandPattern(pattern: string): CommandPattern | undefined {
  const name = /^\S*/.exec(pattern)?.[0] ?? ''
  if (!name.includes('*')) return onlyCommandOf(pattern)
  // The shell parser does not accept a program name with a star.
  const rest = onlyCommandOf(`any${pattern.slice(name.length)}`)
  return rest === undefined ? undefined : [{ text: name, quoted: false, wild: 'leading' }, ...rest.slice(1)]
}

function onlyCommandOf(text: string): SimpleCommand | undefined {
  const { commands, more, opaque } = parseCommandLine(text)
  return more === undefined && opaque === undefined && commands.length === 1 ? commands[0] : undefined
}

/** Marks a rule for an exact command line: `shell(=ls *.ts | wc -l)`. */
const EXACTLY = '='

/** Returns the pattern that matches only this line. */
export function exactPattern(line: string): string {
  return EXACTLY + line.trim()
}

/** Returns whether the rule has the exact text of the line. A rule that ends in a free `*` matches any words, so it does not count. */
export function namesLine(pattern: string, line: string): boolean {
  const text = line.trim()
  if (pattern.startsWith(EXACTLY)) return pattern.slice(EXACTLY.length).trim() === text
  return pattern === text && !/(?:^|\s)\*$/.test(pattern)
}

/** Commands that only control the flow of the line, or print their words. */
const HARMLESS: ReadonlySet<string> = new Set(
  ': [ test true false echo printf exit break continue return wait pwd sleep'.split(' '),
)
/** Commands that change only the meaning or the input of later commands of the line. */
const HARMLESS_INSIDE: ReadonlySet<string> = new Set('shift read set unset export local umask cd'.split(' '))

export interface Coverage {
  /** True when a sandbox confines the command; a `*` then matches any words. */
  readonly confined: boolean
}

/** Returns whether an allow rule covers the command. Without a sandbox `*` covers neither secrets nor words that may run another program. */
export function coversCommand(pattern: CommandPattern, command: SimpleCommand, { confined }: Coverage): boolean {
  if (confined) return [command, ...unwrapped(command, WRAPPERS)].some((each) => matches(pattern, each, fits))
  const left = leftOut(command)
  if (!(isOpen(pattern) && (left.has(command.length) || left.has(0)))) {
    const isCovered = matches(pattern, command, (word, expected, index) => {
      if (!isWild(expected)) return expected.text === word.text && word.unknown !== true
      return !left.has(index) && matchesGlob(expected.text, word.text)
    })
    if (isCovered) return true
  }
  const script = scriptIn(pattern)
  if (
    script !== undefined &&
    command.slice(0, script).every((word, index) => fits(word, pattern[index] ?? word) && left.has(index))
  ) {
    return coversCommand(pattern.slice(script), command.slice(script), { confined })
  }
  return unwrapped(command, PLAIN_WRAPPERS).some((inner) => coversCommand(pattern, inner, { confined }))
}

/** Returns the index of the script or tool that a rule names after an interpreter: `python3 -m pytest *`, `npx eslint *`. */
function scriptIn(pattern: CommandPattern): number | undefined {
  if (!INTERPRETERS.test(programOf(pattern[0]?.text ?? ''))) return undefined
  const at = pattern.findIndex(({ text }, index) => index > 0 && !text.startsWith('-'))
  if (at === -1 || pattern.slice(0, at + 1).some(isWild)) return undefined
  return at === 1 || (at === 2 && pattern[1]?.text === '-m') ? at : undefined
}

const INTERPRETERS = /^(?:python[\d.]*|node|deno|bun|ruby|perl|php|sh|bash|npx|bunx|uvx|tsx)$/

/** Returns whether a command is harmless, so that no rule has to cover it. */
export function isHarmless(command: SimpleCommand, { confined }: Coverage): boolean {
  const [name, ...words] = command
  const program = name?.text ?? ''
  if (confined && (HARMLESS.has(program) || HARMLESS_INSIDE.has(program))) return true
  // Some shells evaluate arithmetic in brackets, which may run a command.
  if (HARMLESS.has(program)) return words.every(({ text }) => text === ']' || (!text.includes('[') && text !== '-v'))
  return (
    program === 'cd' &&
    words.length === 1 &&
    words.every(({ text, wild, unknown }) => wild === 'no' && unknown !== true && !OUTSIDE.test(text) && text !== '-')
  )
}

/** Returns the command that a wrapper with plain words runs: `timeout 60 npm test`, `xargs -0 grep x`, `env A=1 make`. */
function unwrapped(command: SimpleCommand, wrappers: ReadonlySet<string>): readonly SimpleCommand[] {
  const [name, ...rest] = command
  if (!wrappers.has(name?.text ?? '')) return []
  const start = rest.findIndex(({ text, unknown }, index) => {
    if (unknown === true || /^-|^\w+=|^\d+(?:\.\d+)?[smhdk]?$|^\{\}$|^%$/.test(text)) return false
    return !/^-[IdEJ]$/.test(rest[index - 1]?.text ?? '')
  })
  const inner = start === -1 ? [] : rest.slice(start)
  return inner.length === 0 || inner[0]?.unknown === true ? [] : [inner, ...unwrapped(inner, wrappers)]
}

const WRAPPERS: ReadonlySet<string> = new Set('xargs timeout time nice nohup env command stdbuf ionice setsid'.split(' '))
/** Wrappers that add no words to the program and do not change its environment. */
const PLAIN_WRAPPERS: ReadonlySet<string> = new Set(['timeout', 'time', 'nice'])

function leftOut(command: SimpleCommand): ReadonlySet<number> {
  const program = programOf(command[0]?.text ?? '')
  return new Set([...riskyWords(command, READING.has(program) || NAMING.has(program)), ...guardedWords(command, program)])
}

/** Returns the risky words that a `*` of the rule does not cover; none when the rule does not match for another reason. */
export function wordsLeftOut(pattern: CommandPattern, command: SimpleCommand): readonly string[] {
  if (!matches(pattern, command, fits)) return []
  const left = leftOut(command)
  return command.flatMap(({ text }, index) => {
    const expected = index >= pattern.length - 1 ? pattern.at(-1) : pattern[index]
    return left.has(index) && expected !== undefined && isWild(expected) ? [text] : []
  })
}

/**
 * Returns whether a deny rule matches a command of the line, under any name of its program, or a command that it runs. Returns
 * `undefined` when that cannot be decided: the line is opaque, or a word of it is known only at run time.
 */
export function meetsLine(pattern: CommandPattern, line: CommandLine): boolean | undefined {
  const inner: SimpleCommand[] = []
  const started: SimpleCommand[] = []
  for (const command of line.commands) collectInner(command, inner, started)
  const isMet = (unknown: boolean): boolean =>
    inner.some((each) =>
      matches(pattern, each, (word, expected, index) => (word.unknown ? unknown : isMeant(word, expected, index))),
    )
  if (isMet(false)) return true
  const isUndecided = line.opaque !== undefined || inner.length >= MAX_INNER || started.some(readsCommands)
  return isUndecided || isMet(true) ? undefined : false
}

function isMeant(word: Word, expected: Word, index: number): boolean {
  const [text, other] = index === 0 ? [programOf(word.text), programOf(expected.text)] : [word.text, expected.text]
  return isWild(expected) ? matchesGlob(other, text) : text === other
}

function fits(word: Word, expected: Word): boolean {
  return isWild(expected) ? matchesGlob(expected.text, word.text) : expected.text === word.text && word.unknown !== true
}

function matches(
  pattern: CommandPattern,
  command: SimpleCommand,
  same: (word: Word, expected: Word, index: number) => boolean,
): boolean {
  const last = pattern.at(-1)
  if (isOpen(pattern) ? command.length < pattern.length - 1 : command.length !== pattern.length) return false
  return command.every((word, index) => {
    const expected = index >= pattern.length - 1 ? last : pattern[index]
    return expected !== undefined && same(word, expected, index)
  })
}

function isOpen(pattern: CommandPattern): boolean {
  const last = pattern.at(-1)
  return last !== undefined && isWild(last) && last.text === '*'
}

export function isWild({ text, wild }: Word): boolean {
  return wild !== 'no' && text.includes('*')
}

const MAX_DEPTH = 4
const MAX_INNER = 500

/**
 * Collects the command itself, also without options before its first argument (`git --no-pager push`), and commands that it may run:
 * those after `env` or `-exec`, and scripts in its words.
 */
function collectInner(command: SimpleCommand, into: SimpleCommand[], started: SimpleCommand[], depth = 0): void {
  const wraps = runsOthers(programOf(command[0]?.text ?? ''))
  for (const [place, word] of command.entries()) {
    if (into.length >= MAX_INNER || depth > MAX_DEPTH) return
    if (place === 0 || wraps || STARTS.test(command[place - 1]?.text ?? '')) {
      started.push(command.slice(place))
      collectWithoutOptions(command.slice(place), into)
    }
    if (place === 0) continue
    for (const script of scriptsIn(word.text)) {
      for (const inner of parseCommandLine(script).commands) collectInner(inner, into, started, depth + 1)
    }
  }
}

/** Matches options and words that precede a command. */
const STARTS = /^-{1,2}(?:exec|ok)|^-[xX]$|^(?:foreach|exec|run|--)$/

/** Returns scripts that a word may hold: `rm x`, `--to-command=rm x`, `alias.x=!rm x`. */
function scriptsIn(text: string): readonly string[] {
  if (!/[\s;&|]/.test(text)) return []
  return [...new Set([text, text.replace(/^[^\s=]*=/, '')].map((script) => script.replace(/^!/, '')))]
}

const SHELLS = /^(?:ba|da|z|k|a|c|tc|fi)?sh$/
const SCRIPTED = /^(?:python[\d.]*|perl|ruby|php|node|nodejs|deno|bun|tsx|lua|rscript|pwsh|java|[gmn]?awk|\.|source)$/

/** Returns whether a command runs its input: `| sh`, `| python3 -`. When in doubt, returns true. */
function readsCommands([name, ...rest]: SimpleCommand): boolean {
  const program = programOf(name?.text ?? '')
  const isShell = SHELLS.test(program)
  if (!isShell && !SCRIPTED.test(program)) return false
  const words = rest.map(({ text }) => text).filter((text, index) => index > 0 || text !== 'run')
  const [first = '-', ...others] = words
  const isInput = (text: string): boolean => /^-s?$|^\{\}$|\/(?:dev|proc)\//.test(text)
  if (!/^[-+]/.test(first)) return isInput(first)
  if (/^(?:--version|--help|--test|-V)$/.test(first) || (first === '-v' && /^(?:node|perl|php|ruby)/.test(program))) return false
  const isGiven = isShell ? /^-[a-z]*c$/.test(first) : /^-\w*[ceprE]$|^-m/.test(first)
  return !isGiven || (others.length === 0 && !/^-m./.test(first)) || others.some(isInput)
}

function collectWithoutOptions(command: SimpleCommand, into: SimpleCommand[]): void {
  const isOption = (place: number): boolean => command[place]?.text.startsWith('-') === true
  into.push(command)
  for (let at = 1; at < command.length && into.length < MAX_INNER; at++) {
    if (!isOption(at) && !isOption(at - 1)) return
    into.push([...command.slice(0, 1), ...command.slice(at + 1)])
  }
}
