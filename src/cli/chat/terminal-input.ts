/** Reads the keyboard in raw mode, and restores the terminal however the chat ends. */

import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../io.ts'
import { decodeKeys, PASTE_END, PASTE_START } from './keys.ts'
import type { Key } from './keys.ts'

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
