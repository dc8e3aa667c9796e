/**
 * A chat in plain lines: for pipes, terminals that cannot move the cursor, and screen readers, which would read each repainted row again. A
 * line is a message; a line that ends in a backslash continues in the next.
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
import type { ConversationControls, Choice, ChooseOptions, Events, Front } from './front.ts'
import { slashOf } from './slash.ts'

/** Milliseconds within which a second Ctrl-C leaves. */
const SECOND_MS = 2000
/** Milliseconds: lines that arrive closer together were pasted, not typed. */
const PASTED_MS = 30
/** Lines that are read ahead while a turn runs. */
const MAX_WAITING = 1000

export class PlainFront implements Front {
  readonly canAsk: boolean
  readonly style: Front['style'] = (style, text) => this.#io.stderr.style(style, text)
  readonly #io: Io
  readonly #now: () => number
  readonly #lines: ReturnType<typeof createInterface>
  readonly #waiting: string[] = []
  readonly #stopListening: () => void
  #controls: ConversationControls | undefined
  /** Aborts the work in progress. */
  #stop: AbortController | undefined
  /** Continues `#line`, which waits for a line or the end. */
  #notify: (() => void) | undefined
  /** Receives the next line as the answer to a question. */
  #answer: ((line: string | undefined) => void) | undefined
  #isOver = false
  /** Time at which the last line arrived. */
  #linedAt = -Infinity
  /** Bytes of the line that is being read. */
  #length = 0
  /** The line that is being read exceeds the limit. */
  #isTooLong = false
  #interruptedAt = -Infinity

  constructor(io: Io, now: () => number = Date.now) {
    this.#io = io
    this.#now = now
    // The user must be able to see a question as well as to answer it.
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

  attach(controls: ConversationControls): void {
    this.#controls = controls
  }

  get columns(): number {
    return this.#io.stderr.columns
  }

  async next(): Promise<string | undefined> {
    for (;;) {
      if (this.canAsk) await this.print('> ')
      const message = await this.#message()
      if (message === undefined || message.trim() !== '') return message
    }
  }

  print(text: string): Promise<void> {
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
    await this.print(`${rows}${exactText(question)} [${keys}] `)
    for (;;) {
      const line = (await this.#answered(signal))?.trim().toLowerCase()
      if (line === undefined) return undefined
      if (line === '') return initial
      const found = choices.findIndex(({ key, label }) => key === line || (line.length > 1 && label.split(/[\s,]/)[0] === line))
      if (found !== -1) return found
      // A terminal sends whole lines, so text typed before the question precedes the answer.
      await this.print(`${JSON.stringify(exactText(line.slice(0, 20)))} is not one of them. Your answer: `)
    }
  }

  async ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    await this.print(`${exactText(question)} `)
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
    if (this.canAsk) await this.print('\u0007')
  }

  leave(): void {
    this.#isOver = true
    this.#answer?.(undefined)
    this.#notify?.()
  }

  close(): Promise<void> {
    this.#stopListening()
    this.#lines.close()
    return Promise.resolve()
  }

  /** Handles Ctrl-C, which is a signal without raw mode: the first stops the turn, a second one leaves. */
  #onInterrupt(): boolean {
    const now = this.#now()
    const isSecond = now - this.#interruptedAt < SECOND_MS
    this.#interruptedAt = now
    if (isSecond || !this.canAsk) return false
    if (this.#stop === undefined) void this.note('Ctrl-C again leaves.')
    this.#stop?.abort(interruption())
    return true
  }

  /** Stops reading at a line that is too long: `readline` holds a line in memory until its end. */
  #watchLength(piece: Buffer | string): void {
    const end = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf('\r'))
    this.#length = end === -1 ? this.#length + piece.length : piece.length - end - 1
    // A character has at most four bytes.
    if (this.#length <= MAX_CHARACTERS * 4) return
    this.#isTooLong = true
    this.#lines.close()
  }

  #onLine(line: string): void {
    if (this.#answer !== undefined) {
      this.#answer(line)
      return
    }
    const slash = slashOf(line)
    if (slash?.name === 'steer' && slash.argument !== '' && this.#stop !== undefined && this.canAsk) {
      this.#controls?.steering.steer(slash.argument)
      return
    }
    // Pasted lines form one message, but a command remains a line of its own.
    const last = this.#waiting.at(-1)
    const isPasted = this.canAsk && this.#now() - this.#linedAt < PASTED_MS && slash === undefined
    this.#linedAt = this.#now()
    if (isPasted && last !== undefined && slashOf(last) === undefined)
      this.#waiting[this.#waiting.length - 1] = `${last}\n${line}`
    else this.#waiting.push(line)
    if (this.#waiting.length >= MAX_WAITING && !this.#isOver) this.#lines.pause()
    this.#notify?.()
  }

  async #message(): Promise<string | undefined> {
    const parts: string[] = []
    let length = 0
    for (;;) {
      const line = await this.#line()
      length += line?.length ?? 0
      if (length > MAX_CHARACTERS || (line === undefined && this.#isTooLong)) throw tooLong('message')
      if (line === undefined) return parts.length === 0 ? undefined : parts.join('\n')
      if (!line.endsWith('\\')) return [...parts, line].join('\n')
      parts.push(line.slice(0, -1))
    }
  }

  /** Resolves to the next line; `undefined` at the end. */
  async #line(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && !this.#isOver) {
      this.#lines.resume()
      await new Promise<void>((resolve) => {
        this.#notify = resolve
      })
    }
    // More lines of the same paste may follow.
    while (this.canAsk && !this.#isOver && this.#now() - this.#linedAt < PASTED_MS) await sleep(PASTED_MS)
    return this.#waiting.shift()
  }

  /** Resolves to a line that is typed after the question; earlier lines are messages, not answers. */
  async #answered(signal?: AbortSignal): Promise<string | undefined> {
    if (this.#isOver || signal?.aborted === true) return undefined
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const withdraw = (): void => resolve(undefined)
    this.#answer = resolve
    this.#lines.resume()
    signal?.addEventListener('abort', withdraw, { once: true })
    try {
      return await promise
    } finally {
      this.#answer = undefined
      signal?.removeEventListener('abort', withdraw)
    }
  }
}
