/** A chat on a terminal that can move its cursor: one may write, stop and answer while the model works. */

import { setImmediate } from 'node:timers/promises'
import type { HomePaths } from '../../app/paths.ts'
import { wrapWords } from '../../util/cells.ts'
import { exactText, visibleText } from '../../util/terminal.ts'
import type { Io } from '../io.ts'
import type { ToolCalls } from '../tool-calls.ts'
import type { Completable } from './composer.ts'
import { Composer } from './composer.ts'
import { interruption } from './front.ts'
import type { Behind, Choice, ChooseOptions, Events, Front } from './front.ts'
import type { Key } from './terminal-input.ts'
import { echoOf, regionOf } from './screen.ts'
import type { Painting } from './screen.ts'
import { Question } from './editor.ts'
import { Screen } from './screen.ts'
import { slashOf } from './slash.ts'
import { TerminalInput } from './terminal-input.ts'

export interface ScreenOptions {
  readonly io: Io
  readonly paths: HomePaths
  readonly completable: Completable
  readonly now?: () => number
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
// Terminals that keep what they clear would keep the painted rows as well: they are taken away before.
const CLEAR_ALL = '\u001B[2J\u001B[H'

/** What is at work: a turn, or a command of the user. */
interface Work {
  readonly stop: AbortController
  /** Later by the time in which the user was asked something. */
  startedAt: number
}

export class ScreenFront implements Front {
  readonly canAsk = true
  readonly style: Front['style'] = (style, text) => this.#io.stdout.style(style, text)
  /** Something was stopped by the key that left. */
  wasInterrupted = false
  readonly #io: Io
  readonly #now: () => number
  readonly #screen: Screen
  readonly #input: TerminalInput
  readonly #composer: Composer
  readonly #leaving = new AbortController()
  readonly #questions: Question[] = []
  readonly #slowStart: NodeJS.Timeout
  readonly #endListening: () => void
  #behind: Behind | undefined
  #work: Work | undefined
  #calls: ToolCalls | undefined
  /** Messages that wait for the turn before them. */
  #queue: string[] = []
  /** Keys that wait until a completion is there, or what was typed in other sessions. */
  #held: Key[] | undefined = []
  #tail = ''
  #hint: string | undefined
  /** In place of the status while there is none yet. */
  #untilReady = ''
  /** Something stands above that the next message is set apart from. */
  #hasSpoken = false
  /** Since when questions are open. */
  #askedAt = 0
  #stoppedAt = -Infinity
  #typedAt = -Infinity
  #answered = { key: '', at: -Infinity }
  #isClosed = false
  /** The shell has the terminal. */
  #isAway = false
  #wake: (() => void) | undefined
  #paintTimer: NodeJS.Timeout | undefined

  constructor({ io, paths, completable, now = Date.now }: ScreenOptions) {
    this.#io = io
    this.#now = now
    this.#composer = new Composer(paths, completable)
    this.#screen = new Screen(io.stdout)
    const leave = (): void => this.leave()
    this.#input = new TerminalInput(io, {
      onKey: (key) => this.#onKey(key),
      onEnd: leave,
      onWake: () => {
        this.#isAway = false
        this.#screen.forget()
        this.#paint()
      },
      onOpenPaste: () => {
        this.#hint = 'a paste has not ended; Ctrl-C ends it'
        this.#paint()
      },
    })
    const endResize = io.stdout.onResize(() => {
      this.#screen.invalidate()
      this.#paint()
    })
    io.signal.addEventListener('abort', leave, { once: true })
    this.#endListening = () => {
      endResize()
      io.signal.removeEventListener('abort', leave)
    }
    this.#paint()
    this.#slowStart = setTimeout(() => {
      this.#untilReady = 'getting ready; Ctrl-C twice leaves'
      this.#paint()
    }, SLOW_START_MS).unref()
    void this.#composer.remember().then(() => this.#release())
  }

  get columns(): number {
    return this.#io.stdout.columns
  }

  /** Aborted when the user leaves. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  attach(behind: Behind): void {
    this.#behind = behind
    clearTimeout(this.#slowStart)
    this.#paint()
  }

  async next(): Promise<string | undefined> {
    while (this.#queue.length === 0 && !this.leaving.aborted) {
      this.#paint()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.leaving.aborted) return undefined
    const message = this.#queue.shift() ?? ''
    // What was said while a turn ran is a prompt now.
    const steering = this.#behind?.steering
    if (steering?.followUps[0]?.content === message) steering.takeFollowUp()
    // The message as it stays above.
    await this.tell(`${this.#hasSpoken ? '\n' : ''}${echoOf(message, this.style)}`)
    this.#hasSpoken = true
    return message
  }

  async tell(text: string): Promise<void> {
    if (text === '' || this.#isClosed) return
    await this.#screen.commit(text.endsWith('\n') ? text : `${text}\n`, this.#region())
  }

  note(text: string): Promise<void> {
    return this.tell(`${this.style('dim', wrapWords(visibleText(text), this.columns, NOTE_INDENT))}\n`)
  }

  async choose(
    question: string,
    choices: readonly Choice[],
    { initial, signal }: ChooseOptions = {},
  ): Promise<number | undefined> {
    const answer = await this.#ask(new Question(exactText(question), choices, initial), signal)
    return typeof answer === 'number' ? answer : undefined
  }

  async ask(question: string, signal?: AbortSignal): Promise<string | undefined> {
    const answer = await this.#ask(new Question(exactText(question)), signal)
    return typeof answer === 'string' ? answer : undefined
  }

  follow(turn: (signal: AbortSignal) => Events, calls: ToolCalls): Promise<number> {
    this.#calls = calls
    return this.busy(async (signal) => {
      const events = turn(signal)
      // What renders an answer is not needed before there is one.
      const { showOnScreen } = await import('./turn-view.ts')
      return showOnScreen(events, calls, this, this.#io, (tail) => {
        this.#tail = tail ?? this.#tail
        // A fast stream would be all painting otherwise.
        this.#paintTimer ??= setTimeout(() => this.#paint(), PAINT_EVERY_MS)
      })
    })
  }

  async busy<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController()
    this.#work = { stop, startedAt: this.#now() }
    const ticker = setInterval(() => this.#paint(), TICK_MS).unref()
    this.#paint()
    try {
      return await work(AbortSignal.any([this.#io.signal, stop.signal]))
    } finally {
      clearInterval(ticker)
      this.#work = undefined
      this.#tail = ''
      this.#paint()
    }
  }

  async ring(): Promise<void> {
    if (!this.#isClosed) await this.#io.stdout.writeRaw('\u0007')
  }

  leave(): void {
    if (this.leaving.aborted) return
    this.wasInterrupted = this.#work !== undefined
    this.#work?.stop.abort(interruption())
    for (const question of this.#questions) question.settle()
    this.#leaving.abort(new DOMException('The user has left.', 'AbortError'))
    this.#wake?.()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.leave()
    this.#isClosed = true
    clearTimeout(this.#paintTimer)
    clearTimeout(this.#slowStart)
    this.#endListening()
    await this.#screen.clear()
    this.#input.close()
  }

  async #ask(question: Question, signal: AbortSignal | undefined): Promise<number | string | undefined> {
    const isGivenUp = (): boolean => signal?.aborted === true || this.leaving.aborted
    if (isGivenUp()) return undefined
    // Whoever has just answered a question knows that another one may follow, and types on. Else what was typed before it could be seen, and
    // waits unread while a long call arrives, is read first.
    if (this.#now() - this.#answered.at >= TYPING_MS) await inputRead()
    if (isGivenUp()) return undefined
    const giveUp = (): void => question.settle()
    signal?.addEventListener('abort', giveUp, { once: true })
    if (this.#questions.length === 0) this.#askedAt = this.#now()
    this.#questions.push(question)
    this.#paint()
    try {
      return await question.answer
    } finally {
      signal?.removeEventListener('abort', giveUp)
      this.#questions.splice(this.#questions.indexOf(question), 1)
      if (this.#questions.length === 0 && this.#work !== undefined) this.#work.startedAt += this.#now() - this.#askedAt
      this.#paint()
    }
  }

  #onKey(key: Key): void {
    if (this.#held === undefined) this.#press(key)
    else this.#held.push(key)
  }

  /** Deals with the keys that were held, and with those to come. */
  #release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const key of held) this.#onKey(key)
    this.#paint()
  }

  #press(key: Key): void {
    this.#hint = undefined
    const name = key.type === 'key' ? key.name : undefined
    if (name === 'ctrl-c') this.#onCtrlC()
    else if (name === 'ctrl-z') this.#suspend()
    else if (name === 'ctrl-l') void Promise.all([this.#screen.clear(), this.#io.stdout.writeRaw(CLEAR_ALL)])
    else if (name === 'escape') this.#onEscape()
    else if (this.#isForQuestion() && this.#questions[0]?.isShown === true) this.#answer(key, this.#questions[0])
    else this.#onDraftKey(key, name)
    this.#paint()
  }

  /** What follows an answer at once may belong to the next question, which is not there yet. */
  #answer(key: Key, question: Question): void {
    const pressed = key.type === 'text' ? key.text : ''
    const isRepeated = pressed !== '' && pressed === this.#answered.key && this.#now() - this.#answered.at < REPEAT_MS
    this.#answered = { key: pressed, at: this.#now() }
    // A key that is held down has answered the question before, which was another one.
    if (isRepeated && question.choices !== undefined) return
    question.press(key)
    if (!question.isSettled) return
    this.#held = []
    void setImmediate().then(() => this.#release())
  }

  /** Keys answer a question, but for those of somebody who was in the middle of a word when it came up. */
  #isForQuestion(): boolean {
    if (this.#questions.length === 0) return false
    return this.#composer.isEmpty || this.#now() - this.#typedAt >= TYPING_MS
  }

  #onDraftKey(key: Key, name: string | undefined): void {
    this.#typedAt = this.#now()
    const { isEmpty, searching } = this.#composer
    const waiting = name === 'up' && isEmpty && searching === undefined ? this.#queue.pop() : undefined
    if (waiting !== undefined) {
      // What waits to be said can be taken back.
      const steering = this.#behind?.steering
      if (steering?.followUps.at(-1)?.content === waiting) steering.takeBack()
      this.#composer.write(waiting)
    } else if (name === 'tab') {
      this.#held = []
      void this.#composer.complete().then(() => this.#release())
    } else if (name === 'ctrl-d' && isEmpty) {
      this.leave()
    } else if (name === 'ctrl-o') {
      this.#behind?.runNow('/show')
    } else {
      const message = this.#composer.press(key)
      if (message !== undefined) this.#send(message)
    }
  }

  #send(message: string): void {
    if (this.#work !== undefined) {
      if (this.#behind?.runNow(message) === true) return
      if (slashOf(message) === undefined) this.#behind?.steering.followUp(message)
    }
    this.#queue.push(message)
    this.#wake?.()
  }

  #onEscape(): void {
    if (this.#work !== undefined) this.#stop(this.#work)
    else if (this.#questions.length > 0) this.#questions[0]?.settle()
    else if (this.#composer.searching !== undefined) this.#composer.endSearch()
    else this.#composer.candidates = []
  }

  #onCtrlC(): void {
    const isSecond = this.#now() - this.#stoppedAt < AGAIN_MS
    this.#stoppedAt = this.#now()
    if (isSecond) {
      this.leave()
    } else if (this.#work !== undefined || this.#questions.length > 0) {
      this.#onEscape()
    } else if (this.#composer.searching !== undefined || !this.#composer.isEmpty) {
      if (this.#composer.searching === undefined) this.#composer.clear()
      else this.#composer.giveUpSearch()
      this.#stoppedAt = -Infinity
    } else {
      this.#hint = 'Ctrl-C again leaves'
    }
  }

  /** What was to be said next is there to be changed. */
  #stop(work: Work): void {
    work.stop.abort(interruption())
    this.#composer.takeBack(this.#queue)
    this.#queue = []
    this.#behind?.steering.takeFollowUps()
  }

  #suspend(): void {
    this.#isAway = true
    this.#screen.clear().then(
      () => this.#input.suspend(),
      () => this.leave(),
    )
  }

  #region(): Painting {
    const { stdout } = this.#io
    const [question] = this.#questions
    const isForQuestion = this.#isForQuestion()
    // While the user is asked, the question is all that there is to see.
    const work = question === undefined ? this.#work : undefined
    const waits = question !== undefined && !isForQuestion ? 'there is a question: stop typing to answer it' : undefined
    const state = {
      draft: this.#composer.draft,
      tail: this.#tail,
      running: work === undefined ? [] : (this.#calls?.running ?? []),
      elapsed: work === undefined ? undefined : this.#now() - work.startedAt,
      queued: this.#work === undefined && this.#behind !== undefined ? [] : this.#queue,
      candidates: this.#composer.candidates,
      question: isForQuestion ? question : undefined,
      status: this.#behind?.status(stdout.columns - 1) ?? this.#untilReady,
      hint: this.#hint ?? this.#composer.searching ?? waits,
    }
    return regionOf(state, { columns: stdout.columns, rows: stdout.rows, style: this.style })
  }

  #paint(): void {
    if (this.#isClosed || this.#isAway) return
    clearTimeout(this.#paintTimer)
    this.#paintTimer = undefined
    this.#screen.paint(this.#region()).catch(() => this.leave())
    const [question] = this.#questions
    if (question === undefined) return
    // The question takes the keyboard when the typing has ended.
    if (this.#isForQuestion()) question.isShown = true
    else this.#paintTimer = setTimeout(() => this.#paint(), TYPING_MS).unref()
  }
}

/** Resolves when input that is there has been read: input is read between two of these. */
async function inputRead(): Promise<void> {
  await setImmediate()
  await setImmediate()
}
