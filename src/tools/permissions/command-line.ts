/**
 * Reads a command line as a POSIX shell does, without running it: which programs it starts, with which words. What depends on the moment
 * (variables, substitutions, file names that the shell completes) is kept as a word whose text is not known. What this reader does not
 * understand makes the line opaque: only a rule with its exact text covers it.
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
  /** Some of it is known only when the command runs. */
  readonly unknown?: boolean
  /** The name of the variable that it sets when it stands before a command. */
  readonly sets?: string
}

/** A program and its arguments; never empty. */
export type SimpleCommand = readonly Word[]

export interface CommandLine {
  readonly text: string
  /** Every command of the line, those inside loops, groups and substitutions as well. */
  readonly commands: readonly SimpleCommand[]
  /** What the line does beside its commands: it redirects, sets variables, …; absent where it does nothing else. */
  readonly more?: string
  /** Why the line cannot be read; absent where it can. */
  readonly opaque?: string
}

const MAX_LENGTH = 20_000
const MAX_NESTING = 8

/** Cannot be seen, or shows the line in another order than the shell reads it. Tab and newline are the shell's own. */
const UNSEEN = whenNeeded(() => /[^\P{C}\t\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\u2800/u)

/** A command follows them. */
const BEFORE_COMMAND: ReadonlySet<string> = new Set('! { do elif else if then until while'.split(' '))
/** They end what the others began; only redirections and operators follow. */
const CLOSING: ReadonlySet<string> = new Set('} done fi'.split(' '))
const BEYOND: ReadonlySet<string> = new Set('[[ case coproc esac function in select'.split(' '))
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/
/** They decide which program a name means, or what the shell runs by itself. */
const DECISIVE = /^(?:PATH|CDPATH|IFS|ENV|BASH_ENV|BASH_FUNC.*|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|LD_.*|DYLD_.*)$/

/** They change how much is told, in which language, and for which system is built. */
const HARMLESS_ASSIGNMENT =
  /^(?:CI|NODE_ENV|DEBUG|VERBOSE|FORCE_COLOR|NO_COLOR|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH|CGO_ENABLED|LANG|LC_ALL|TZ)=[\w.-]*$/

export function parseCommandLine(text: string): CommandLine {
  if (text.length > MAX_LENGTH) return { text, commands: [], opaque: 'it is too long to be judged' }
  const reader = new Reader(text)
  reader.read('')
  const { commands, more } = reader
  const opaque = UNSEEN().test(text)
    ? 'it contains characters that cannot be seen'
    : (reader.opaque ?? (commands.length === 0 && more === undefined ? 'it is empty' : undefined))
  return { text, commands, ...(more === undefined ? {} : { more }), ...(opaque === undefined ? {} : { opaque }) }
}

class Reader {
  readonly commands: SimpleCommand[] = []
  more: string | undefined
  opaque: string | undefined
  readonly #line: string
  readonly #nesting: number
  #at: number
  #words: Word[] = []
  /** The word that is being read; absent between words. */
  #text: string | undefined
  /** Where the first quote stands. */
  #quotedFrom: number | undefined
  #unknown = false
  #wild: Word['wild'] = 'no'
  /** An operator stands before, which joins what follows. */
  #joined = false
  /** Delimiters of the documents that begin behind the next line feed. */
  #documents: { readonly end: string; readonly tabs: boolean; readonly plain: boolean }[] = []

  constructor(line: string, at = 0, nesting = 0) {
    this.#line = line
    this.#at = at
    this.#nesting = nesting
  }

  /** Reads commands up to the end of the line, or up to a closing parenthesis. @returns the place behind it. */
  read(end: ')' | ''): number {
    if (this.#nesting > MAX_NESTING) this.#hide('it is nested too deeply')
    while (this.#at < this.#line.length && this.opaque === undefined) {
      if (this.#line.charAt(this.#at) !== ')') this.#readNext()
      else if (end === ')') break
      else this.#hide('a parenthesis closes nothing')
    }
    this.#endCommand()
    if (this.#joined) this.#hide('it is not complete')
    if (this.#documents.length > 0) this.#hide('a document is not closed')
    if (end !== '' && this.#line.charAt(this.#at) !== end) this.#hide('a parenthesis is not closed')
    return this.#at + 1
  }

  /** Reads the commands between the parentheses whose first one stands before the present place. */
  #readInner(): void {
    const inner = new Reader(this.#line, this.#at, this.#nesting + 1)
    this.#at = inner.read(')')
    this.commands.push(...inner.commands)
    this.more ??= inner.more
    this.opaque ??= inner.opaque
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
        this.#readGroup()
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
    // With a comma or a range some shells make several words of it; else it stands for itself: `HEAD@{1}`, `{}`.
    const group = char === '{' ? /^\{[^\s{}]*\}/.exec(this.#line.slice(this.#at, this.#at + 200))?.[0] : undefined
    if (group !== undefined && /,|\.\./.test(group)) this.#unknown = true
    if (char === '*' || char === '?' || char === '[')
      this.#wild = this.#text === undefined ? 'leading' : this.#wild === 'leading' ? 'leading' : 'inside'
    this.#add(char)
  }

  #readOperator(char: string): void {
    const follows = this.#endCommand()
    if (!follows && char !== '\n') this.#hide('an operator joins nothing')
    this.#at++
    const next = this.#line.charAt(this.#at)
    if (char === '\n') this.#skipDocuments()
    if (char === '|' || (char === '&' && next === '&')) this.#joined = true
    if (char === ';' && (next === ';' || next === '&')) this.#hide('it branches')
    if (char === '&' && next === '>') this.#hide('it redirects in a way that not every shell knows')
    if ((char === '&' || char === '|') && next === char) this.#at++
    else if (char === '|' && next === '&') this.#hide('it redirects in a way that not every shell knows')
  }

  #readSingleQuotes(): void {
    const end = this.#line.indexOf("'", this.#at + 1)
    this.#quotedFrom ??= this.#text?.length ?? 0
    if (end === -1) return this.#hide('a quote is not closed')
    this.#append(this.#line.slice(this.#at + 1, end))
    this.#at = end + 1
  }

  #readDoubleQuotes(): void {
    this.#quotedFrom ??= this.#text?.length ?? 0
    this.#append('')
    this.#at++
    while (this.#at < this.#line.length && this.opaque === undefined) {
      const char = this.#line.charAt(this.#at)
      if (char === '"') {
        this.#at++
        return
      }
      if (char === '\\') {
        const next = this.#line.charAt(this.#at + 1)
        // Between double quotes a backslash escapes only what would be special there.
        if (next !== '\n') this.#append('$`"\\'.includes(next) ? next : char + next)
        this.#at += 2
      } else if (char === '$' || char === '`') this.#readExpansion(char, '"')
      else this.#add(char)
    }
    this.#hide('a quote is not closed')
  }

  #readEscape(): void {
    const next = this.#line.charAt(this.#at + 1)
    this.#at += 2
    if (next === '\n') return
    if (next === '') this.#hide('it ends in a backslash')
    this.#quotedFrom ??= this.#text?.length ?? 0
    this.#append(next)
  }

  #readRedirection(): void {
    const descriptor = this.#text !== undefined && this.#quotedFrom === undefined && /^\d+$/.test(this.#text)
    if (descriptor && (this.#text ?? '').length > 1) return this.#hide('it redirects in a way that not every shell knows')
    if (descriptor) this.#clear()
    else this.#endWord()
    const [operator = ''] = /^(?:<<-?|<&|<>|>>|>&|>\||<|>)/.exec(this.#line.slice(this.#at, this.#at + 3)) ?? []
    this.#at += operator.length
    if (this.#line.charAt(this.#at) === '(') return this.#readSubstitutedFile()
    if (operator === '<<' && this.#line.charAt(this.#at) === '<')
      return this.#hide('it redirects in a way that not every shell knows')
    while (' \t'.includes(this.#line.charAt(this.#at)) && this.#at < this.#line.length) this.#at++
    const before = this.#words
    this.#words = []
    while (this.#at < this.#line.length && !/[\s;&|<>()]/.test(this.#line.charAt(this.#at)) && this.opaque === undefined)
      this.#readNext()
    this.#endWord()
    const [target] = this.#words
    this.#words = before
    if (target === undefined) return this.#hide('a redirection leads nowhere')
    if (operator.endsWith('&') && (/^\d\d/.test(target.text) || '<>'.includes(this.#line.charAt(this.#at) || ' ')))
      return this.#hide('it redirects in a way that not every shell knows')
    if (operator.startsWith('<<')) {
      if (target.unknown === true) return this.#hide('the end of a document is not known')
      this.#documents.push({ end: target.text, tabs: operator === '<<-', plain: target.quoted })
      this.#note('it brings a document')
    } else if (operator.endsWith('&') ? !/^[\d-]$/.test(target.text) : target.text !== '/dev/null' || target.unknown === true) {
      this.#note('it redirects')
    }
  }

  /** A command behind a file name, `<(ls)`: a word of those shells that know it. */
  #readSubstitutedFile(): void {
    this.#note('it runs a command behind a file name')
    this.#at++
    this.#readInner()
    this.#append('<()')
    this.#unknown = true
  }

  /** Documents begin on the next line. Where their delimiter is not quoted, they may run commands. */
  #skipDocuments(): void {
    for (const { end, tabs, plain } of this.#documents.splice(0)) {
      const start = this.#at
      let found = false
      while (!found && this.#at < this.#line.length) {
        const feed = this.#line.indexOf('\n', this.#at)
        const stop = feed === -1 ? this.#line.length : feed
        const line = this.#line.slice(this.#at, stop)
        found = (tabs ? line.replace(/^\t+/, '') : line) === end
        this.#at = stop + 1
      }
      if (!found) return this.#hide('a document is not closed')
      if (!plain && /`|\$\(|\$\{|\\/.test(this.#line.slice(start, this.#at))) this.#hide('a document may run commands')
    }
  }

  /** @param end what ends the text that the expansion stands in, besides blanks and operators. */
  #readExpansion(char: string, end?: string): void {
    const next = this.#line.charAt(this.#at + 1)
    if (char === '`') return this.#readBackquotes()
    if (this.#line.startsWith('$((', this.#at)) return this.#readEnclosed('$((', '))')
    if (next === '{') return this.#readEnclosed('${', '}')
    if (next === '(') {
      this.#at += 2
      this.#readInner()
      this.#append('$()')
      this.#unknown = true
      return
    }
    const [name] = /^\$(?:[A-Za-z_]\w*|[\d?$!#@*-])/.exec(this.#line.slice(this.#at, this.#at + 200)) ?? []
    if (name !== undefined) {
      this.#append(name)
      this.#unknown = true
      this.#at += name.length
    } else if (next === '' || next === end || /[\s;&|)/=.,:%+]/.test(next)) this.#add(char)
    else this.#hide('it quotes in a way that not every shell knows')
  }

  /** Arithmetic, and variables with conditions: nothing is run in there, or the line is opaque. */
  #readEnclosed(open: string, close: string): void {
    const stop = this.#line.indexOf(close, this.#at + open.length)
    const inner = this.#line.slice(this.#at + open.length, stop)
    // The end is found without reading what stands in there, so nothing may stand in there that hides an end.
    if (stop === -1 || /[`'"\\{}]|\$\(|\n/.test(inner) || (open === '$((' && /[()]/.test(inner)))
      return this.#hide('it computes what is too deep to be read')
    this.#append(this.#line.slice(this.#at, stop + close.length))
    this.#unknown = true
    this.#at = stop + close.length
  }

  #readBackquotes(): void {
    const stop = this.#line.indexOf('`', this.#at + 1)
    const inner = this.#line.slice(this.#at + 1, stop)
    if (stop === -1 || /[\\"']/.test(inner)) return this.#hide('it runs a command inside another that cannot be read')
    const found = parseCommandLine(inner)
    this.commands.push(...found.commands)
    if (found.opaque !== undefined) this.#hide(found.opaque)
    this.#append('$()')
    this.#unknown = true
    this.#at = stop + 1
  }

  #readGroup(): void {
    if (this.#text !== undefined || !this.#isAtStart()) return this.#hide('it groups commands where none can stand')
    this.#at++
    this.#readInner()
    // Like `}`: nothing but redirections and operators may follow.
    this.#words = [{ text: '}', quoted: false, wild: 'no' }]
  }

  #isAtStart(): boolean {
    return this.#words.every(({ text, quoted }) => !quoted && BEFORE_COMMAND.has(text))
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

  #clear(): void {
    this.#text = undefined
    this.#quotedFrom = undefined
    this.#unknown = false
    this.#wild = 'no'
  }

  #endWord(): void {
    const [text, from, wild] = [this.#text, this.#quotedFrom, this.#wild]
    if (text !== undefined) {
      const [whole = '', name] = ASSIGNMENT.exec(text) ?? []
      const sets = name !== undefined && (from === undefined || from >= whole.length) ? { sets: name } : {}
      this.#words.push({ text, quoted: from !== undefined, wild, ...(this.#unknown ? { unknown: true } : {}), ...sets })
    }
    this.#clear()
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
    const reserved = (): string => (words[first]?.quoted === false ? (words[first]?.text ?? '') : '')
    for (; BEFORE_COMMAND.has(reserved()); first++);
    if (BEYOND.has(reserved())) return this.#hide(`it uses "${reserved()}"`)
    if (CLOSING.has(reserved())) return first + 1 < words.length ? this.#hide(`words follow "${reserved()}"`) : undefined
    // What it goes through are words, no commands.
    if (reserved() === 'for')
      return words[first + 2] === undefined || words[first + 2]?.text === 'in'
        ? undefined
        : this.#hide('its "for" cannot be read')
    for (; first < words.length; first++) {
      const word = words[first]
      if (word?.sets === undefined) break
      const isForRead = word.sets === 'IFS' && words[first + 1]?.text === 'read'
      if (DECISIVE.test(word.sets) && !isForRead) this.#hide(`it sets ${word.sets}`)
      else if (word.unknown === true || !HARMLESS_ASSIGNMENT.test(word.text)) this.#note('it sets variables')
    }
    const command = words.slice(first)
    const [name] = command
    if (name === undefined) return
    this.commands.push(command)
    if (
      name.quoted ||
      name.unknown === true ||
      (name.wild !== 'no' && name.text !== '[') ||
      !/^(?:\[|[A-Za-z0-9_./+@:%~-]+)$/.test(name.text)
    ) {
      this.#hide('the name of a program is disguised')
    }
  }

  #note(what: string): void {
    this.more ??= what
  }

  /** The first reason is the one that is told. What follows is not read: it may mean anything. */
  #hide(reason: string): void {
    this.opaque ??= reason
  }
}
