/**
 * Parses a command line as a POSIX shell does, without running it, into the programs that it starts and their words. Words that
 * depend on run time (variables, substitutions, globs) are marked as unknown. Syntax that this parser does not understand makes the
 * line opaque: only a rule with its exact text covers it.
 *
 * The shell's grammar: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
 */

import { whenNeeded } from '../../util/pattern.ts'

export interface Word {
  /** Text without quotes and escapes. */
  readonly text: string
  /** True when a part of the word was quoted or escaped. */
  readonly quoted: boolean
  /** `no`: the shell does not expand the word to file names; `leading`: it does, and the names may look like options. */
  readonly wild: 'no' | 'inside' | 'leading'
  /** True when a part of the word is known only when the command runs. */
  readonly unknown?: boolean
  /** Name of the variable that the word sets before a command. */
  readonly sets?: string
}

/** A program and its arguments; never empty. */
export type SimpleCommand = readonly Word[]

export interface CommandLine extends Readonly<Found> {
  readonly text: string
}

interface Found {
  /** All commands of the line, including those inside loops, groups and substitutions. */
  readonly commands: SimpleCommand[]
  /** Another effect of the line than its commands: redirection, setting of variables, …; absent when there is none. */
  more?: string
  /** The reason why the line cannot be parsed; otherwise absent. */
  opaque?: string
}

const MAX_LENGTH = 20_000
const MAX_NESTING = 8

/** Matches characters that are invisible or reorder the shown line. Excludes tab and newline, which belong to shell syntax. */
const UNSEEN = whenNeeded(() => /[^\P{C}\t\n]|[^\P{Z} ]|\p{Default_Ignorable_Code_Point}|\u2800/u)

/** Reserved words that precede a command. */
const BEFORE_COMMAND: ReadonlySet<string> = new Set('! { do elif else if then until while'.split(' '))
/** Reserved words that close a compound command; only redirections and operators may follow. */
const CLOSING: ReadonlySet<string> = new Set('} done fi'.split(' '))
const BEYOND: ReadonlySet<string> = new Set('[[ case coproc esac function in select'.split(' '))
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/
/** Variables that decide which program a name means, or what the shell runs by itself. */
const DECISIVE = /^(?:PATH|CDPATH|IFS|ENV|BASH_ENV|BASH_FUNC.*|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|LD_.*|DYLD_.*)$/

/** Assignments that change only verbosity, language, or the target system of a build. */
const HARMLESS_ASSIGNMENT =
  /^(?:CI|NODE_ENV|DEBUG|VERBOSE|FORCE_COLOR|NO_COLOR|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH|CGO_ENABLED|LANG|LC_ALL|TZ)=[\w.-]*$/

export function parseCommandLine(text: string): CommandLine {
  if (text.length > MAX_LENGTH) return { text, commands: [], opaque: 'it is too long to be judged' }
  const found: Found = { commands: [] }
  new Reader(text, found).read('')
  if (found.commands.length === 0 && found.more === undefined) found.opaque ??= 'it is empty'
  return { text, ...found, ...(UNSEEN().test(text) ? { opaque: 'it contains characters that cannot be seen' } : {}) }
}

/** Matches characters that have no special meaning in any place. */
const PLAIN = /[^\s;&|'"\\<>$`()#{*?[]+|[^]/y
const BRACES = /\{[^\s{}]{0,198}\}/y
const COMMENT = /[^\n]*/y
const PLAIN_IN_QUOTES = /[^"\\$`]+/y
const REDIRECTION = /<<-?|<&|<>|>>|>&|>\||<|>/y
const BLANKS = /[ \t]*/y
const VARIABLE = /\$(?:[A-Za-z_]\w*|[\d?$!#@*-])/y
const UNPORTABLE = 'it redirects in a way that not every shell knows'

/** A word that is being parsed. */
interface OpenWord {
  text: string
  /** Offset of the first quote. */
  quotedFrom?: number
  unknown: boolean
  wild: Word['wild']
}

class Reader {
  readonly #line: string
  readonly #found: Found
  readonly #nesting: number
  #at: number
  #words: Word[] = []
  /** Absent between words. */
  #word: OpenWord | undefined
  /** True after an operator that needs a following command. */
  #joined = false
  /** Delimiters of the here-documents that begin after the next line feed. */
  #documents: { readonly end: string; readonly tabs: boolean; readonly plain: boolean }[] = []

  constructor(line: string, found: Found, at = 0, nesting = 0) {
    this.#line = line
    this.#found = found
    this.#at = at
    this.#nesting = nesting
  }

  /** Parses commands up to the end of the line, or up to a closing parenthesis. @returns the offset after it. */
  read(end: ')' | ''): number {
    if (this.#nesting > MAX_NESTING) this.#hide('it is nested too deeply')
    while (this.#goesOn()) {
      if (this.#next() !== ')') this.#readNext()
      else if (end === ')') break
      else this.#hide('a parenthesis closes nothing')
    }
    this.#endCommand()
    if (this.#joined) this.#hide('it is not complete')
    if (this.#documents.length > 0) this.#hide('a document is not closed')
    if (end !== '' && this.#next() !== end) this.#hide('a parenthesis is not closed')
    return this.#at + 1
  }

  /** Parses the commands in parentheses; the opening parenthesis is before the current offset. */
  #readInner(): void {
    this.#at = new Reader(this.#line, this.#found, this.#at, this.#nesting + 1).read(')')
  }

  #readNext(): void {
    const char = this.#next()
    if (char === ' ' || char === '\t') {
      this.#endWord()
      this.#at++
    } else if ('\n;&|'.includes(char)) this.#readOperator(char)
    else if (char === "'") this.#readSingleQuotes()
    else if (char === '"') this.#readDoubleQuotes()
    else if (char === '\\') this.#readEscape()
    else if (char === '<' || char === '>') this.#readRedirection()
    else if (char === '$' || char === '`') this.#readExpansion(char)
    else if (char === '(') this.#readGroup()
    else if (char === '#' && this.#word === undefined) this.#take(COMMENT)
    else this.#readPlain(char)
  }

  #readPlain(char: string): void {
    const place = this.#word === undefined ? 'leading' : 'inside'
    const word = this.#open()
    // With a comma or a range, some shells expand braces to several words; other braces are literal: `HEAD@{1}`, `{}`.
    if (char === '{' && /,|\.\./.test(this.#ahead(BRACES))) word.unknown = true
    if ('*?['.includes(char) && word.wild !== 'leading') word.wild = place
    word.text += this.#take(PLAIN)
  }

  #readOperator(char: string): void {
    const follows = this.#endCommand()
    if (!follows && char !== '\n') this.#hide('an operator joins nothing')
    this.#at++
    const next = this.#next()
    if (char === '\n') this.#skipDocuments()
    if (char === '|' || (char === '&' && next === '&')) this.#joined = true
    if (char === ';' && (next === ';' || next === '&')) this.#hide('it branches')
    if (char === '&' && next === '>') this.#hide(UNPORTABLE)
    if ((char === '&' || char === '|') && next === char) this.#at++
    else if (char === '|' && next === '&') this.#hide(UNPORTABLE)
  }

  #readSingleQuotes(): void {
    const end = this.#line.indexOf("'", this.#at + 1)
    if (this.#word !== undefined) this.#quote()
    if (end === -1) return this.#hide('a quote is not closed')
    this.#quote().text += this.#line.slice(this.#at + 1, end)
    this.#at = end + 1
  }

  #readDoubleQuotes(): void {
    const word = this.#quote()
    this.#at++
    while (this.#goesOn()) {
      const char = this.#next()
      if (char === '"') {
        this.#at++
        return
      }
      if (char === '\\') {
        const next = this.#next(1)
        // Between double quotes a backslash escapes only special characters.
        if (next !== '\n') word.text += '$`"\\'.includes(next) ? next : char + next
        this.#at += 2
      } else if (char === '$' || char === '`') this.#readExpansion(char, '"')
      else word.text += this.#take(PLAIN_IN_QUOTES)
    }
    this.#hide('a quote is not closed')
  }

  #readEscape(): void {
    const next = this.#next(1)
    this.#at += 2
    if (next === '\n') return
    if (next === '') this.#hide('it ends in a backslash')
    this.#quote().text += next
  }

  #readRedirection(): void {
    const word = this.#word
    const isDescriptor = word?.quotedFrom === undefined && /^\d+$/.test(word?.text ?? '')
    if (isDescriptor && (word?.text ?? '').length > 1) return this.#hide(UNPORTABLE)
    if (isDescriptor) this.#word = undefined
    this.#endWord()
    const operator = this.#take(REDIRECTION)
    if (this.#next() === '(') return this.#readSubstitutedFile()
    if (operator === '<<' && this.#next() === '<') return this.#hide(UNPORTABLE)
    this.#take(BLANKS)
    const before = this.#words
    this.#words = []
    while (this.#goesOn() && !/[\s;&|<>()]/.test(this.#next())) this.#readNext()
    this.#endWord()
    const [target] = this.#words
    this.#words = before
    if (target === undefined) return this.#hide('a redirection leads nowhere')
    const duplicates = operator.endsWith('&')
    if (duplicates && (/^\d\d/.test(target.text) || '<>'.includes(this.#next() || ' '))) return this.#hide(UNPORTABLE)
    if (operator.startsWith('<<')) {
      if (target.unknown === true) return this.#hide('the end of a document is not known')
      this.#documents.push({ end: target.text, tabs: operator === '<<-', plain: target.quoted })
      this.#note('it brings a document')
    } else if (duplicates ? !/^[\d-]$/.test(target.text) : target.text !== '/dev/null' || target.unknown === true) {
      this.#note('it redirects')
    }
  }

  /** Parses a process substitution, `<(ls)`, which only some shells have. */
  #readSubstitutedFile(): void {
    this.#note('it runs a command as a file (process substitution)')
    this.#at++
    this.#readInner()
    this.#addUnknown('<()')
  }

  /** Skips here-documents, which begin on the next line. They may run commands when their delimiter is not quoted. */
  #skipDocuments(): void {
    for (const { end, tabs, plain } of this.#documents.splice(0)) {
      const start = this.#at
      let found = false
      while (!found && this.#at < this.#line.length) {
        const line = this.#take(COMMENT)
        found = (tabs ? line.replace(/^\t+/, '') : line) === end
        this.#at++
      }
      if (!found) return this.#hide('a document is not closed')
      if (!plain && /`|\$\(|\$\{|\\/.test(this.#line.slice(start, this.#at))) this.#hide('a document may run commands')
    }
  }

  /** @param end character that ends the text around the expansion, besides blanks and operators. */
  #readExpansion(char: string, end?: string): void {
    const next = this.#next(1)
    if (char === '`') return this.#readBackquotes()
    if (this.#line.startsWith('$((', this.#at)) return this.#readEnclosed('$((', '))')
    if (next === '{') return this.#readEnclosed('${', '}')
    if (next === '(') {
      this.#at += 2
      this.#readInner()
      return this.#addUnknown('$()')
    }
    const name = this.#take(VARIABLE)
    if (name !== '') this.#addUnknown(name)
    else if (next === '' || next === end || /[\s;&|)/=.,:%+]/.test(next)) {
      this.#open().text += char
      this.#at++
    } else this.#hide('it quotes in a way that not every shell knows')
  }

  /** Skips arithmetic and parameter expansions. If they could run a command, the line becomes opaque. */
  #readEnclosed(open: string, close: string): void {
    const stop = this.#line.indexOf(close, this.#at + open.length)
    const inner = this.#line.slice(this.#at + open.length, stop)
    // The end is searched without parsing the content, so the content must not hold anything that could hide the end.
    if (stop === -1 || /[`'"\\{}]|\$\(|\n/.test(inner) || (open === '$((' && /[()]/.test(inner)))
      return this.#hide('it has an expansion that cannot be read')
    this.#at = stop + close.length
    this.#addUnknown(open + inner + close)
  }

  #readBackquotes(): void {
    const stop = this.#line.indexOf('`', this.#at + 1)
    const inner = this.#line.slice(this.#at + 1, stop)
    if (stop === -1 || /[\\"']/.test(inner)) return this.#hide('it runs a command inside another that cannot be read')
    const { commands, more, opaque } = parseCommandLine(inner)
    this.#found.commands.push(...commands)
    if (more !== undefined) this.#note(more)
    if (opaque !== undefined) this.#hide(opaque)
    this.#at = stop + 1
    this.#addUnknown('$()')
  }

  #readGroup(): void {
    const isAtStart = this.#words.every(({ text, quoted }) => !quoted && BEFORE_COMMAND.has(text))
    if (this.#word !== undefined || !isAtStart) return this.#hide('it groups commands where none can stand')
    this.#at++
    this.#readInner()
    // As after `}`, only redirections and operators may follow.
    this.#words = [{ text: '}', quoted: false, wild: 'no' }]
  }

  /** Returns the character `ahead` places further; empty after the end. */
  #next(ahead = 0): string {
    return this.#line.charAt(this.#at + ahead)
  }

  /** Returns whether to continue. The rest of an opaque line is not parsed, because it may mean anything. */
  #goesOn(): boolean {
    return this.#at < this.#line.length && this.#found.opaque === undefined
  }

  /** @param pattern sticky. @returns the match at the current offset; empty when there is none. */
  #ahead(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#line)?.[0] ?? ''
  }

  /** Returns `#ahead(pattern)` and moves after the match. */
  #take(pattern: RegExp): string {
    const found = this.#ahead(pattern)
    this.#at += found.length
    return found
  }

  #open(): OpenWord {
    return (this.#word ??= { text: '', unknown: false, wild: 'no' })
  }

  #quote(): OpenWord {
    const word = this.#open()
    word.quotedFrom ??= word.text.length
    return word
  }

  #addUnknown(text: string): void {
    const word = this.#open()
    word.text += text
    word.unknown = true
  }

  #endWord(): void {
    if (this.#word === undefined) return
    const { text, quotedFrom, wild, unknown } = this.#word
    this.#word = undefined
    const [whole = '', name] = ASSIGNMENT.exec(text) ?? []
    const sets = name !== undefined && (quotedFrom === undefined || quotedFrom >= whole.length) ? { sets: name } : {}
    this.#words.push({ text, quoted: quotedFrom !== undefined, wild, ...(unknown ? { unknown } : {}), ...sets })
  }

  /** Ends the current command. Returns whether it had any words. */
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
    // The list of a `for` loop consists of words, not of commands.
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
    this.#found.commands.push(command)
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
    this.#found.more ??= what
  }

  /** Marks the line as opaque; the first reason is kept. */
  #hide(reason: string): void {
    this.#found.opaque ??= reason
  }
}
