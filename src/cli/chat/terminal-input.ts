/** The keyboard: raw while the chat is there, given back however it ends. */

import { writeSync } from 'node:fs'
import type { Io } from '../io.ts'
import { decodeKeys } from './keys.ts'
import type { Key } from './keys.ts'

/** What follows an escape character within this time belongs to it. */
const ESCAPE_MS = 50
const PASTE_ON = '\u001B[?2004h'
/** No bracketed paste, a visible cursor, plain style. */
const RESTORE = '\u001B[?2004l\u001B[?25h\u001B[0m'

export class TerminalInput {
  readonly #io: Io
  readonly #onKey: (key: Key) => void
  readonly #onEnd: () => void
  #rest = ''
  #timer: NodeJS.Timeout | undefined

  /** @param onEnd the terminal is gone. */
  constructor(io: Io, onKey: (key: Key) => void, onEnd: () => void) {
    this.#io = io
    this.#onKey = onKey
    this.#onEnd = onEnd
    io.stdin.setEncoding('utf8')
    io.stdin.on('data', this.#onData)
    io.stdin.on('end', onEnd)
    io.stdin.on('error', onEnd)
    // The last resort, when the process is ended in the middle.
    process.on('exit', this.#restoreNow)
    this.#take()
  }

  close(): void {
    clearTimeout(this.#timer)
    const { stdin, stdout } = this.#io
    stdin.off('data', this.#onData)
    stdin.off('end', this.#onEnd)
    stdin.setRawMode?.(false)
    stdin.pause()
    stdout.writeRaw(RESTORE).catch(gone)
    process.off('exit', this.#restoreNow)
  }

  /** Gives the terminal back to the shell until the process is woken up. */
  suspend(onWake: () => void): void {
    this.#io.stdin.setRawMode?.(false)
    process.once('SIGCONT', () => {
      this.#take()
      onWake()
    })
    this.#io.stdout.writeRaw(RESTORE).then(() => process.kill(process.pid, 'SIGTSTP'), gone)
  }

  #take(): void {
    const { stdin, stdout } = this.#io
    stdin.setRawMode?.(true)
    stdin.resume()
    stdout.writeRaw(PASTE_ON).catch(gone)
  }

  readonly #onData = (piece: string): void => {
    clearTimeout(this.#timer)
    this.#decode(this.#rest + piece, false)
    if (this.#rest !== '') this.#timer = setTimeout(() => this.#decode(this.#rest, true), ESCAPE_MS)
  }

  #decode(input: string, final: boolean): void {
    const { keys, rest } = decodeKeys(input, final)
    this.#rest = rest
    for (const key of keys) this.#onKey(key)
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

/** Who reads the terminal's last state is told by its end. */
function gone(): void {}
