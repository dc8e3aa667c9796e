/** Help texts, made from what the commands declare. */

import type { ArgumentSpec, Command, OptionSpec } from './command.ts'
import { COMMANDS } from './commands.ts'

export function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  return `cria answers questions with language models, from your documents.

Usage: cria <command> [arguments] [options]

Commands:
${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

Every command explains itself: cria ask --help

Examples:
  cria ask "How do I change the theme?" --docs docs
  cria index docs --store handbook
  cria ask "What is our policy on refunds?" --store handbook

Answers go to standard output, everything else to standard error.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 provider failed, 4 permission refused,
5 budget reached, 130 interrupted.
`
}

/** What a group such as `logs` holds, or `undefined` when there is no such group. */
export function groupHelp(group: string): string | undefined {
  const entries = COMMANDS.filter(({ name }) => name.startsWith(`${group} `))
  if (entries.length === 0) return undefined
  const width = Math.max(...entries.map(({ name }) => name.length))
  const [first] = entries
  return `Usage: cria ${group} <command> [arguments] [options]

Commands:
${entries.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

Example:
  cria ${first?.name} --help
`
}

export function commandHelp(command: Command, summary: string): string {
  const options = Object.entries({ ...command.options, help: HELP })
  const rows = options.map(([name, spec]) => [optionSyntax(name, spec), optionAbout(spec)] as const)
  const sections = [
    capitalised(`${summary}.`),
    `Usage: ${[`cria ${command.name}`, ...(command.arguments ?? []).map(argumentSyntax), '[options]'].join(' ')}`,
    ...(command.arguments === undefined || command.arguments.length === 0
      ? []
      : [`Arguments:\n${table(command.arguments.map((argument) => [`<${argument.name}>`, argument.about] as const))}`]),
    `Options:\n${table(rows)}`,
    ...(command.details === undefined ? [] : [command.details.trim()]),
    `${command.examples.length === 1 ? 'Example' : 'Examples'}:\n${command.examples.map((example) => `  ${example}`).join('\n')}`,
  ]
  return `${sections.join('\n\n')}\n`
}

const HELP: OptionSpec = { type: 'flag', short: 'h', about: 'show this text' }

function argumentSyntax({ name, required, many }: ArgumentSpec): string {
  const word = many === true ? `<${name}…>` : `<${name}>`
  return required === false ? `[${word}]` : word
}

function optionSyntax(name: string, { type, short, value }: OptionSpec): string {
  const word = short === undefined ? `    --${name}` : `-${short}, --${name}`
  if (type === 'optional') return `${word} [${value ?? 'VALUE'}]`
  return type === 'flag' ? word : `${word} ${value ?? 'VALUE'}${type === 'texts' ? '…' : ''}`
}

function optionAbout(spec: OptionSpec): string {
  return spec.default === undefined ? spec.about : `${spec.about} (default: ${spec.default})`
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
