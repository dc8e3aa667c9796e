/**
 * A chat by lines: for a pipe, a terminal that cannot move its cursor, and a screen reader, which would read everything that is painted anew.
 * A line is a message; one that ends in a backslash goes on in the next.
 */

import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { exactText, visibleLine } from '../../util/terminal.ts'
import { showTurn } from '../answer-view.ts'
import { EXIT } from '../failure.ts'
import { note } from '../io.ts'
import type { Io } from '../io.ts'
import { MAX_CHARACTERS, tooLong } from '../read-text.ts'
import { shownToolCalls } from '../tool-call-view.ts'
import { wasHeldBack } from '../tool-calls.ts'
import type { ToolCalls } from '../tool-calls.ts'
import { interruption } from './front.ts'
import type { Behind, Choice, ChooseOptions, Events, Front } from './front.ts'
import { slashOf } from './slash.ts'

/** Within this time a second Ctrl-C leaves. */
const AGAIN_MS = 2000
/** Lines that come closer together than this were not typed. */
const PASTED_MS = 30
/** Lines that are read ahead of the turn they wait for. */
const MAX_WAITING = 1000

export class PlainFront implements Front {
  readonly canAsk: boolean
  readonly style: Front['style'] = (style, text) => this.#io.stderr.style(style, text)
  readonly #io: Io
  readonly #now: () => number
  readonly #lines: ReturnType<typeof createInterface>
  readonly #waiting: string[] = []
  readonly #stopListening: () => void
  #behind: Behind | undefined
  /** Ends what is at work. */
  #stop: AbortController | undefined
  #wake: (() => void) | undefined
  /** Takes the next line, in place of those who wait for messages. */
  #answer: ((line: string | undefined) => void) | undefined
  #isOver = false
  /** When the last line came. */
  #linedAt = -Infinity
  /** Of the line that is being read, in bytes. */
  #length = 0
  /** The line that is being read has no end in sight. */
  #isEndless = false
  #interruptedAt = -Infinity

  constructor(io: Io, now: () => number = Date.now) {
    this.#io = io
    this.#now = now
    // What would be asked has to be seen as well as answered.
    this.canAsk = io.stdin.isTTY === true && io.stderr.isTerminal
    const leave = (): void => this.leave()
    const watch = (piece: Buffer | string): void => this.#watchLength(piece)
    io.stdin.on('data', watch)
    this.#lines = createInterface({ input: io.stdin, terminal: false, crlfDelay: Infinity })
    this.#lines.on('line', (line) => this.#onLine(line))
    this.#lines.on('close', leave)
    io.signal.addEventListener('abort', leave, { once: true })
    const ignore = io.onInterrupt(() => this.#onInterrupt())
    this.#stopListening = () => {
      ignore()
      io.stdin.off('data', watch)
      io.signal.removeEventListener('abort', leave)
    }
  }

  attach(behind: Behind): void {
    this.#behind = behind
  }

  get columns(): number {
    return this.#io.stderr.columns
  }

  async next(): Promise<string | undefined> {
    for (;;) {
      if (this.canAsk) await this.tell('> ')
      const message = await this.#message()
      if (message === undefined || message.trim() !== '') return message
    }
  }

  tell(text: string): Promise<void> {
    return this.#io.stderr.writeRaw(text)
  }

  note(text: string): Promise<void> {
    return note(this.#io, text)
  }

  async choose(
    question: string,
    choices: readonly Choice[],
    { initial, signal }: ChooseOptions = {},
  ): Promise<number | undefined> {
    const rows = choices.map(({ key, label }) => `  ${key}  ${visibleLine(label)}\n`).join('')
    const areNumbers = choices.length > 3 && choices.every(({ key }) => /^\d+$/.test(key))
    const keys = areNumbers ? `1-${choices.length}` : choices.map(({ key }) => key).join('/')
    await this.tell(`${rows}${exactText(question)} [${keys}] `)
    for (;;) {
      const line = (await this.#answered(signal))?.trim().toLowerCase()
      if (line === undefined) return undefined
      if (line === '') return initial
      const found = choices.findIndex(({ key, label }) => key === line || (line.length > 1 && label.split(/[\s,]/)[0] === line))
      if (found !== -1) return found
      // What was typed before the question came up stands before the answer, where a terminal hands over whole lines.
      await this.tell(`${JSON.stringify(exactText(line.slice(0, 20)))} is none of them. Your answer: `)
    }
  }

  async ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    await this.tell(`${exactText(question)} `)
    return this.#answered(signal)
  }

  follow(turn: (signal: AbortSignal) => Events, calls: ToolCalls): Promise<number> {
    return this.busy(async (signal) => {
      const before = calls.last?.number ?? 0
      const shown = shownToolCalls(turn(signal), calls, { io: this.#io, isText: true, showsOutput: true })
      const code = await showTurn(shown, this.#io, { format: 'text', showThinking: false })
      const ofTurn = calls.all.filter(({ number }) => number > before)
      return code === EXIT.done && wasHeldBack(ofTurn) ? EXIT.permission : code
    })
  }

  async busy<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController()
    this.#stop = stop
    try {
      return await work(AbortSignal.any([this.#io.signal, stop.signal]))
    } finally {
      this.#stop = undefined
    }
  }

  async ring(): Promise<void> {
    if (this.canAsk) await this.tell('\u0007')
  }

  leave(): void {
    this.#isOver = true
    this.#answer?.(undefined)
    this.#wake?.()
  }

  close(): Promise<void> {
    this.#stopListening()
    this.#lines.close()
    return Promise.resolve()
  }

  /** The terminal turns Ctrl-C into a signal here: once it stops the turn, twice it leaves. */
  #onInterrupt(): boolean {
    const now = this.#now()
    const isSecond = now - this.#interruptedAt < AGAIN_MS
    this.#interruptedAt = now
    if (isSecond || !this.canAsk) return false
    if (this.#stop === undefined) void this.note('Ctrl-C again leaves.')
    this.#stop?.abort(interruption())
    return true
  }

  /** Ends the reading of a line before it fills the memory: `readline` keeps it until it is whole. */
  #watchLength(piece: Buffer | string): void {
    const end = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf('\r'))
    this.#length = end === -1 ? this.#length + piece.length : piece.length - end - 1
    // No character takes more than four bytes.
    if (this.#length <= MAX_CHARACTERS * 4) return
    this.#isEndless = true
    this.#lines.close()
  }

  #onLine(line: string): void {
    if (this.#answer !== undefined) {
      this.#answer(line)
      return
    }
    const slash = slashOf(line)
    if (slash?.name === 'steer' && slash.argument !== '' && this.#stop !== undefined && this.canAsk) {
      this.#behind?.steering.steer(slash.argument)
      return
    }
    // Lines that a terminal sends at once were pasted: they are one message. A command is a line of its own.
    const last = this.#waiting.at(-1)
    const isPasted = this.canAsk && this.#now() - this.#linedAt < PASTED_MS && slash === undefined
    this.#linedAt = this.#now()
    if (isPasted && last !== undefined && slashOf(last) === undefined)
      this.#waiting[this.#waiting.length - 1] = `${last}\n${line}`
    else this.#waiting.push(line)
    if (this.#waiting.length >= MAX_WAITING && !this.#isOver) this.#lines.pause()
    this.#wake?.()
  }

  async #message(): Promise<string | undefined> {
    const parts: string[] = []
    let length = 0
    for (;;) {
      const line = await this.#line()
      length += line?.length ?? 0
      if (length > MAX_CHARACTERS || (line === undefined && this.#isEndless)) throw tooLong('message')
      if (line === undefined) return parts.length === 0 ? undefined : parts.join('\n')
      if (!line.endsWith('\\')) return [...parts, line].join('\n')
      parts.push(line.slice(0, -1))
    }
  }

  /** The next line; `undefined` at the end. */
  async #line(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && !this.#isOver) {
      this.#lines.resume()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    // More of the same paste may be on its way.
    while (this.canAsk && !this.#isOver && this.#now() - this.#linedAt < PASTED_MS) await sleep(PASTED_MS)
    return this.#waiting.shift()
  }

  /** A line that is written after the question: what was typed before it answers nothing. */
  async #answered(signal?: AbortSignal): Promise<string | undefined> {
    if (this.#isOver || signal?.aborted === true) return undefined
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const giveUp = (): void => resolve(undefined)
    this.#answer = resolve
    this.#lines.resume()
    signal?.addEventListener('abort', giveUp, { once: true })
    try {
      return await promise
    } finally {
      this.#answer = undefined
      signal?.removeEventListener('abort', giveUp)
    }
  }
}
