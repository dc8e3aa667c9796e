/** Does a rule such as `shell(git log *)` speak about this command? */

import { parseCommandLine } from './command-line.ts'
import type { SimpleCommand, Word } from './command-line.ts'
import { matchesGlob } from './glob.ts'
import { guardedWords } from './guarded-paths.ts'
import { programOf, readsCommands, riskyWords } from './programs.ts'

/** The words of a rule. A last word `*` stands for any further words; a `*` inside a word for any characters of that word. */
export type CommandPattern = SimpleCommand

/** `undefined` for a pattern that is not one plain command: it cannot be compared with any. */
export function parseCommandPattern(pattern: string): CommandPattern | undefined {
  const name = /^\S*/.exec(pattern)?.[0] ?? ''
  if (!name.includes('*')) return onlyCommandOf(pattern)
  // A name with a star is none for the shell.
  const rest = onlyCommandOf(`any${pattern.slice(name.length)}`)
  return rest === undefined ? undefined : [{ text: name, quoted: false, wild: 'leading' }, ...rest.slice(1)]
}

function onlyCommandOf(text: string): SimpleCommand | undefined {
  const { commands, obscure } = parseCommandLine(text)
  return obscure === undefined && commands.length === 1 ? commands[0] : undefined
}

/** Whether a permission covers the command, word for word; a `*` never covers what may run something else, now or later, nor secrets. */
export function coversCommand(pattern: CommandPattern, command: SimpleCommand): boolean {
  const risky = riskyWords(command)
  if (isOpen(pattern) && risky.has(command.length)) return false
  const guarded = guardedWords(command, programOf(command[0]?.text ?? ''))
  return matches(pattern, command, (word, expected, index) => {
    if (!isWild(expected)) return expected.text === word.text
    return !risky.has(index) && !guarded.has(index) && matchesGlob(expected.text, word.text)
  })
}

/** The words that a `*` of the rule would stand for if they were harmless; none when something else does not fit either. */
export function wordsLeftOut(pattern: CommandPattern, command: SimpleCommand): readonly string[] {
  const fits = matches(pattern, command, (word, expected) =>
    isWild(expected) ? matchesGlob(expected.text, word.text) : expected.text === word.text,
  )
  if (!fits) return []
  const left = new Set([...riskyWords(command), ...guardedWords(command, programOf(command[0]?.text ?? ''))])
  return command.flatMap(({ text }, index) => {
    const expected = index >= pattern.length - 1 ? pattern.at(-1) : pattern[index]
    return left.has(index) && expected !== undefined && isWild(expected) ? [text] : []
  })
}

/**
 * Whether a prohibition meets the command, under whatever name its program is called, or a command that it runs. `undefined` when it
 * could run too many to look at, or reads them from its input.
 */
export function meetsCommand(pattern: CommandPattern, command: SimpleCommand): boolean | undefined {
  const inner: SimpleCommand[] = []
  const isToldLater = collectInner(command, inner, 0)
  const met = inner.some((each) =>
    matches(pattern, each, (word, expected, index) => {
      const [text, other] = index === 0 ? [programOf(word.text), programOf(expected.text)] : [word.text, expected.text]
      return isWild(expected) ? matchesGlob(other, text) : text === other || (index === 0 && word.text === expected.text)
    }),
  )
  return met || (isToldLater || inner.length >= MAX_INNER ? undefined : false)
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

function isWild({ text, wild }: Word): boolean {
  return wild !== 'no' && text.includes('*')
}

const MAX_DEPTH = 4
const MAX_INNER = 500

/**
 * The command itself, also without options before its first argument (`git --no-pager push`), and what it may run: what follows `env` or
 * `find -exec`, what stands in the script of `sh -c`. Returns whether one of them reads more from its input.
 */
function collectInner(command: SimpleCommand, into: SimpleCommand[], depth: number): boolean {
  collectWithoutOptions(command, into)
  let isToldLater = readsCommands(command)
  for (const place of riskyWords(command)) {
    const word = command[place]
    if (place === 0 || word === undefined || depth >= MAX_DEPTH) continue
    if (into.length >= MAX_INNER) return isToldLater
    const rest = command.slice(place)
    collectWithoutOptions(rest, into)
    isToldLater ||= readsCommands(rest)
    for (const script of scriptsIn(word.text)) {
      for (const inner of parseCommandLine(script).commands) isToldLater = collectInner(inner, into, depth + 1) || isToldLater
    }
  }
  return isToldLater
}

/** `rm x`, `--to-command=rm x`, `alias.x=!rm x`. */
function scriptsIn(text: string): readonly string[] {
  if (!/[\s;&|]/.test(text)) return []
  return [...new Set([text, text.replace(/^[^\s=]*=/, '')].map((script) => script.replace(/^!/, '')))]
}

function collectWithoutOptions(command: SimpleCommand, into: SimpleCommand[]): void {
  const isOption = (place: number): boolean => command[place]?.text.startsWith('-') === true
  into.push(command)
  for (let at = 1; at < command.length && into.length < MAX_INNER; at++) {
    if (!isOption(at) && !isOption(at - 1)) return
    into.push([...command.slice(0, 1), ...command.slice(at + 1)])
  }
}
