/** Reads the keyboard in raw mode, and restores the terminal however the chat ends. */

import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../io.ts'

interface InputListener {
  readonly onKey: (key: Key) => void
  /** The terminal is gone. */
  readonly onEnd: () => void
  /** The process was stopped and goes on: somebody else had the terminal. */
  readonly onWake: () => void
  /** A paste has begun, nothing comes any more, and its end did not come. */
  readonly onOpenPaste: () => void
}

/** What follows an escape character within this time belongs to it. */
const ESCAPE_MS = 50
/** A paste that is silent for so long may never end. */
const OPEN_PASTE_MS = 1000
/** Characters of a paste that are kept. */
const MOST_PASTED = 20_000_000
const CUT = `\n[… the rest of this paste was not taken: it has more than ${MOST_PASTED.toLocaleString('en-US')} characters]`
/** A process that was told to stop and still runs after this time cannot be stopped here: no shell waits for it. */
const STOPPED_MS = 100
const PASTE_ON = '\u001B[?2004h'
/** No bracketed paste, a visible cursor, plain style. */
const RESTORE = '\u001B[?2004l\u001B[?25h\u001B[0m'

export class TerminalInput {
  readonly #io: Io
  readonly #listener: InputListener
  /** The beginning of a key or of a paste. */
  #rest = ''
  /** `rest` is a paste whose end has not come, and this is its last piece. */
  #openPaste: string | undefined
  #isCut = false
  /** Text of a paste that the terminal does not mark as one. */
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
    // The last resort, when the process is ended in the middle.
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
    this.#giveBack().catch(gone)
    stdin.pause()
    process.off('exit', this.#restoreNow)
  }

  /** Gives the terminal back to the shell until the process is woken up. */
  suspend(): void {
    this.#giveBack().then(async () => {
      // All of the group, as the terminal does it: who has started us waits otherwise, and the shell with it.
      this.#state = 'suspended'
      process.kill(0, 'SIGTSTP')
      // Twice, so that the signal that wakes the process is seen before a timer that was due all along.
      await sleep(STOPPED_MS)
      await sleep(STOPPED_MS)
      if (this.#state === 'suspended') this.#take()
    }, gone)
  }

  #giveBack(): Promise<void> {
    this.#io.stdin.setRawMode?.(false)
    return this.#io.stdout.writeRaw(RESTORE)
  }

  /** Takes the terminal, also when the process goes on after it was stopped: by us, or from outside. */
  readonly #take = (signal?: NodeJS.Signals): void => {
    if (this.#state === 'closed') return
    const { stdin, stdout } = this.#io
    // The shell may have changed the terminal behind our back.
    stdin.setRawMode?.(false)
    stdin.setRawMode?.(true)
    stdin.resume()
    stdout.writeRaw(PASTE_ON).catch(gone)
    if (this.#state === 'suspended' || signal !== undefined) this.#listener.onWake()
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
    // A line end at its end is the Enter that whoever pasted it would press.
    if (text.endsWith('\n')) this.#listener.onKey({ type: 'key', name: 'enter' })
  }

  /** More of a paste: only what is new is looked at, since a long one comes in very many pieces. */
  #paste(piece: string, before: string): void {
    // Pressed by somebody who sees that nothing happens: in a paste it would stand among other characters.
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
      // The terminal is gone.
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
 * Whether a piece of input was pasted at a terminal without bracketed paste: nobody types a line end and more text at once. A backslash before
 * the line end is one that is typed, and so is a command of ours by a program.
 */
export function isUnmarkedPaste(piece: string): boolean {
  return !NO_TEXT.test(piece) && SECOND_LINE.test(piece) && !COMMAND_LINE.test(piece)
}

/** Who reads the terminal's last state is told by its end. */
function gone(): void {}

export type Key =
  | { readonly type: 'text'; readonly text: string }
  /** What was pasted, with line feeds. */
  | { readonly type: 'paste'; readonly text: string }
  /** `enter`, `up`, `ctrl-c`, `alt-enter`, `ctrl-left`. */
  | { readonly type: 'key'; readonly name: string }

const PASTE_START = '\u001B[200~'
const PASTE_END = '\u001B[201~'
/** Longer than any sequence that a terminal sends; what goes on after that is no sequence. */
const LONGEST_SEQUENCE = 32

/* eslint-disable no-control-regex */
/** CSI and SS3: parameters, and the letter that ends them. */
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
 * @param final nothing follows for now: an escape character that stands alone is the key of that name.
 * @returns the keys, and the beginning of something that has to be put before the next piece.
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

/** The length of what stands first, and its key, or the name of it; no key for what means nothing to us. */
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
  // The terminal puts an escape character before a key that is pressed with Alt.
  const [length = 1, key] = decodeOne(input.slice(1), final) ?? []
  if (typeof key === 'string') return [1 + length, `alt-${key}`]
  const [character = ''] = input.slice(1)
  return [1 + character.length, `alt-${character}`]
}

function nameOf([first = '', second, third = '']: readonly string[], last: string): string | undefined {
  // Reports of the mouse and answers of the terminal, not keys.
  if (/^[<=>?]/.test(first)) return undefined
  // xterm's form of keys that have none of their own: 27;modifiers;code~.
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
