/** Generates help texts from the declared commands, and lays them out on a terminal. */

import type { ArgumentSpec, Command, OptionSpec } from './command.ts'
import { commandLines, COMMANDS } from './commands.ts'

/** Lays out the parts of a help text. The default layout does not wrap lines; terminals use their own. */
export interface HelpLayout {
  readonly table: (rows: readonly (readonly [string, string])[]) => string
  /** Paragraphs. */
  readonly text: (text: string) => string
  /** A shell command line, to be copied. */
  readonly command: (line: string) => string
}

const AS_IT_IS: HelpLayout = { table, text: (text) => text, command: (line) => `  ${line}` }

const EXAMPLES = ['cria ask "How do I change the theme?" --docs docs', 'git diff | cria ask "Review this change"']

export function overview(layout: HelpLayout = AS_IT_IS): string {
  return `${layout.text('cria answers questions with language models, from your documents.')}

${layout.text('Usage: cria <command> [arguments] [options]. Details: cria <command> --help')}

Commands:
${layout.table(commandLines())}

Examples:
${EXAMPLES.map(layout.command).join('\n')}

${layout.text(`Answers go to standard output, everything else to standard error.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 provider failed, 4 permission refused,
5 budget reached, 130 interrupted.`)}
`
}

/** Lists the commands of a group such as `logs`; `undefined` when there is no such group. */
export function groupHelp(group: string, layout: HelpLayout = AS_IT_IS): string | undefined {
  const entries = COMMANDS.filter(({ name }) => name.startsWith(`${group} `))
  if (entries.length === 0) return undefined
  const [first] = entries
  return `${layout.text(`Usage: cria ${group} <command> [arguments] [options]`)}

Commands:
${layout.table(entries.map(({ name, summary }) => [name, summary]))}

Example:
  cria ${first?.name} --help
`
}

export function commandHelp(command: Command, summary: string, layout: HelpLayout = AS_IT_IS): string {
  const below = COMMANDS.filter(({ name }) => name.startsWith(`${command.name} `))
  const { arguments: words = [], details, examples } = command
  const section = (title: string, rows: readonly (readonly [string, string])[]): readonly string[] =>
    rows.length === 0 ? [] : [`${title}:\n${layout.table(rows)}`]
  const parts = [
    layout.text(capitalised(`${summary}.`)),
    layout.text(`Usage: ${[`cria ${command.name}`, ...words.map(argumentSyntax), '[options]'].join(' ')}`),
    ...section(
      'Arguments',
      words.map(({ name, about }) => [`<${name}>`, about]),
    ),
    ...section(
      'Options',
      Object.entries({ ...command.options, help: HELP }).map(([name, spec]) => [optionSyntax(name, spec), optionAbout(spec)]),
    ),
    ...(details === undefined ? [] : [layout.text(details.trim())]),
    ...section(
      'Commands below it',
      below.map((entry) => [`cria ${entry.name}`, entry.summary]),
    ),
    `${examples.length === 1 ? 'Example' : 'Examples'}:\n${examples.map(layout.command).join('\n')}`,
  ]
  return `${parts.join('\n\n')}\n`
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

/** Cells before the continuation lines of a command. */
const INDENT = 4
/** Matches an option with its value, or one word of a shell. */
const PARTS = /(?:--?[\w-]+ (?=[^-\s]))?(?:"[^"]*"|'[^']*'|[^\s"'])+/g

/**
 * Returns the layout of help texts on a terminal: lines are wrapped between words, and continue under their column.
 *
 * @param columns of the terminal; default 80.
 */
export async function terminalLayout(columns: number = 80): Promise<HelpLayout> {
  // Loaded here, because a pipe needs neither.
  const [{ fitTable }, { widthOf, wrapWords }] = await Promise.all([import('./terminal/tables.ts'), import('../util/cells.ts')])
  return {
    table: (rows) => {
      // Names of options are not broken as long as their explanation fits beside them.
      const held = rows.map(([left, right]) => [`  ${left}`.replaceAll(' ', '\u00A0'), right])
      return fitTable(held, [], columns).trimEnd()
    },
    text: (text) => text.split('\n\n').map(reflowed).join('\n\n'),
    command: brokenCommand,
  }

  /** Wraps a whole paragraph if a line of it is too long: wrapped line by line, each would leave a short rest. */
  function reflowed(paragraph: string): string {
    if (paragraph.split('\n').every((line) => widthOf(line) <= columns)) return paragraph
    return wrapWords(paragraph.replaceAll('\n', ' '), columns)
  }

  /** Breaks a command between words of the shell, with backslashes, so that the copied text is still one command. */
  function brokenCommand(line: string): string {
    if (widthOf(line) + 2 <= columns) return `  ${line}`
    const rows: string[] = []
    let row = ' '
    for (const [part] of line.matchAll(PARTS)) {
      const isFirst = row.trim() === ''
      if (!isFirst && widthOf(row) + 1 + widthOf(part) + 2 > columns) {
        rows.push(`${row} \\`)
        row = ' '.repeat(INDENT - 1)
      }
      row += ` ${part}`
    }
    return [...rows, row].join('\n')
  }
}
