/**
 * A chat by lines: for a pipe, a terminal that cannot move its cursor, and a screen reader, which would read everything that is painted anew.
 * A line is a message; one that ends in a backslash goes on in the next.
 */

import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { QueryEvent } from '../../core/event.ts'
import type { Steering } from '../../engine/steering.ts'
import { exactText, visibleLine } from '../../util/terminal.ts'
import { showTurn } from '../answer-view.ts'
import { Deeds } from '../deeds.ts'
import { shownDeeds } from '../deeds-view.ts'
import { EXIT } from '../exit-codes.ts'
import { note } from '../io.ts'
import type { Io } from '../io.ts'
import { MAX_CHARACTERS, tooLong } from '../read-text.ts'
import { noted } from './calls.ts'
import type { Calls } from './calls.ts'
import { slashOf } from './slash-names.ts'
import type { Choice, ChooseOptions, Front } from './front.ts'

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
  #wake: (() => void) | undefined
  /** Takes the next line, in place of those who wait for messages. */
  #answer: ((line: string | undefined) => void) | undefined
  #isOver = false
  /** When the last line came. */
  #linedAt = -Infinity
  /** The line that is being read has no end in sight. */
  #isEndless = false
  #steering: Steering | undefined
  #interrupt: (() => void) | undefined
  #interruptedAt = -Infinity
  readonly #stopListening: () => void

  constructor(io: Io, now: () => number = Date.now) {
    this.#io = io
    this.#now = now
    // What would be asked has to be seen as well as answered.
    this.canAsk = io.stdin.isTTY === true && io.stderr.isTerminal
    const watch = this.#watchLength()
    io.stdin.on('data', watch)
    this.#lines = createInterface({ input: io.stdin, terminal: false, crlfDelay: Infinity })
    this.#lines.on('line', (line) => {
      const steer = this.#interrupt === undefined || !this.canAsk ? undefined : slashOf(line)
      if (this.#answer === undefined && steer?.name === 'steer' && steer.argument !== '') {
        this.#steering?.steer(steer.argument)
        return
      }
      if (this.#answer === undefined) this.#wait(line)
      else this.#answer(line)
      if (this.#waiting.length >= MAX_WAITING && !this.#isOver) this.#lines.pause()
      this.#wake?.()
    })
    const over = (): void => {
      this.#isOver = true
      this.#answer?.(undefined)
      this.#wake?.()
    }
    this.#lines.on('close', over)
    io.signal.addEventListener('abort', over, { once: true })
    const ignore = io.onInterrupt(() => this.#onInterrupt())
    this.#stopListening = () => {
      ignore()
      io.stdin.off('data', watch)
      io.signal.removeEventListener('abort', over)
    }
  }

  steerWith(steering: Steering): void {
    this.#steering = steering
  }

  get columns(): number {
    return this.#io.stderr.columns
  }

  async next(): Promise<string | undefined> {
    for (;;) {
      if (this.canAsk) await this.#io.stderr.writeRaw('> ')
      const message = await this.#message()
      if (message === undefined || message.trim() !== '') return message
    }
  }

  async tell(text: string): Promise<void> {
    await this.#io.stderr.writeRaw(text)
  }

  async note(text: string): Promise<void> {
    await note(this.#io, text)
  }

  async choose(
    question: string,
    choices: readonly Choice[],
    { initial, signal }: ChooseOptions = {},
  ): Promise<number | undefined> {
    const rows = choices.map(({ key, label }) => `  ${key}  ${visibleLine(label)}\n`).join('')
    await this.tell(
      `${rows}${exactText(question)} [${choices.length > 3 && choices.every(({ key }) => /^\d+$/.test(key)) ? `1-${choices.length}` : choices.map(({ key }) => key).join('/')}] `,
    )
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

  follow(events: AsyncIterable<QueryEvent>, calls: Calls, interrupt: () => void): Promise<number> {
    return this.busy(async () => {
      const deeds = new Deeds()
      const shown = shownDeeds(noted(events, calls), deeds, { io: this.#io, isText: true, showsOutput: true })
      const code = await showTurn(shown, this.#io, { format: 'text', showThinking: false })
      return code === EXIT.done && deeds.wasHeldBack ? EXIT.permission : code
    }, interrupt)
  }

  async busy<T>(work: () => Promise<T>, interrupt: () => void): Promise<T> {
    this.#interrupt = interrupt
    try {
      return await work()
    } finally {
      this.#interrupt = undefined
    }
  }

  async ring(): Promise<void> {
    if (this.canAsk) await this.#io.stderr.writeRaw('\u0007')
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
    if (this.#interrupt === undefined) void this.note('Ctrl-C again leaves.')
    this.#interrupt?.()
    return true
  }

  /** Ends the reading of a line before it fills the memory: `readline` keeps it until it is whole. */
  #watchLength(): (piece: Buffer | string) => void {
    let length = 0
    return (piece) => {
      const end = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf('\r'))
      length = end === -1 ? length + piece.length : piece.length - end - 1
      // In bytes: no character takes more than four.
      if (length <= MAX_CHARACTERS * 4) return
      this.#isEndless = true
      this.#lines.close()
    }
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
      await this.#change()
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

  /** Lines that a terminal sends at once were pasted: they are one message. A command is a line of its own. */
  #wait(line: string): void {
    const last = this.#waiting.at(-1)
    const isPasted = this.canAsk && this.#now() - this.#linedAt < PASTED_MS && last !== undefined
    this.#linedAt = this.#now()
    if (isPasted && slashOf(line) === undefined && slashOf(last) === undefined)
      this.#waiting[this.#waiting.length - 1] = `${last}\n${line}`
    else this.#waiting.push(line)
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
