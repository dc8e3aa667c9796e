/** Reads the keyboard in raw mode as keys, and restores the terminal however the process ends. */

import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../io.ts'

interface InputListener {
  readonly onKey: (key: Key) => void
  /** The terminal was closed. */
  readonly onEnd: () => void
  /** The process continues after it was suspended; another program has used the terminal. */
  readonly onResume: () => void
  /** A paste has begun and no more input arrives, but its end is missing. */
  readonly onOpenPaste: () => void
}

/** Milliseconds: input this soon after an escape character belongs to the same key. */
const ESCAPE_MS = 50
/** Milliseconds without input after which the end of a paste counts as missing. */
const OPEN_PASTE_MS = 1000
/** Maximum characters of a paste. */
const MOST_PASTED = 20_000_000
const CUT = `\n[… the rest of this paste was dropped: it has more than ${MOST_PASTED.toLocaleString('en-US')} characters]`
/** Milliseconds after which a process that still runs could not be suspended, because no shell waits for it. */
const STOPPED_MS = 100
const PASTE_ON = '\u001B[?2004h'
/** Ends bracketed paste, shows the cursor, and resets the style. */
const RESTORE = '\u001B[?2004l\u001B[?25h\u001B[0m'

export class TerminalInput {
  readonly #io: Io
  readonly #listener: InputListener
  /** The beginning of an incomplete key or paste. */
  #rest = ''
  /** The last piece of an incomplete paste, which `rest` holds whole; `undefined` when there is none. */
  #openPaste: string | undefined
  #isCut = false
  /** Text of a paste from a terminal without bracketed paste. */
  #unmarked = ''
  #state: 'open' | 'suspended' | 'closed' = 'open'
  #timer: NodeJS.Timeout | undefined

  constructor(io: Io, listener: InputListener) {
    this.#io = io
    this.#listener = listener
    io.stdin.setEncoding('utf8')
    io.stdin.on('data', this.#onData)
    io.stdin.on('end', listener.onEnd)
    io.stdin.on('error', listener.onEnd)
    process.on('SIGCONT', this.#take)
    // For a process that ends without `close`.
    process.on('exit', this.#restoreNow)
    this.#take()
  }

  close(): void {
    this.#state = 'closed'
    clearTimeout(this.#timer)
    const { stdin } = this.#io
    stdin.off('data', this.#onData)
    stdin.off('end', this.#listener.onEnd)
    process.off('SIGCONT', this.#take)
    this.#release().catch(ignoreClosed)
    stdin.pause()
    process.off('exit', this.#restoreNow)
  }

  /** Suspends the process and returns the terminal to the shell until it continues. */
  suspend(): void {
    this.#release().then(async () => {
      // Stops the whole process group, as Ctrl-Z does: otherwise the parent process would keep running, and the shell would wait for it.
      this.#state = 'suspended'
      process.kill(0, 'SIGTSTP')
      // Two timers, because the first is due as soon as the process continues, before the SIGCONT handler has run.
      await sleep(STOPPED_MS)
      await sleep(STOPPED_MS)
      if (this.#state === 'suspended') this.#take()
    }, ignoreClosed)
  }

  #release(): Promise<void> {
    this.#io.stdin.setRawMode?.(false)
    return this.#io.stdout.writeRaw(RESTORE)
  }

  /** Enters raw mode: at the start, and when the process continues after a suspension, also one from outside. */
  readonly #take = (signal?: NodeJS.Signals): void => {
    if (this.#state === 'closed') return
    const { stdin, stdout } = this.#io
    // Switched off first, because the shell may have changed the mode of the terminal meanwhile.
    stdin.setRawMode?.(false)
    stdin.setRawMode?.(true)
    stdin.resume()
    stdout.writeRaw(PASTE_ON).catch(ignoreClosed)
    if (this.#state === 'suspended' || signal !== undefined) this.#listener.onResume()
    this.#state = 'open'
  }

  readonly #onData = (piece: string): void => {
    clearTimeout(this.#timer)
    if (this.#unmarked !== '' || (this.#rest === '' && isUnmarkedPaste(piece))) {
      if (!NO_TEXT.test(piece) && this.#unmarked.length < MOST_PASTED) {
        this.#unmarked += piece
        this.#timer = setTimeout(() => this.#endUnmarked(), ESCAPE_MS)
        return
      }
      this.#endUnmarked()
    }
    if (this.#openPaste === undefined) this.#decode(this.#rest + piece)
    else this.#paste(piece, this.#openPaste)
    if (this.#openPaste !== undefined) this.#timer = setTimeout(() => this.#listener.onOpenPaste(), OPEN_PASTE_MS)
    else if (this.#rest !== '') this.#timer = setTimeout(() => this.#decode(this.#rest, true), ESCAPE_MS)
  }

  #endUnmarked(): void {
    const text = this.#unmarked.replaceAll(/\r\n?/g, '\n')
    this.#unmarked = ''
    this.#listener.onKey({ type: 'paste', text: text.replace(/\n$/, '') })
    // A final line feed counts as Enter.
    if (text.endsWith('\n')) this.#listener.onKey({ type: 'key', name: 'enter' })
  }

  /** Adds a piece to a paste. Searches only the new piece for the end, because a long paste arrives in many pieces. */
  #paste(piece: string, before: string): void {
    // A piece of only Ctrl-C was pressed by the user, to end a paste whose end is missing.
    if (ONLY_CTRL_C.test(piece)) return this.#decode(`${this.#rest}${PASTE_END}${piece.slice(1)}`)
    const last = before.slice(1 - PASTE_END.length) + piece
    const end = last.indexOf(PASTE_END)
    if (end !== -1) return this.#decode(this.#rest + (this.#isCut ? last.slice(end) : piece))
    this.#openPaste = last
    if (this.#isCut) return
    this.#isCut = this.#rest.length + piece.length > MOST_PASTED
    this.#rest += this.#isCut ? CUT : piece
  }

  #decode(input: string, final = false): void {
    const { keys, rest } = decodeKeys(input, final)
    this.#rest = rest
    this.#isCut = false
    this.#openPaste = rest.startsWith(PASTE_START) ? rest.slice(-PASTE_END.length) : undefined
    for (const key of keys) this.#listener.onKey(key)
  }

  readonly #restoreNow = (): void => {
    try {
      this.#io.stdin.setRawMode?.(false)
      writeSync(1, RESTORE)
    } catch {
      // The terminal was closed.
    }
  }
}

/* eslint-disable no-control-regex */
const ONLY_CTRL_C = /^\u0003+$/
const NO_TEXT = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/
/* eslint-enable no-control-regex */
const SECOND_LINE = /(?<!\\)[\r\n]+[^\r\n]/
const COMMAND_LINE = /[\r\n]\/[a-z]+(?:[ \r\n]|$)/i

/**
 * Returns whether a piece of input was pasted at a terminal without bracketed paste: it holds a line feed with text after it, which a person
 * does not type at once. Exceptions are a backslash before the line feed, and a slash command, which a program that drives the chat may send.
 */
export function isUnmarkedPaste(piece: string): boolean {
  return !NO_TEXT.test(piece) && SECOND_LINE.test(piece) && !COMMAND_LINE.test(piece)
}

/** Ignores write errors of a closed terminal, which `onEnd` reports. */
function ignoreClosed(): void {}

export type Key =
  | { readonly type: 'text'; readonly text: string }
  /** Pasted text, with line feeds as line ends. */
  | { readonly type: 'paste'; readonly text: string }
  /** Such as `enter`, `up`, `ctrl-c`, `alt-enter`, `ctrl-left`. */
  | { readonly type: 'key'; readonly name: string }

const PASTE_START = '\u001B[200~'
const PASTE_END = '\u001B[201~'
/** Maximum characters of an escape sequence; longer input is not one. */
const LONGEST_SEQUENCE = 32

/* eslint-disable no-control-regex */
/** Matches CSI and SS3 sequences: parameters and the final character. */
const SEQUENCE = /^\u001B(?:\[([\d;:<=>?]*)[ -/]*|O([\d;]*))([@-~])/
const UNFINISHED = /^\u001B(?:\[[\d;:<=>?]*[ -/]*|O[\d;]*)?$/
const PLAIN = /^[^\u0000-\u001F\u007F]+/
/* eslint-enable no-control-regex */

type Names = Readonly<Record<string, string>>
const LETTERS: Names = { A: 'up', B: 'down', C: 'right', D: 'left', F: 'end', H: 'home', M: 'enter', Z: 'backtab' }
const NUMBERS: Names = { 1: 'home', 3: 'delete', 4: 'end', 5: 'pageup', 6: 'pagedown', 7: 'home', 8: 'end' }
const CODES: Names = { 9: 'tab', 13: 'enter', 27: 'escape', 127: 'backspace' }
const CONTROLS: Names = { '\r': 'enter', '\n': 'ctrl-j', '\t': 'tab', '\b': 'backspace', '\u007F': 'backspace' }

/**
 * Decodes input bytes as keys.
 *
 * @param final no input follows for now: a single escape character is the Escape key.
 * @returns the keys, and an incomplete rest, which belongs before the next piece of input.
 */
export function decodeKeys(input: string, final = false): { readonly keys: readonly Key[]; readonly rest: string } {
  const keys: Key[] = []
  let rest = input
  while (rest !== '') {
    const next = decodeOne(rest, final)
    if (next === undefined) break
    const [length, key] = next
    if (key !== undefined) keys.push(typeof key === 'string' ? { type: 'key', name: key } : key)
    rest = rest.slice(length)
  }
  return { keys, rest }
}

/** Returns the length of the first key, and the key or its name, `undefined` for input without a meaning; nothing for incomplete input. */
function decodeOne(input: string, final: boolean): readonly [length: number, key: Key | string | undefined] | undefined {
  const plain = PLAIN.exec(input)?.[0]
  if (plain !== undefined) return [plain.length, { type: 'text', text: plain }]
  if (!input.startsWith('\u001B')) {
    const letter = String.fromCharCode(input.charCodeAt(0) + 0x60)
    return [1, CONTROLS[input.charAt(0)] ?? `ctrl-${letter}`]
  }
  if (input.startsWith(PASTE_START)) {
    const end = input.indexOf(PASTE_END)
    if (end === -1) return undefined
    const text = input.slice(PASTE_START.length, end).replaceAll(/\r\n?/g, '\n')
    return [end + PASTE_END.length, { type: 'paste', text }]
  }
  const sequence = SEQUENCE.exec(input)
  if (sequence !== null) {
    const [whole, csi, ss3, last = ''] = sequence
    return [whole.length, nameOf((csi ?? ss3 ?? '').split(';'), last)]
  }
  if (UNFINISHED.test(input) && !final && input.length <= LONGEST_SEQUENCE) return undefined
  if (input === '\u001B' || input.startsWith('\u001B\u001B')) return [1, 'escape']
  // Terminals send an escape character before a key that is pressed with Alt.
  const [length = 1, key] = decodeOne(input.slice(1), final) ?? []
  if (typeof key === 'string') return [1 + length, `alt-${key}`]
  const [character = ''] = input.slice(1)
  return [1 + character.length, `alt-${character}`]
}

function nameOf([first = '', second, third = '']: readonly string[], last: string): string | undefined {
  // Mouse reports and responses of the terminal are not keys.
  if (/^[<=>?]/.test(first)) return undefined
  // xterm sends keys without a sequence of their own as 27;modifiers;code~.
  const isByCode = last === 'u' || (last === '~' && first === '27')
  const named = last === '~' ? NUMBERS[first] : LETTERS[last]
  const name = isByCode ? codeName(last === 'u' ? first : third) : named
  if (name === undefined) return undefined
  const modifiers = Math.max(0, Number.parseInt(second ?? '1', 10) - 1)
  return `${modifiers & 4 ? 'ctrl-' : ''}${modifiers & 2 ? 'alt-' : ''}${modifiers & 1 ? 'shift-' : ''}${name}`
}

function codeName(code: string): string | undefined {
  const number = Number.parseInt(code, 10)
  return CODES[code] ?? (number > 32 && number < 127 ? String.fromCharCode(number).toLowerCase() : undefined)
}
