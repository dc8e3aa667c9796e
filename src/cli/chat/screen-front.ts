/** A chat on a terminal that can move the cursor: the user can type, stop the turn and answer questions while the model works. */

import { setImmediate } from 'node:timers/promises'
import type { HomePaths } from '../../app/paths.ts'
import { wrapWords } from '../../util/cells.ts'
import { exactText, visibleText } from '../../util/terminal.ts'
import type { Io } from '../io.ts'
import type { ToolCalls } from '../tool-calls.ts'
import { Composer } from './composer.ts'
import type { Completable } from './composer.ts'
import { Question } from './editor.ts'
import { interruption } from './front.ts'
import type { ConversationControls, Choice, ChooseOptions, Events, Front } from './front.ts'
import { echoOf, regionOf, Screen } from './screen.ts'
import type { Painting } from './screen.ts'
import { slashOf } from './slash.ts'
import { TerminalInput } from './terminal-input.ts'
import type { Key } from './terminal-input.ts'

export interface ScreenOptions {
  readonly io: Io
  readonly paths: HomePaths
  readonly completable: Completable
  readonly now?: () => number
}

/** Milliseconds. */
const MS = {
  /** A second Ctrl-C within this time leaves. */
  second: 2000,
  /** For so long after a key in the draft, keys do not answer a question that has just appeared. */
  typing: 700,
  /** A key that is held down repeats faster than this. */
  repeat: 200,
  /** Delay of a painting, so that a fast stream does not repaint for each piece. */
  paint: 30,
  /** Interval at which the elapsed time is repainted. */
  tick: 1000,
  /** After this time a slow start, such as that of MCP servers, is shown. */
  slowStart: 500,
} as const
/** Indentation, in cells, of the continuation lines of a note. */
const NOTE_INDENT = 2
// Erases the screen. Some terminals move it to the scrollback, so the painted rows are erased before.
const CLEAR_ALL = '\u001B[2J\u001B[H'

/** Work in progress: a turn, or a command of the user. */
interface Work {
  readonly stop: AbortController
  /** Start time, moved forward by the time that questions were open. */
  startedAt: number
}

export class ScreenFront implements Front {
  readonly canAsk = true
  readonly style: Front['style'] = (style, text) => this.#io.stdout.style(style, text)
  /** Leaving has stopped work in progress. */
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
  #controls: ConversationControls | undefined
  #work: Work | undefined
  #calls: ToolCalls | undefined
  /** Messages that wait for the end of the current turn. */
  #queue: string[] = []
  /** Keys that wait for a completion or for the history; `undefined`: keys are handled at once. */
  #held: Key[] | undefined = []
  #tail = ''
  #hint: string | undefined
  /** Shown until the conversation provides the status. */
  #untilReady = ''
  /** A message was printed before, so the next one is separated by a blank line. */
  #hasMessages = false
  /** Time at which the first open question was asked. */
  #askedAt = 0
  #stoppedAt = -Infinity
  #typedAt = -Infinity
  #answered = { key: '', at: -Infinity }
  #isClosed = false
  /** The process is suspended, and the shell uses the terminal. */
  #isSuspended = false
  /** Continues `next`, which waits for a message or the end. */
  #notify: (() => void) | undefined
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
      onResume: () => {
        this.#isSuspended = false
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
      this.#untilReady = 'starting; Ctrl-C twice leaves'
      this.#paint()
    }, MS.slowStart).unref()
    void this.#composer.loadHistory().then(() => this.#release())
  }

  get columns(): number {
    return this.#io.stdout.columns
  }

  /** Aborted when the user leaves. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  attach(controls: ConversationControls): void {
    this.#controls = controls
    clearTimeout(this.#slowStart)
    this.#paint()
  }

  async next(): Promise<string | undefined> {
    while (this.#queue.length === 0 && !this.leaving.aborted) {
      this.#paint()
      await new Promise<void>((resolve) => {
        this.#notify = resolve
      })
    }
    if (this.leaving.aborted) return undefined
    const message = this.#queue.shift() ?? ''
    // A message that was typed during the last turn becomes the prompt of this one.
    const steering = this.#controls?.steering
    if (steering?.followUps[0]?.content === message) steering.takeFollowUp()
    await this.print(`${this.#hasMessages ? '\n' : ''}${echoOf(message, this.style)}`)
    this.#hasMessages = true
    return message
  }

  async print(text: string): Promise<void> {
    if (text === '' || this.#isClosed) return
    await this.#screen.commit(text.endsWith('\n') ? text : `${text}\n`, this.#region())
  }

  note(text: string): Promise<void> {
    return this.print(`${this.style('dim', wrapWords(visibleText(text), this.columns, NOTE_INDENT))}\n`)
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
      // Loaded on use: the renderer of answers is not needed before the first one.
      const { showOnScreen } = await import('./turn-view.ts')
      return showOnScreen(events, calls, this, this.#io, (tail) => {
        this.#tail = tail ?? this.#tail
        this.#paintTimer ??= setTimeout(() => this.#paint(), MS.paint)
      })
    })
  }

  async busy<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController()
    this.#work = { stop, startedAt: this.#now() }
    const ticker = setInterval(() => this.#paint(), MS.tick).unref()
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
    this.#notify?.()
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
    const isWithdrawn = (): boolean => signal?.aborted === true || this.leaving.aborted
    if (isWithdrawn()) return undefined
    // Keys that were pressed before the question was visible must not answer it, so pending input is read first. After an answer, further keys
    // are meant for the next question.
    if (this.#now() - this.#answered.at >= MS.typing) await inputRead()
    if (isWithdrawn()) return undefined
    const withdraw = (): void => question.settle()
    signal?.addEventListener('abort', withdraw, { once: true })
    if (this.#questions.length === 0) this.#askedAt = this.#now()
    this.#questions.push(question)
    this.#paint()
    try {
      return await question.answer
    } finally {
      signal?.removeEventListener('abort', withdraw)
      this.#questions.splice(this.#questions.indexOf(question), 1)
      if (this.#questions.length === 0 && this.#work !== undefined) this.#work.startedAt += this.#now() - this.#askedAt
      this.#paint()
    }
  }

  #onKey(key: Key): void {
    if (this.#held === undefined) this.#press(key)
    else this.#held.push(key)
  }

  /** Handles the keys that were held, and later keys at once. */
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

  /** Applies a key to a question. Keys right after an answer are held, because they may be meant for the next question. */
  #answer(key: Key, question: Question): void {
    const pressed = key.type === 'text' ? key.text : ''
    const isRepeated = pressed !== '' && pressed === this.#answered.key && this.#now() - this.#answered.at < MS.repeat
    this.#answered = { key: pressed, at: this.#now() }
    // A key that is held down has answered the previous question only.
    if (isRepeated && question.choices !== undefined) return
    question.press(key)
    if (!question.isSettled) return
    this.#held = []
    void setImmediate().then(() => this.#release())
  }

  /** Returns whether keys answer the question: not while the user is typing a message. */
  #isForQuestion(): boolean {
    if (this.#questions.length === 0) return false
    return this.#composer.isEmpty || this.#now() - this.#typedAt >= MS.typing
  }

  #onDraftKey(key: Key, name: string | undefined): void {
    this.#typedAt = this.#now()
    const { isEmpty, searching } = this.#composer
    const waiting = name === 'up' && isEmpty && searching === undefined ? this.#queue.pop() : undefined
    if (waiting !== undefined) {
      // A waiting message can be taken back and edited.
      const steering = this.#controls?.steering
      if (steering?.followUps.at(-1)?.content === waiting) steering.takeBack()
      this.#composer.write(waiting)
    } else if (name === 'tab') {
      this.#held = []
      void this.#composer.complete().then(() => this.#release())
    } else if (name === 'ctrl-d' && isEmpty) {
      this.leave()
    } else if (name === 'ctrl-o') {
      this.#controls?.runNow('/show')
    } else {
      const message = this.#composer.press(key)
      if (message !== undefined) this.#send(message)
    }
  }

  #send(message: string): void {
    if (this.#work !== undefined) {
      if (this.#controls?.runNow(message) === true) return
      if (slashOf(message) === undefined) this.#controls?.steering.followUp(message)
    }
    this.#queue.push(message)
    this.#notify?.()
  }

  #onEscape(): void {
    if (this.#work !== undefined) this.#stop(this.#work)
    else if (this.#questions.length > 0) this.#questions[0]?.settle()
    else if (this.#composer.searching !== undefined) this.#composer.endSearch()
    else this.#composer.candidates = []
  }

  #onCtrlC(): void {
    const isSecond = this.#now() - this.#stoppedAt < MS.second
    this.#stoppedAt = this.#now()
    if (isSecond) {
      this.leave()
    } else if (this.#work !== undefined || this.#questions.length > 0) {
      this.#onEscape()
    } else if (this.#composer.searching !== undefined || !this.#composer.isEmpty) {
      if (this.#composer.searching === undefined) this.#composer.clear()
      else this.#composer.cancelSearch()
      this.#stoppedAt = -Infinity
    } else {
      this.#hint = 'Ctrl-C again leaves'
    }
  }

  /** Stops the work, and puts the waiting messages into the draft. */
  #stop(work: Work): void {
    work.stop.abort(interruption())
    this.#composer.takeBack(this.#queue)
    this.#queue = []
    this.#controls?.steering.takeFollowUps()
  }

  #suspend(): void {
    this.#isSuspended = true
    this.#screen.clear().then(
      () => this.#input.suspend(),
      () => this.leave(),
    )
  }

  #region(): Painting {
    const { stdout } = this.#io
    const [question] = this.#questions
    const isForQuestion = this.#isForQuestion()
    // An open question hides the progress.
    const work = question === undefined ? this.#work : undefined
    const waits = question !== undefined && !isForQuestion ? 'there is a question: stop typing to answer it' : undefined
    const state = {
      draft: this.#composer.draft,
      tail: this.#tail,
      running: work === undefined ? [] : (this.#calls?.running ?? []),
      elapsed: work === undefined ? undefined : this.#now() - work.startedAt,
      queued: this.#work === undefined && this.#controls !== undefined ? [] : this.#queue,
      candidates: this.#composer.candidates,
      question: isForQuestion ? question : undefined,
      status: this.#controls?.status(stdout.columns - 1) ?? this.#untilReady,
      hint: this.#hint ?? this.#composer.searching ?? waits,
    }
    return regionOf(state, { columns: stdout.columns, rows: stdout.rows, style: this.style })
  }

  #paint(): void {
    if (this.#isClosed || this.#isSuspended) return
    clearTimeout(this.#paintTimer)
    this.#paintTimer = undefined
    this.#screen.paint(this.#region()).catch(() => this.leave())
    const [question] = this.#questions
    if (question === undefined) return
    // Keys answer the question once it has been painted and the user has stopped typing.
    if (this.#isForQuestion()) question.isShown = true
    else this.#paintTimer = setTimeout(() => this.#paint(), MS.typing).unref()
  }
}

/** Resolves after pending input was read: the event loop reads input between two immediates. */
async function inputRead(): Promise<void> {
  await setImmediate()
  await setImmediate()
}
