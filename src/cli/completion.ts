/** `cria completion`: generates shell completion scripts from the declared commands and options. */

import { ConfigurationError } from '../core/error.ts'
import { defineCommand } from './command.ts'
import type { Command, OptionSpec } from './command.ts'
import { quoted } from './format.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], (plan: Plan) => string>> = { bash, zsh, fish }

/** @param entries all commands, passed in because importing their table, which includes this command, would be circular. */
export const completionOf = (entries: readonly { readonly summary: string; readonly load: () => Promise<Command> }[]): Command =>
  defineCommand({
    name: 'completion',
    arguments: [{ name: 'shell', about: 'bash, zsh or fish', offers: () => SHELLS }],
    options: {},
    details: `Put one line into the file that your shell reads when it starts:
bash, ~/.bashrc: source <(cria completion bash). zsh, ~/.zshrc: source <(cria completion zsh), after compinit.
fish, ~/.config/fish/config.fish: cria completion fish | source`,
    examples: ['cria completion bash', 'source <(cria completion bash)'],
    async run({ arguments: [shell = ''] }, io) {
      const known = SHELLS.find((each) => each === shell)
      if (known === undefined)
        throw new ConfigurationError(`There is no completion for ${quoted(shell)}. Expected ${SHELLS.join(', ')}.`)
      const all = await Promise.all(entries.map(async ({ summary, load }) => ({ command: await load(), about: summary })))
      await io.stdout.write(SCRIPTS[known](planOf(all)))
    },
  })

/** Source of completions for a value: fixed words, names of templates or stores, files, or nothing. */
type Offer = { readonly words: readonly string[] } | 'templates' | 'stores' | 'files' | 'nothing'

interface PlannedOption {
  readonly name: string
  readonly short: string | undefined
  readonly about: string
  /** `undefined` for an option without a value. */
  readonly value: Offer | undefined
}

/** Words with their descriptions. */
type Words = readonly (readonly [word: string, about: string])[]

interface Plan {
  readonly commands: readonly { readonly name: string; readonly argument: Offer; readonly options: readonly PlannedOption[] }[]
  readonly firstWords: Words
  /** The second words of command groups, by first word. */
  readonly groups: readonly (readonly [word: string, next: Words])[]
}

const HELP: OptionSpec = { type: 'flag', short: 'h', about: 'show the help of the command' }

/** @param all every command with its summary, in the order of the overview. */
function planOf(all: readonly { readonly command: Command; readonly about: string }[]): Plan {
  const commands = all.map(({ command }): Plan['commands'][number] => {
    const { offers = 'files' } = command.arguments?.[0] ?? {}
    const options = Object.entries({ ...command.options, help: HELP }).map(([name, spec]) => {
      return { name, short: spec.short, about: spec.about, value: offerOf(name, spec) }
    })
    return { name: command.name, argument: typeof offers === 'function' ? { words: offers() } : offers, options }
  })
  const words = all.map(({ command, about }) => ({ words: command.name.split(' '), about }))
  const groups = [...Map.groupBy(words, ({ words: [first = ''] }) => first)].map(([first, members]) => {
    const next = members.flatMap(({ words: [, second], about }) => (second === undefined ? [] : [[second, about] as const]))
    const about = members.find(({ words: [, second] }) => second === undefined)?.about
    return { first, about: about ?? next.map(([word]) => word).join(', '), next }
  })
  return {
    commands,
    firstWords: groups.map(({ first, about }) => [first, about]),
    groups: groups.flatMap(({ first, next }) => (next.length === 0 ? [] : [[first, next] as const])),
  }
}

function offerOf(name: string, { type, choices, value = '' }: OptionSpec): Offer | undefined {
  if (type === 'flag') return undefined
  if (choices !== undefined) return { words: choices }
  if (name === 'template') return 'templates'
  if (name === 'store') return 'stores'
  return /^(?:FILE|PATH|DIR|SCHEMA)/.test(value) ? 'files' : 'nothing'
}

/**
 * Returns shell code that lists file names in a folder of the home, without extension: faster than starting cria. Skips names with special
 * characters, because the shell expands completion words, and the derived stores of `--docs`.
 */
function namesIn(folder: string, ending: string): string {
  const plain = `/^docs-[0-9a-f]*\\.db$/d; s/^\\([A-Za-z0-9_.-]*\\)\\.${ending}$/\\1/p`
  return `$(command ls -- "\${CRIA_HOME:-$HOME/.cria}/${folder}" 2>/dev/null | command sed -n '${plain}')`
}

/** Returns the completion words for bash and zsh; `undefined` for files and for nothing. */
function wordsFor(offer: Offer): string | undefined {
  if (offer === 'templates') return namesIn('templates', 'md')
  if (offer === 'stores') return namesIn('stores', 'db')
  return typeof offer === 'object' ? offer.words.join(' ') : undefined
}

interface Dialect {
  /** The second word after `cria`. */
  readonly second: string
  readonly files: string
  readonly nothing: string
  words(words: string): string
  /** Sets the variables for the options and the first argument of a command. */
  set(options: readonly PlannedOption[], argument: string | undefined): string
}

/** Returns the part that bash and zsh share: it finds the command and completes the value of the preceding option. */
function dispatch({ commands }: Plan, dialect: Dialect): string {
  const reply = (offer: Offer): string => {
    const words = wordsFor(offer)
    if (words !== undefined) return dialect.words(words)
    return offer === 'files' ? dialect.files : dialect.nothing
  }
  const cases = commands.map(({ name, argument, options }) => {
    const values = options.flatMap(({ name: option, short, value }) => {
      const spelt = short === undefined ? `--${option}` : `--${option}|-${short}`
      return value === undefined ? [] : [`        ${spelt}) ${reply(value)}; return ;;`]
    })
    return `    '${name}')
      case "$before" in
${values.join('\n')}
      esac
      ${dialect.set(options, wordsFor(argument))} ;;`
  })
  const ofTwoWords = commands.flatMap(({ name }) => (name.includes(' ') ? [`'${name}'`] : []))
  return `  case "$name ${dialect.second}" in
    ${ofTwoWords.join('|')}) name="$name ${dialect.second}" ;;
  esac
  case "$name" in
${cases.join('\n')}
  esac`
}

function bash(plan: Plan): string {
  const list = (words: Words): string => words.map(([word]) => word).join(' ')
  const commands = dispatch(plan, {
    second: '${COMP_WORDS[2]}',
    files: '_cria_files',
    nothing: 'COMPREPLY=()',
    words: (words) => `_cria_words "${words}"`,
    set: (options, argument) => {
      const offered = argument === undefined ? '' : ` offered="${argument}"`
      return `options='${options.map(({ name }) => `--${name}`).join(' ')}'${offered}`
    },
  })
  return `# Completes cria in bash. To use it: source <(cria completion bash)
_cria_words() { COMPREPLY=($(compgen -W "$1" -- "$word")); }
_cria_files() {
  local file
  compopt -o filenames 2>/dev/null
  COMPREPLY=()
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$word")
}
_cria() {
  local IFS=$' \\t\\n' word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" name="\${COMP_WORDS[1]}" options= offered=/
  if [ "$COMP_CWORD" -eq 1 ]; then
    _cria_words '${list(plan.firstWords)} help --help --version'
    return
  fi
  if [ "$COMP_CWORD" -eq 2 ]; then
    case "$name" in
${plan.groups.map(([word, next]) => `      ${word}) options='${list(next)}' ;;`).join('\n')}
    esac
    if [ -n "$options" ] && [ "\${word:0:1}" != - ]; then _cria_words "$options"; return; fi
  fi
${commands}
  if [ "\${word:0:1}" = - ]; then _cria_words "$options"; elif [ "$offered" != / ]; then _cria_words "$offered"; else _cria_files; fi
}
complete -F _cria cria
`
}

function zsh(plan: Plan): string {
  const entry = (name: string, about: string): string => `${name.replaceAll(':', '\\:')}:${about}`.replaceAll("'", `'\\''`)
  const list = (words: Words): string => words.map(([word, about]) => `'${entry(word, about)}'`).join(' ')
  const commands = dispatch(plan, {
    second: '$words[3]',
    files: '_files',
    nothing: "_message 'a value'",
    words: (words) => `compadd -- ${words}`,
    set: (options, argument) => {
      const offered = argument === undefined ? '' : ` offered=(${argument}) named=1`
      return `entries=(${list(options.map(({ name, about }) => [`--${name}`, about]))})${offered}`
    },
  })
  return `#compdef cria
# Completes cria in zsh. To use it: source <(cria completion zsh)
_cria() {
  local -a entries offered
  local before="$words[CURRENT-1]" name="$words[2]" named=
  if (( CURRENT == 2 )); then
    entries=(${list(plan.firstWords)})
    _describe command entries
    return
  fi
  if (( CURRENT == 3 )); then
    case "$name" in
${plan.groups.map(([word, next]) => `      ${word}) entries=(${list(next)}) ;;`).join('\n')}
    esac
    if (( $#entries )) && [[ "$words[CURRENT]" != -* ]]; then _describe command entries; return; fi
  fi
${commands}
  if [[ "$words[CURRENT]" == -* ]]; then _describe -o option entries; elif [ -n "$named" ]; then compadd -a offered; else _files; fi
}
if [ "$funcstack[1]" = _cria ]; then _cria "$@"; else compdef _cria cria; fi
`
}

function fish({ commands, firstWords, groups }: Plan): string {
  const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const line = (condition: string, rest: string): string => `complete -c cria -n ${condition} ${rest}`
  // fish before 3.4 has no `$(…)`, and fish has no default values of variables.
  const listed = (offer: Offer): string | undefined => {
    if (typeof offer === 'object') return literal(offer.words.join(' '))
    return offer === 'templates' || offer === 'stores' ? literal(`(__cria_names ${offer})`) : undefined
  }
  const taken = (value: Offer | undefined): string => {
    if (value === undefined) return ''
    const list = listed(value)
    if (list !== undefined) return ` -x -a ${list}`
    return value === 'files' ? ' -r -F' : ' -x'
  }
  const lines = [
    ...firstWords.map(([word, about]) => line('__fish_use_subcommand', `-f -a ${word} -d ${literal(about)}`)),
    ...groups.flatMap(([word, next]) => {
      const none = next.map(([name]) => name).join(' ')
      const here = literal(`__fish_seen_subcommand_from ${word}; and not __fish_seen_subcommand_from ${none}`)
      return next.map(([name, about]) => line(here, `-f -a ${name} -d ${literal(about)}`))
    }),
    ...commands.flatMap(({ name, argument, options }) => {
      const words = name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
      const seen = literal(words.join('; and '))
      const list = listed(argument)
      return [
        ...(list === undefined ? [] : [line(seen, `-f -a ${list}`)]),
        ...options.map(({ name: option, short, about, value }) => {
          const letter = short === undefined ? '' : ` -s ${short}`
          return line(seen, `-l ${option}${letter}${taken(value)} -d ${literal(about)}`)
        }),
      ]
    }),
  ]
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
