/** Scripts that complete `cria` in a shell, made from what the commands declare. Pure. */

import type { Command, OptionSpec } from './command.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command and its line in the overview. */
export interface Described {
  readonly command: Pick<Command, 'name' | 'options' | 'arguments'>
  readonly about: string
}

const HELP: OptionSpec = { type: 'flag', short: 'h', about: 'show how the command is used' }

/** @param all every command, in the order of the overview. */
export function completionScript(shell: Shell, all: readonly Described[]): string {
  return { bash, zsh, fish }[shell](all)
}

/** What stands behind an option: words, names of the user's own, files, or anything. */
type Value = { readonly words: readonly string[] } | 'templates' | 'stores' | 'files' | 'any' | 'none'

function valueOf(name: string, { type, choices, value = '' }: OptionSpec): Value {
  if (type === 'flag') return 'none'
  if (choices !== undefined) return { words: choices }
  if (name === 'template') return 'templates'
  if (name === 'store') return 'stores'
  return /^(?:FILE|PATH|DIR|SCHEMA)/.test(value) ? 'files' : 'any'
}

function optionsOf({ command }: Described): readonly (readonly [string, OptionSpec])[] {
  return Object.entries({ ...command.options, help: HELP })
}

function firstWords(all: readonly Described[]): readonly (readonly [string, string])[] {
  const groups = Map.groupBy(all, ({ command }) => command.name.split(' ')[0] ?? '')
  return [...groups].map(([word, members]) => {
    const own = members.find(({ command }) => command.name === word)
    return [word, own?.about ?? members.map(({ command }) => command.name.slice(word.length + 1)).join(', ')]
  })
}

/** The words that may follow a first word. */
function below(word: string, all: readonly Described[]): readonly (readonly [string, string])[] {
  return all.flatMap(({ command: { name }, about }) =>
    name.startsWith(`${word} `) ? [[name.slice(word.length + 1), about] as const] : [],
  )
}

/**
 * Names of files in a folder of the home, without their ending: a shell lists them faster than we start. Only names of plain characters, since a
 * shell expands what it is given to complete with; stores that are kept for paths are left out.
 */
function namesIn(folder: string, ending: string): string {
  const plain = `/^docs-[0-9a-f]*\\.db$/d; s/^\\([A-Za-z0-9_.-]*\\)\\.${ending}$/\\1/p`
  return `$(command ls -- "\${CRIA_HOME:-$HOME/.cria}/${folder}" 2>/dev/null | command sed -n '${plain}')`
}
const TEMPLATES = namesIn('templates', 'md')
const STORES = namesIn('stores', 'db')

/** What the first argument of a command is completed with; `undefined`: files. */
function argumentOf({ command }: Described): string | undefined {
  return wordsFor(offeredBy(command))
}

function offeredBy(command: Described['command']): Value {
  const { offers = 'files' } = command.arguments?.[0] ?? {}
  return typeof offers === 'function' ? { words: offers() } : offers
}

function wordsFor(value: Value): string | undefined {
  if (value === 'templates') return TEMPLATES
  if (value === 'stores') return STORES
  return typeof value === 'object' ? value.words.join(' ') : undefined
}

const spelt = (name: string, { short }: OptionSpec): readonly string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
]

function bash(all: readonly Described[]): string {
  const groups = firstWords(all).filter(([word]) => below(word, all).length > 0)
  const cases = all.map((described) => {
    const options = optionsOf(described)
    const values = options.flatMap(([name, spec]) => {
      const value = valueOf(name, spec)
      if (value === 'none') return []
      const words = wordsFor(value)
      const reply = words !== undefined ? `_cria_words "${words}"` : value === 'files' ? '_cria_files' : 'COMPREPLY=()'
      return [`        ${spelt(name, spec).join('|')}) ${reply}; return ;;`]
    })
    const flags = options.map(([name]) => `--${name}`).join(' ')
    const argument = argumentOf(described)
    return `    '${described.command.name}')
      case "$before" in
${values.join('\n')}
      esac
      options='${flags}'${argument === undefined ? '' : ` offered="${argument}"`} ;;`
  })
  return `# Completes cria in bash. To use it: source <(cria completion bash)
_cria_words() { COMPREPLY=($(compgen -W "$1" -- "$word")); }
_cria_files() { compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$word")); }
_cria() {
  local IFS=$' \\t\\n' word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" name="\${COMP_WORDS[1]}" options= offered=/
  if [ "$COMP_CWORD" -eq 1 ]; then
    _cria_words '${firstWords(all)
      .map(([word]) => word)
      .join(' ')} help --help --version'
    return
  fi
  if [ "$COMP_CWORD" -eq 2 ]; then
    case "$name" in
${groups
  .map(
    ([word]) =>
      `      ${word}) options='${below(word, all)
        .map(([next]) => next)
        .join(' ')}' ;;`,
  )
  .join('\n')}
    esac
    if [ -n "$options" ] && [ "\${word:0:1}" != - ]; then _cria_words "$options"; return; fi
  fi
  case "$name \${COMP_WORDS[2]}" in
    ${all.flatMap(({ command: { name } }) => (name.includes(' ') ? [`'${name}'`] : [])).join('|')}) name="$name \${COMP_WORDS[2]}" ;;
  esac
  case "$name" in
${cases.join('\n')}
  esac
  if [ "\${word:0:1}" = - ]; then _cria_words "$options"; elif [ "$offered" != / ]; then _cria_words "$offered"; else _cria_files; fi
}
complete -F _cria cria
`
}

const inZsh = (name: string, about: string): string => `'${`${name.replaceAll(':', '\\:')}:${about}`.replaceAll("'", `'\\''`)}'`

function zsh(all: readonly Described[]): string {
  const list = (pairs: readonly (readonly [string, string])[]): string =>
    pairs.map(([name, about]) => inZsh(name, about)).join(' ')
  const groups = firstWords(all).filter(([word]) => below(word, all).length > 0)
  const cases = all.map((described) => {
    const options = optionsOf(described)
    const values = options.flatMap(([name, spec]) => {
      const value = valueOf(name, spec)
      if (value === 'none') return []
      const words = wordsFor(value)
      const reply = words !== undefined ? `compadd -- ${words}` : value === 'files' ? '_files' : "_message 'a value'"
      return [`        ${spelt(name, spec).join('|')}) ${reply}; return ;;`]
    })
    const argument = argumentOf(described)
    return `    '${described.command.name}')
      case "$before" in
${values.join('\n')}
      esac
      entries=(${list(options.map(([name, { about }]) => [`--${name}`, about]))})${argument === undefined ? '' : ` offered=(${argument}) named=1`} ;;`
  })
  return `#compdef cria
# Completes cria in zsh. To use it: source <(cria completion zsh)
_cria() {
  local -a entries offered
  local before="$words[CURRENT-1]" name="$words[2]" named=
  if (( CURRENT == 2 )); then
    entries=(${list(firstWords(all))})
    _describe command entries
    return
  fi
  if (( CURRENT == 3 )); then
    case "$name" in
${groups.map(([word]) => `      ${word}) entries=(${list(below(word, all))}) ;;`).join('\n')}
    esac
    if (( $#entries )) && [[ "$words[CURRENT]" != -* ]]; then _describe command entries; return; fi
  fi
  case "$name $words[3]" in
    ${all.flatMap(({ command: { name } }) => (name.includes(' ') ? [`'${name}'`] : [])).join('|')}) name="$name $words[3]" ;;
  esac
  case "$name" in
${cases.join('\n')}
  esac
  if [[ "$words[CURRENT]" == -* ]]; then _describe -o option entries; elif [ -n "$named" ]; then compadd -a offered; else _files; fi
}
if [ "$funcstack[1]" = _cria ]; then _cria "$@"; else compdef _cria cria; fi
`
}

const inFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fish(all: readonly Described[]): string {
  const seen = (name: string): string =>
    inFish(
      name
        .split(' ')
        .map((word) => `__fish_seen_subcommand_from ${word}`)
        .join('; and '),
    )
  const lines = firstWords(all).map(
    ([word, about]) => `complete -c cria -n __fish_use_subcommand -f -a ${word} -d ${inFish(about)}`,
  )
  for (const [word] of firstWords(all)) {
    const next = below(word, all)
    const none = next.map(([name]) => name).join(' ')
    const here = inFish(`__fish_seen_subcommand_from ${word}; and not __fish_seen_subcommand_from ${none}`)
    for (const [name, about] of next) lines.push(`complete -c cria -n ${here} -f -a ${name} -d ${inFish(about)}`)
  }
  // In fish a command substitution has no dollar before older versions than 3.4, and takes no default of a variable.
  const listed = (value: Value): string | undefined =>
    value === 'templates' || value === 'stores'
      ? inFish(`(__cria_names ${value})`)
      : typeof value === 'object'
        ? inFish(value.words.join(' '))
        : undefined
  for (const described of all) {
    const argument = listed(offeredBy(described.command))
    if (argument !== undefined) lines.push(`complete -c cria -n ${seen(described.command.name)} -f -a ${argument}`)
    for (const [name, spec] of optionsOf(described)) {
      const value = valueOf(name, spec)
      const list = listed(value)
      const takes = value === 'none' ? '' : list !== undefined ? ` -x -a ${list}` : value === 'files' ? ' -r -F' : ' -x'
      const short = spec.short === undefined ? '' : ` -s ${spec.short}`
      lines.push(`complete -c cria -n ${seen(described.command.name)} -l ${name}${short}${takes} -d ${inFish(spec.about)}`)
    }
  }
  return `# Completes cria in fish. To use it: cria completion fish | source
function __cria_names
    set -l home $HOME/.cria
    set -q CRIA_HOME; and set home $CRIA_HOME
    for file in $home/$argv[1]/*.{md,db}
        string match -q '*/docs-????????????????.db' -- $file; or string replace -r '.*/(.*)\\.(md|db)$' '$1' -- $file
    end
end
${lines.join('\n')}
`
}
