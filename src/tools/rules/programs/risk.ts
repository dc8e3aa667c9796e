/** How the tables beside this file say which words of a program are risky, and how they are read. */

/** Given the words after the program's name, the places of risky ones among them. */
export type Risk = (words: readonly string[]) => number[]

/**
 * Options as the program's manual writes them, separated by spaces, under what they do. A long one stands for its abbreviations too
 * (`--out` for `--output`) and for those that begin with it and a dash; a short one is found in a cluster. The next word counts as its value.
 */
export interface Options {
  /** Runs a program, loads code, or reads settings that may name either. */
  readonly runs?: string
  /** Writes, or chooses the place of, a file. */
  readonly writes?: string
  /** Hands out what may be a secret: keys, a file, the environment. */
  readonly reads?: string
  /** Works on another project or with another machine, whose scripts and settings then count. */
  readonly elsewhere?: string
  /** The same, but the value is a folder or file, and one below the present folder is not elsewhere. */
  readonly folder?: string
  /** Any word that looks like this. */
  readonly word?: RegExp
  /** Not one of these, though it looks like one: an option with its value behind a space, `--reporter dot`. */
  readonly harmless?: RegExp
  /** The program's own commands. Any other may be that of a plug-in or an alias: from there on, everything is risky. */
  readonly commands?: string
  /** From this word on, everything is a command or a script. */
  readonly from?: RegExp
  /** What is named behind this word is fetched from elsewhere, and runs when it is installed. */
  readonly installs?: RegExp
}

/** Programs (names separated by spaces) of which the same holds. */
export type Programs = { readonly programs: string } & (Options | { readonly risk: Risk })

/** Its input too: without arguments many of these are a shell, or read what to do. */
export const everything: Risk = (words) => [...words.keys(), words.length]

/** An interpreter: its options, and the first word that is none. Without one it reads its input. */
export const script: Risk = (words) => {
  const first = words.findIndex((word) => !word.startsWith('-'))
  return first === -1 ? everything(words) : [...words.slice(0, first + 1).keys()]
}

export function options(table: Options): Risk {
  const { runs = '', writes = '', reads = '', elsewhere = '', folder = '', word, harmless, commands, from, installs } = table
  const named = `${runs} ${writes} ${reads} ${elsewhere} ${folder}`.split(' ')
  const long = named.filter((each) => each.startsWith('--')).map((each) => each.slice(2))
  const short = named.filter((each) => /^-[^-]$/.test(each)).map((each) => each.slice(1))
  const folders = new Set(folder.split(' '))
  const own = commands === undefined ? undefined : new Set(commands.split(' '))
  const isHarmless = (option: string, next = ''): boolean => {
    const [, name = option, value = next] = /^(--[^=]+)=([^]*)$/.exec(option) ?? []
    return harmless?.test(`${name} ${value}`.trim()) === true || (folders.has(name) && isBelow(value))
  }
  return (words) => {
    const foreign = own === undefined ? -1 : words.findIndex((each) => !/^[-+]/.test(each))
    if (own?.has(words[foreign] ?? '') === false && foreign !== -1) return everything(words).slice(foreign)
    const start = from === undefined ? -1 : words.findIndex((each) => from.test(each))
    const install = installs === undefined ? -1 : words.findIndex((each) => installs.test(each))
    return [...words.entries()].flatMap(([index, each]) => {
      if (start !== -1 && index >= start) return [index]
      if (install !== -1 && index > install && !each.startsWith('-')) return [index]
      if (isHarmless(each, words[index + 1])) return []
      // The value of an option may be the next word.
      return word?.test(each) === true || isLong(each, long) || isShort(each, short) ? [index, index + 1] : []
    })
  }
}

function isBelow(path: string): boolean {
  return /^[\w.]/.test(path) && !path.split('/').includes('..')
}

function isLong(word: string, names: readonly string[]): boolean {
  const given = /^--([^=]+)/.exec(word)?.[1]
  return given !== undefined && names.some((name) => name === given || name.startsWith(given) || given.startsWith(`${name}-`))
}

function isShort(word: string, letters: readonly string[]): boolean {
  return /^-[^-]/.test(word) && letters.some((letter) => word.includes(letter))
}
