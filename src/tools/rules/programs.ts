/**
 * Which words of a command make its program run something else, or write where nobody looks? A rule with a `*` never covers those: they
 * have to stand in the rule word for word.
 *
 * The tables in `programs/` say it for each program, with the reason. They need not be complete for rules to be safe: a program that is in none
 * is run only by a rule that names it.
 */

import type { SimpleCommand, Word } from './command-line.ts'
import { BUILD_TOOLS } from './programs/build.ts'
import { CHECKERS } from './programs/checks.ts'
import { FILE_TOOLS } from './programs/files.ts'
import { VERSION_CONTROL } from './programs/git.ts'
import { awkTakesInput, namesInput, takesInput } from './programs/input.ts'
import { KEY_TOOLS } from './programs/keys.ts'
import { NETWORK_TOOLS } from './programs/network.ts'
import { PACKAGE_MANAGERS } from './programs/packages.ts'
import { everything, options, script } from './programs/risk.ts'
import type { Programs, Risk } from './programs/risk.ts'
import { commandWords, containers, INTERPRETERS, RUNNERS, startedProgram } from './programs/runners.ts'
import { awk, TEXT_TOOLS } from './programs/text.ts'

/** A rule has to name these word for word, too: `* run build` is not meant for `docker`. */
const RUNS_ITS_WORDS: ReadonlySet<Risk> = new Set([everything, script, awk, containers, commandWords])

/**
 * The places of risky words; the program itself is number 0. The place behind the last word is among them when the program takes what it
 * runs from its input.
 */
export function riskyWords(command: SimpleCommand): ReadonlySet<number> {
  const [name, ...rest] = command
  if (name === undefined) return new Set()
  const risk = riskOf(name.text)
  if (risk === undefined) return new Set()
  const words = rest.map(({ text }) => text)
  const started = startedProgram(programOf(name.text), words)
  if (started !== undefined) return riskOfStarted(command, started + 1)
  const found = risk(words)
  const places = new Set(found.map((index) => index + 1))
  if (RUNS_ITS_WORDS.has(risk)) places.add(0)
  for (const [index, word] of rest.entries()) if (mayBecomeOption(word)) places.add(index + 1)
  return places
}

/** Whether what it runs comes from its input: `| sh`, `| python3 -`, `| source /dev/stdin`. */
export function readsCommands(command: SimpleCommand): boolean {
  const [name, ...rest] = command
  if (name === undefined) return false
  const [program, risk] = [programOf(name.text), riskOf(name.text)]
  const words = rest.map(({ text }) => text)
  if (risk === script) return takesInput(withoutVersion(program), words)
  if (risk === awk) return awkTakesInput(words)
  return (program === '.' || program === 'source') && namesInput(words[0] ?? '')
}

/** Up to the name of the program that is started, everything has to stand in the rule. */
function riskOfStarted(command: SimpleCommand, at: number): ReadonlySet<number> {
  const inner = command
    .slice(at)
    .map((word, index) => (index > 0 ? word : { ...word, text: word.text.replace(/(?<=.)@.*$/, '') }))
  return new Set([...command.slice(0, at + 1).keys(), ...[...riskyWords(inner)].map((place) => place + at)])
}

/** The name without folder and case: `/usr/bin/Git` is `git`. */
export function programOf(name: string): string {
  return name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.exe$/, '')
}

/** Each program stands in one of them, once. */
export const PROGRAMS: readonly Programs[] = [
  ...RUNNERS,
  ...INTERPRETERS,
  ...VERSION_CONTROL,
  ...FILE_TOOLS,
  ...TEXT_TOOLS,
  ...NETWORK_TOOLS,
  ...PACKAGE_MANAGERS,
  ...BUILD_TOOLS,
  ...CHECKERS,
  ...KEY_TOOLS,
]

let risks: ReadonlyMap<string, Risk> | undefined

function risksOf(tables: readonly Programs[]): ReadonlyMap<string, Risk> {
  return new Map(
    tables.flatMap((entry) => {
      const risk = 'risk' in entry ? entry.risk : options(entry)
      return entry.programs.split(' ').map((name): [string, Risk] => [name, risk])
    }),
  )
}

/** `python3.12` is a `python`. */
function riskOf(name: string): Risk | undefined {
  const program = programOf(name)
  if (LOADERS.test(program)) return everything
  risks ??= risksOf(PROGRAMS)
  return risks.get(program) ?? risks.get(withoutVersion(program))
}

function withoutVersion(program: string): string {
  return program.replace(/[-.]?\d+(?:\.\d+)*$/, '')
}

/** The dynamic loader runs what it is given, and so does an emulator: `ld-linux-x86-64.so.2`, `qemu-aarch64`. */
const LOADERS = /^(?:ld\b.*\.so\b|qemu-)/

/** A file may be called `--checkpoint-action=exec=…`. */
function mayBecomeOption({ text, wild }: Word): boolean {
  return wild === 'leading' || (wild === 'inside' && text.startsWith('-'))
}
