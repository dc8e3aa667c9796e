/**
 * Reads a command line as a POSIX shell would, as far as that is possible without running it. What is beyond that (variables,
 * substitutions, redirections, loops, …) is not guessed at: the line counts as obscure, with the reason, and what could be read of it
 * is still listed, so that a prohibition sees it.
 *
 * The shell's grammar: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
 */

import { whenNeeded } from '../../util/pattern.ts'

export interface Word {
  /** Quotes and escapes removed. */
  readonly text: string
  /** Some of it was quoted or escaped. */
  readonly quoted: boolean
  /** The shell makes file names of it: `leading` when those names may look like options. */
  readonly wild: 'no' | 'inside' | 'leading'
}

/** A program and its arguments; never empty. */
export type SimpleCommand = readonly Word[]

export interface CommandLine {
  readonly commands: readonly SimpleCommand[]
  /** Why the line cannot be judged by its words alone; absent where it can. */
  readonly obscure?: string
}

const MAX_LENGTH = 20_000
const MAX_NESTING = 8

/** Cannot be seen, or shows the line in another order than the shell reads it. Tab and newline are the shell's own. */
const UNSEEN = whenNeeded(() => /[^\P{C}\t\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\u2800/u)

/** Words that begin or join commands without being one. */
const RESERVED: ReadonlySet<string> = new Set(
  '! { } [[ case coproc do done elif else esac fi for function if in select then time until while'.split(' '),
)

const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/

/** They change how much is told, in which language, and for which system is built. */
const HARMLESS_ASSIGNMENT =
  /^(?:CI|NODE_ENV|DEBUG|VERBOSE|FORCE_COLOR|NO_COLOR|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH|CGO_ENABLED|LANG|LC_ALL)=[\w.-]*$/

export function parseCommandLine(line: string, nesting = 0): CommandLine {
  if (line.length > MAX_LENGTH) return { commands: [], obscure: 'it is too long to be judged' }
  const reader = new Reader(line, nesting)
  reader.read()
  const { commands, obscure } = reader
  if (UNSEEN().test(line)) return { commands, obscure: 'it contains characters that cannot be seen' }
  if (obscure === undefined && commands.length === 0) return { commands, obscure: 'it is empty' }
  return { commands, ...(obscure === undefined ? {} : { obscure }) }
}

class Reader {
  readonly commands: SimpleCommand[] = []
  obscure: string | undefined
  readonly #line: string
  readonly #nesting: number
  #at = 0
  #words: Word[] = []
  /** The word that is being read; absent between words. */
  #text: string | undefined
  #quoted = false
  #wild: Word['wild'] = 'no'
  /** An operator stands before, which joins what follows. */
  #joined = false

  constructor(line: string, nesting: number) {
    this.#line = line
    this.#nesting = nesting
  }

  read(): void {
    while (this.#at < this.#line.length) this.#readNext()
    this.#endCommand()
    if (this.#joined) this.#mark('it is not complete')
  }

  #readNext(): void {
    const char = this.#line.charAt(this.#at)
    switch (char) {
      case ' ':
      case '\t':
        this.#endWord()
        this.#at++
        break
      case '\n':
      case ';':
      case '&':
      case '|':
        this.#readOperator(char)
        break
      case "'":
        this.#readSingleQuotes()
        break
      case '"':
        this.#readDoubleQuotes()
        break
      case '\\':
        this.#readEscape()
        break
      case '<':
      case '>':
        this.#readRedirection()
        break
      case '$':
      case '`':
        this.#readExpansion(char)
        break
      case '(':
      case ')':
        this.#mark('it groups commands')
        this.#endCommand()
        this.#at++
        break
      case '#':
        if (this.#text === undefined) this.#skipComment()
        else this.#add(char)
        break
      default:
        this.#readPlain(char)
    }
  }

  #readPlain(char: string): void {
    // Without a comma and a range they stand for themselves: `HEAD@{1}`.
    const literal = char === '{' ? /^\{[\w-]*\}/.exec(this.#line.slice(this.#at, this.#at + 100))?.[0] : undefined
    if (literal !== undefined) {
      this.#append(literal)
      this.#at += literal.length
      return
    }
    if (char === '{' || char === '}') this.#mark('it uses braces')
    if (char === '*' || char === '?' || char === '[') this.#wild = this.#text === undefined ? 'leading' : this.#moreWild()
    this.#add(char)
  }

  #moreWild(): Word['wild'] {
    return this.#wild === 'leading' ? 'leading' : 'inside'
  }

  #readOperator(char: string): void {
    const follows = this.#endCommand()
    if (!follows && char !== '\n') this.#mark('an operator joins nothing')
    this.#at++
    const next = this.#line.charAt(this.#at)
    if (char === '|' || (char === '&' && next === '&')) this.#joined = true
    if (char === ';' && (next === ';' || next === '&')) this.#mark('it branches')
    if (char === '&' && next === '>') this.#mark('it redirects')
    if ((char === '&' || char === '|') && next === char) this.#at++
    else if (char === '|' && next === '&') this.#at++
  }

  #readSingleQuotes(): void {
    const end = this.#line.indexOf("'", this.#at + 1)
    this.#quoted = true
    if (end === -1) {
      this.#mark('a quote is not closed')
      this.#append(this.#line.slice(this.#at + 1))
      this.#at = this.#line.length
      return
    }
    this.#append(this.#line.slice(this.#at + 1, end))
    this.#at = end + 1
  }

  #readDoubleQuotes(): void {
    this.#quoted = true
    this.#append('')
    this.#at++
    while (this.#at < this.#line.length) {
      const char = this.#line.charAt(this.#at)
      if (char === '"') {
        this.#at++
        return
      }
      if (char === '\\') {
        const next = this.#line.charAt(this.#at + 1)
        // Between double quotes a backslash escapes only what would be special there.
        if (next === '\n') this.#append('')
        else this.#append('$`"\\'.includes(next) ? next : char + next)
        this.#at += 2
      } else if (char === '$' || char === '`') {
        this.#readExpansion(char, '"')
      } else {
        this.#add(char)
      }
    }
    this.#mark('a quote is not closed')
  }

  #readEscape(): void {
    const next = this.#line.charAt(this.#at + 1)
    this.#at += 2
    if (next === '\n') return
    if (next === '') this.#mark('it ends in a backslash')
    this.#quoted = true
    this.#append(next)
  }

  /** Only what cannot do anything is let through: into another stream of the same command, to and from `/dev/null`. */
  #readRedirection(): void {
    const harmless = /^(?:>&[12]|>{1,2}[ \t]*\/dev\/null|<[ \t]*\/dev\/null)(?=[\s;&|]|$)/.exec(
      this.#line.slice(this.#at, this.#at + 64),
    )
    const descriptor = this.#text !== undefined && !this.#quoted && /^\d$/.test(this.#text)
    if (harmless !== null && (descriptor || this.#text === undefined)) {
      this.#text = undefined
      this.#at += harmless[0].length
      return
    }
    this.#mark('it redirects')
    this.#endWord()
    if (this.#line.startsWith('<<', this.#at)) {
      // What follows is a document, not commands.
      this.#at = this.#line.length
      return
    }
    this.#at++
    if (this.#line.charAt(this.#at) === '(') {
      this.#endCommand()
      return
    }
    // The target is read as a word of the command, which changes nothing: the line is obscure, and the program stands before it.
    if (this.#at < this.#line.length && '>&|'.includes(this.#line.charAt(this.#at))) this.#at++
  }

  /** @param end what ends the text that the expansion stands in, besides blanks and operators. */
  #readExpansion(char: string, end?: string): void {
    const next = this.#line.charAt(this.#at + 1)
    if (char === '`' || next === '(') {
      this.#mark('it runs a command inside another')
      this.#readInner(char)
      return
    }
    // A dollar sign that nothing follows is one.
    if (next === '' || next === end || /[\s;&|]/.test(next)) this.#append(char)
    else {
      this.#mark('it uses variables')
      this.#append(char)
    }
    this.#at++
  }

  /** What stands inside a substitution is listed too. Where it ends does not matter much: the line is obscure already. */
  #readInner(char: string): void {
    const start = this.#at + (char === '`' ? 1 : 2)
    const end = char === '`' ? this.#line.indexOf('`', start) : closing(this.#line, start)
    const stop = end === -1 ? this.#line.length : end
    if (this.#nesting < MAX_NESTING) {
      this.commands.push(...parseCommandLine(this.#line.slice(start, stop), this.#nesting + 1).commands)
    }
    this.#append('$()')
    this.#at = stop + 1
  }

  #skipComment(): void {
    const end = this.#line.indexOf('\n', this.#at)
    this.#at = end === -1 ? this.#line.length : end
  }

  #add(char: string): void {
    this.#append(char)
    this.#at++
  }

  #append(text: string): void {
    this.#text = (this.#text ?? '') + text
  }

  #endWord(): void {
    if (this.#text !== undefined) this.#words.push({ text: this.#text, quoted: this.#quoted, wild: this.#wild })
    this.#text = undefined
    this.#quoted = false
    this.#wild = 'no'
  }

  /** Whether there was anything to end. */
  #endCommand(): boolean {
    this.#endWord()
    const words = this.#words
    this.#words = []
    if (words.length > 0) this.#joined = false
    this.#list(words)
    return words.length > 0
  }

  #list(words: readonly Word[]): void {
    let first = 0
    for (; first < words.length; first++) {
      const word = words[first]
      if (word === undefined || word.quoted) break
      if (RESERVED.has(word.text)) this.#mark(`it uses "${word.text}"`)
      else if (HARMLESS_ASSIGNMENT.test(word.text)) continue
      else if (ASSIGNMENT.test(word.text)) this.#mark('it sets variables')
      else break
    }
    const command = words.slice(first)
    const name = command[0]
    if (name === undefined) return
    this.commands.push(command)
    if (name.quoted || name.wild !== 'no' || !/^[A-Za-z0-9_./+@:%~-]+$/.test(name.text)) {
      this.#mark('the name of a program is disguised')
    }
  }

  /** The first reason is the one that is told. */
  #mark(reason: string): void {
    this.obscure ??= reason
  }
}

/** The parenthesis that closes the one before `from`; quotes are not understood here. */
function closing(line: string, from: number): number {
  let depth = 1
  for (let at = from; at < line.length; at++) {
    const char = line.charAt(at)
    if (char === '(') depth++
    else if (char === ')' && --depth === 0) return at
  }
  return -1
}
