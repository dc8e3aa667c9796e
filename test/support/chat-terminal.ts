/** Runs a chat at a terminal in memory: tests press keys and read the screen. */

import { PassThrough, Writable } from 'node:stream'
import { openChannel } from '../../src/cli/io.ts'
import type { Io } from '../../src/cli/io.ts'
import { VirtualTerminal } from './virtual-terminal.ts'

export interface ChatTerminal {
  readonly io: Io
  readonly terminal: VirtualTerminal
  /** Whether the input is in raw mode. */
  readonly isRaw: () => boolean
  /** Presses keys, as a terminal sends them. */
  readonly press: (keys: string) => void
  /** Resizes the terminal. */
  readonly resize: (columns: number, rows: number) => void
  /** Simulates a signal. */
  readonly stop: () => void
}

export interface ChatTerminalOptions {
  readonly cwd: string
  readonly env: Io['env']
  readonly columns?: number
  readonly rows?: number
}

export const KEY = {
  enter: '\r',
  escape: '\u001B',
  up: '\u001B[A',
  down: '\u001B[B',
  left: '\u001B[D',
  tab: '\t',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  ctrlL: '\u000C',
  ctrlO: '\u000F',
} as const

export function pasted(text: string): string {
  return `\u001B[200~${text}\u001B[201~`
}

export function chatTerminal({ cwd, env, columns = 80, rows = 24 }: ChatTerminalOptions): ChatTerminal {
  const terminal = new VirtualTerminal(columns, rows)
  const stop = new AbortController()
  let raw = false
  const keyboard = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode(on: boolean) {
      raw = on
    },
  })
  const output = Object.assign(
    new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        terminal.write(text)
        done()
      },
    }),
    { isTTY: true, columns, rows },
  )
  return {
    terminal,
    isRaw: () => raw,
    press: (keys) => void keyboard.write(keys),
    resize(wide, high) {
      Object.assign(output, { columns: wide, rows: high })
      terminal.columns = wide
      terminal.rows = high
      output.emit('resize')
    },
    stop: () => stop.abort(new DOMException('Ended by SIGTERM.', 'AbortError')),
    io: {
      env,
      cwd,
      stdout: openChannel(output, env, () => {}),
      stderr: openChannel(output, env, () => {}),
      stdin: keyboard,
      piped: undefined,
      signal: stop.signal,
      onInterrupt: () => () => {},
    },
  }
}
