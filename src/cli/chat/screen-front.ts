/** A chat on a terminal that can move its cursor: one may write, stop and answer while the model works. */

import { setImmediate } from 'node:timers/promises'
import type { HomePaths } from '../../app/paths.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { Steering } from '../../engine/steering.ts'
import { exactText, visibleText } from '../../util/terminal.ts'
import { wrapWords } from '../../util/cells.ts'
import type { Io } from '../io.ts'
import type { Completable } from './completion.ts'
import { Composer } from './composer.ts'
import type { Calls } from './calls.ts'
import type { Choice, ChooseOptions, Front } from './front.ts'
import type { Key } from './keys.ts'
import { Question } from './question.ts'
import { regionOf } from './region.ts'
import type { RegionState } from './region.ts'
import { echoOf } from './layout.ts'
import { Screen } from './screen.ts'
import { slashOf } from './slash-names.ts'
import { TerminalInput } from './terminal-input.ts'

export interface ScreenOptions {
  readonly io: Io
  readonly paths: HomePaths
  readonly completable: Completable
  readonly now?: () => number
}

/** What the program says of itself once it is there. */
export interface Behind {
  /** The line below the input. @param columns cells that it may take. */
  status(columns: number): string
  /** Whether a line can be dealt with while the model works. */
  isImmediate(text: string): boolean
  runNow(text: string): Promise<void>
}

/** Within this time a second Ctrl-C leaves. */
const AGAIN_MS = 2000
/** Who was typing a moment ago did not mean to answer the question that has just come up. */
const TYPING_MS = 700
/** Keyboards repeat a key that is held down more often than this. */
const REPEAT_MS = 200
const PAINT_EVERY_MS = 30
/** What a note that is broken goes on under. */
const NOTE_INDENT = 2
const TICK_MS = 1000
/** What has to be started first, as servers of tools, may take longer than anybody waits without a word. */
const SLOW_START_MS = 500

export class ScreenFront implements Front {
  readonly canAsk = true
  readonly style: Front['style'] = (style, text) => this.#options.io.stdout.style(style, text)
  readonly #options: ScreenOptions
  readonly #now: () => number
  readonly #screen: Screen
  readonly #input: TerminalInput
  #behind: Behind | undefined
  #steering: Steering | undefined
  readonly #composer: Composer
  #queue: string[] = []
  /** Keys that wait until a completion is there, or what was typed in other sessions. */
  #held: Key[] | undefined = []
  readonly #questions: Question[] = []
  #calls: Calls | undefined
  #tail = ''
  /** Something stands above that the next message is set apart from. */
  #hasSpoken = false
  #interrupt: (() => void) | undefined
  #startedAt = 0
  /** Milliseconds of the turn in which the user was asked something; and since when, while a question is open. */
  #askedMs = 0
  #askedSince: number | undefined
  #hint: string | undefined
  #stoppedAt = -Infinity
  #typedAt = -Infinity
  #answered = { key: '', at: -Infinity }
  #hasLeft = false
  readonly #leaving = new AbortController()
  #isClosed = false
  /** The shell has the terminal. */
  #isAway = false
  /** Something was stopped by the key that left. */
  wasInterrupted = false
  #wake: (() => void) | undefined
  #paintTimer: NodeJS.Timeout | undefined
  #ticker: NodeJS.Timeout | undefined
  /** In place of the status while there is none yet. */
  #untilReady = ''
  readonly #slowStart: NodeJS.Timeout
  readonly #endListening: () => void

  constructor(options: ScreenOptions) {
    const { io, paths, completable, now = Date.now } = options
    this.#options = options
    this.#now = now
    this.#composer = new Composer(paths, completable)
    this.#screen = new Screen({
      write: (text) => io.stdout.writeRaw(text),
      get columns() {
        return io.stdout.columns
      },
      get rows() {
        return io.stdout.rows
      },
    })
    this.#input = new TerminalInput(io, {
      onKey: (key) => this.#onKey(key),
      onEnd: () => this.leave(),
      onWake: () => this.#wakeUp(),
      onOpenPaste: () => this.#tellNow('a paste has not ended; Ctrl-C ends it'),
    })
    const endResize = io.stdout.onResize(() => {
      this.#screen.invalidate()
      this.#paint()
    })
    const onAbort = (): void => this.leave()
    io.signal.addEventListener('abort', onAbort, { once: true })
    this.#endListening = () => {
      endResize()
      io.signal.removeEventListener('abort', onAbort)
    }
    this.#paint()
    this.#slowStart = setTimeout(() => {
      this.#untilReady = 'getting ready; Ctrl-C twice leaves'
      this.#paint()
    }, SLOW_START_MS).unref()
    void this.#composer.remember().then(() => this.#release())
  }

  get columns(): number {
    return this.#options.io.stdout.columns
  }

  steerWith(steering: Steering): void {
    this.#steering = steering
  }

  /** Aborted when the user leaves. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  /** The program is there. */
  attach(behind: Behind): void {
    this.#behind = behind
    clearTimeout(this.#slowStart)
    this.#paint()
  }

  async next(): Promise<string | undefined> {
    while (this.#queue.length === 0 && !this.#hasLeft) {
      this.#paint()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#hasLeft) return undefined
    const message = this.#queue.shift() ?? ''
    // What was said while a turn ran is a prompt now.
    if (this.#steering?.followUps[0]?.content === message) this.#steering.takeFollowUp()
    await this.tell(this.#echo(message))
    return message
  }

  async tell(text: string): Promise<void> {
    if (text === '' || this.#isClosed) return
    await this.#screen.commit(text.endsWith('\n') ? text : `${text}\n`, this.#region())
  }

  note(text: string): Promise<void> {
    return this.tell(`${this.style('dim', wrapWords(visibleText(text), this.columns, NOTE_INDENT))}\n`)
  }

  choose(
    question: string,
    choices: readonly Choice[],
    { initial = -1, signal }: ChooseOptions = {},
  ): Promise<number | undefined> {
    return this.#asked(new Question(exactText(question), choices, initial), signal, ({ chosen }) => chosen)
  }

  ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    return this.#asked(new Question(exactText(question)), signal, ({ answer }) => answer)
  }

  follow(events: AsyncIterable<QueryEvent>, calls: Calls, interrupt: () => void): Promise<number> {
    this.#calls = calls
    return this.busy(async () => {
      // What renders an answer is not needed before there is one.
      const { showOnScreen } = await import('./turn-view.ts')
      return showOnScreen(events, calls, {
        io: this.#options.io,
        tell: (text) => this.tell(text),
        note: (text) => this.note(text),
        setTail: (tail) => {
          this.#tail = tail
        },
        refresh: () => this.#refresh(),
      })
    }, interrupt)
  }

  async busy<T>(work: () => Promise<T>, interrupt: () => void): Promise<T> {
    this.#interrupt = interrupt
    this.#startedAt = this.#now()
    this.#askedMs = 0
    this.#ticker = setInterval(() => this.#paint(), TICK_MS).unref()
    this.#paint()
    try {
      return await work()
    } finally {
      clearInterval(this.#ticker)
      this.#interrupt = undefined
      this.#tail = ''
      this.#paint()
    }
  }

  async ring(): Promise<void> {
    if (!this.#isClosed) await this.#options.io.stdout.writeRaw('\u0007')
  }

  /** Ends the chat, and what is at work in it. */
  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.wasInterrupted = this.#interrupt !== undefined
    this.#interrupt?.()
    for (const question of this.#questions) question.giveUp()
    this.#leaving.abort(new DOMException('The user has left.', 'AbortError'))
    this.#wake?.()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.leave()
    this.#isClosed = true
    clearTimeout(this.#paintTimer)
    clearTimeout(this.#slowStart)
    clearInterval(this.#ticker)
    this.#endListening()
    await this.#screen.clear()
    this.#input.close()
  }

  async #asked<Answer>(
    question: Question,
    signal: AbortSignal | undefined,
    read: (question: Question) => Answer | undefined,
  ): Promise<Answer | undefined> {
    if (this.#isGivenUp(signal)) return undefined
    const giveUp = (): void => question.giveUp()
    // Whoever has just answered a question knows that another one may follow, and types on. Else what was typed before it could be seen, and
    // waits unread while a long call arrives, is read first.
    if (this.#now() - this.#answered.at >= TYPING_MS) await inputRead()
    if (this.#isGivenUp(signal)) return undefined
    signal?.addEventListener('abort', giveUp, { once: true })
    this.#questions.push(question)
    this.#askedSince ??= this.#now()
    this.#paint()
    try {
      await question.settled
      return read(question)
    } finally {
      signal?.removeEventListener('abort', giveUp)
      this.#questions.splice(this.#questions.indexOf(question), 1)
      if (this.#questions.length === 0) {
        this.#askedMs += this.#now() - (this.#askedSince ?? this.#now())
        this.#askedSince = undefined
      }
      this.#paint()
    }
  }

  #isGivenUp(signal: AbortSignal | undefined): boolean {
    return signal?.aborted === true || this.#hasLeft
  }

  #onKey(key: Key): void {
    if (this.#held === undefined) this.#press(key)
    else this.#held.push(key)
  }

  #press(key: Key): void {
    this.#hint = undefined
    const name = key.type === 'key' ? key.name : undefined
    if (name === 'ctrl-c') this.#onStop()
    else if (name === 'ctrl-z') this.#suspend()
    else if (name === 'ctrl-l') this.#clearScreen()
    else if (name === 'escape') this.#onEscape()
    else if (this.#isForQuestion() && this.#questions[0]?.isShown === true) this.#answer(key)
    else this.#onDraftKey(key)
    this.#paint()
  }

  /** What follows an answer at once may belong to the next question, which is not there yet. */
  #answer(key: Key): void {
    const [question] = this.#questions
    const pressed = key.type === 'text' ? key.text : ''
    const isRepeated = pressed !== '' && pressed === this.#answered.key && this.#now() - this.#answered.at < REPEAT_MS
    this.#answered = { key: pressed, at: this.#now() }
    // A key that is held down has answered the question before, which was another one.
    if (isRepeated && question?.shown.choices !== undefined) return
    question?.press(key)
    if (question?.isSettled !== true) return
    this.#held = []
    void setImmediate().then(() => this.#release())
  }

  /** Keys answer a question, but for those of somebody who was in the middle of a word when it came up. */
  #isForQuestion(): boolean {
    if (this.#questions.length === 0) return false
    return this.#composer.isEmpty || this.#now() - this.#typedAt >= TYPING_MS
  }

  #onDraftKey(key: Key): void {
    this.#typedAt = this.#now()
    const name = key.type === 'key' ? key.name : undefined
    const waiting =
      name === 'up' && this.#composer.isEmpty && this.#composer.searching === undefined ? this.#queue.pop() : undefined
    if (waiting !== undefined) {
      // What waits to be said can be taken back.
      if (this.#steering?.followUps.at(-1)?.content === waiting) this.#steering.takeBack()
      this.#composer.write(waiting)
    } else if (name === 'tab') {
      this.#held = []
      void this.#composer.complete().then(() => this.#release())
    } else if (name === 'ctrl-d' && this.#composer.isEmpty) {
      this.leave()
    } else if (name === 'ctrl-o') {
      this.#runNow('/show')
    } else {
      const message = this.#composer.press(key)
      if (message !== undefined) this.#send(message)
    }
  }

  #send(message: string): void {
    if (this.#interrupt !== undefined && this.#behind?.isImmediate(message) === true) {
      this.#runNow(message)
      return
    }
    this.#queue.push(message)
    if (this.#interrupt !== undefined && slashOf(message) === undefined) this.#steering?.followUp(message)
    this.#wake?.()
  }

  /** Deals with a command at once, whatever is going on. */
  #runNow(command: string): void {
    void this.#behind?.runNow(command)
  }

  #release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const key of held) this.#onKey(key)
    this.#paint()
  }

  #onEscape(): void {
    if (this.#interrupt !== undefined) this.#stop()
    else if (this.#questions.length > 0) this.#questions[0]?.giveUp()
    else if (this.#composer.searching !== undefined) this.#composer.endSearch()
    else this.#composer.candidates = []
  }

  #onStop(): void {
    const isSecond = this.#now() - this.#stoppedAt < AGAIN_MS
    this.#stoppedAt = this.#now()
    if (isSecond) {
      this.leave()
    } else if (this.#interrupt !== undefined) {
      this.#stop()
    } else if (this.#questions.length > 0) {
      this.#questions[0]?.giveUp()
    } else if (this.#composer.searching !== undefined) {
      this.#composer.giveUpSearch()
      this.#stoppedAt = -Infinity
    } else if (!this.#composer.isEmpty) {
      this.#composer.clear()
      this.#stoppedAt = -Infinity
    } else {
      this.#hint = 'Ctrl-C again leaves'
    }
  }

  /** Stops the turn; what was to be said next is there to be changed. */
  #stop(): void {
    this.#interrupt?.()
    this.#composer.takeBack(this.#queue)
    this.#queue = []
    this.#steering?.takeFollowUps()
  }

  #suspend(): void {
    this.#isAway = true
    this.#screen.clear().then(
      () => this.#input.suspend(),
      () => this.leave(),
    )
  }

  #wakeUp(): void {
    this.#isAway = false
    this.#screen.forget()
    this.#paint()
  }

  #tellNow(hint: string): void {
    this.#hint = hint
    this.#paint()
  }

  #clearScreen(): void {
    // Terminals that keep what they clear would keep the painted rows as well.
    void this.#screen.clear()
    void this.#options.io.stdout.writeRaw('\u001B[2J\u001B[H')
  }

  /** The message as it stays above. */
  #echo(message: string): string {
    const gap = this.#hasSpoken ? '\n' : ''
    this.#hasSpoken = true
    return `${gap}${echoOf(message, this.style)}`
  }

  #region(): ReturnType<typeof regionOf> {
    const { io } = this.#options
    const [question] = this.#questions
    const state: RegionState = {
      draft: this.#composer.draft,
      tail: this.#tail,
      running: this.#interrupt === undefined || question !== undefined ? [] : (this.#calls?.running ?? []),
      elapsed:
        this.#interrupt === undefined || question !== undefined ? undefined : this.#now() - this.#startedAt - this.#askedMs,
      queued: this.#interrupt === undefined && this.#behind !== undefined ? [] : this.#queue,
      candidates: this.#composer.candidates,
      question: this.#isForQuestion() ? question?.shown : undefined,
      status: this.#behind?.status(io.stdout.columns - 1) ?? this.#untilReady,
      hint:
        this.#hint ??
        this.#composer.searching ??
        (question !== undefined && !this.#isForQuestion() ? 'there is a question: stop typing to answer it' : undefined),
    }
    return regionOf(state, { columns: io.stdout.columns, rows: io.stdout.rows, style: this.style })
  }

  #paint(): void {
    if (this.#isClosed || this.#isAway) return
    clearTimeout(this.#paintTimer)
    this.#paintTimer = undefined
    this.#screen.paint(this.#region()).catch(() => this.leave())
    const [question] = this.#questions
    if (question !== undefined && this.#isForQuestion()) question.isShown = true
    // The question takes the keyboard when the typing has ended.
    if (this.#questions.length > 0 && !this.#isForQuestion())
      this.#paintTimer = setTimeout(() => this.#paint(), TYPING_MS).unref()
  }

  /** Paints soon: a fast stream would be all painting otherwise. */
  #refresh(): void {
    this.#paintTimer ??= setTimeout(() => this.#paint(), PAINT_EVERY_MS)
  }
}

/** Resolves when input that is there has been read: input is read between two of these. */
async function inputRead(): Promise<void> {
  await setImmediate()
  await setImmediate()
}
