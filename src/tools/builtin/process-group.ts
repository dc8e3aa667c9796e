/** Runs a program in a process group, and ends the whole group. */

import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { kept, release } from './group-keeper.ts'

export interface GroupOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly onOutput: (piece: Buffer) => void
  /** What comes on standard error; default `onOutput`. */
  readonly onErrorOutput?: (piece: Buffer) => void
  /** The program is written to; default: it gets no input. */
  readonly takesInput?: boolean
}

export interface GroupEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Milliseconds from SIGTERM to SIGKILL. */
const GRACE = 800
const GRACE_WHEN_SILENT = 100
const STEP = 5
/** Milliseconds that output of what has ended may still take. */
const DRAIN = 1000

/** Groups that are alive: an end of our own process must not leave them behind. */
const alive = new Set<number>()

export class ProcessGroup {
  readonly #child: ChildProcess
  /** Resolves when the program runs; never, when it could not be started. */
  readonly spawned: Promise<void>
  /** Resolves when the program and all of its group have ended; rejects when it could not be started. */
  readonly ended: Promise<GroupEnd>

  constructor(program: string, words: readonly string[], options: GroupOptions) {
    const { cwd, env, onOutput, onErrorOutput = onOutput, takesInput = false } = options
    // A session of its own: the terminal is out of reach, for questions as for signals.
    const start = (): ChildProcess =>
      process
        .getBuiltinModule('node:child_process')
        .spawn(program, words, { cwd, env, detached: true, stdio: [takesInput ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
    this.#child = watched(start)
    const { stdin, stdout, stderr } = this.#child
    // Whoever does not read any more has ended, or is about to.
    stdin?.on('error', () => {})
    stdout?.on('data', onOutput)
    stderr?.on('data', onErrorOutput)
    this.spawned = new Promise((resolve) => {
      this.#child.once('spawn', () => resolve())
    })
    this.ended = this.#end()
  }

  /** Bytes that were written and not taken yet. */
  get unread(): number {
    return this.#child.stdin?.writableLength ?? 0
  }

  write(text: string): void {
    this.#child.stdin?.write(text)
  }

  endInput(): void {
    this.#child.stdin?.end()
  }

  /** SIGTERM to all of the group, SIGKILL to what is left after the grace. */
  stop(): void {
    const { pid } = this.#child
    if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return
    setTimeout(() => {
      // An id may belong to somebody else once its group is gone.
      if (alive.has(pid)) signalGroup(pid, 'SIGKILL')
    }, GRACE).unref()
  }

  async #end(): Promise<GroupEnd> {
    const child = this.#child
    const closed = new Promise<void>((resolve) => {
      child.once('close', () => resolve())
    })
    const end = await new Promise<GroupEnd>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve({ code, signal }))
    })
    const { pid } = child
    // What still runs in the background runs for nobody.
    if (pid !== undefined && signalGroup(pid, 'SIGTERM') && isRunning(pid)) await untilGone(pid, closed)
    if (pid !== undefined) unwatch(pid)
    const giveUp = AbortSignal.timeout(DRAIN)
    await Promise.race([closed, new Promise((resolve) => giveUp.addEventListener('abort', resolve, { once: true }))])
    // A program that left the group may still hold the other end.
    child.stdin?.destroy()
    child.stdout?.destroy()
    child.stderr?.destroy()
    return end
  }
}

/** A group that has let go of the output has little time left: where the dead cannot be told from the living, nobody may reap them. */
async function untilGone(pid: number, closed: Promise<void>): Promise<void> {
  let left = GRACE
  void closed.then(() => {
    left = Math.min(left, GRACE_WHEN_SILENT)
  })
  for (; left > 0; left -= STEP) {
    await new Promise((resolve) => {
      setTimeout(resolve, STEP)
    })
    if (!isRunning(pid)) return
  }
  signalGroup(pid, 'SIGKILL')
}

/** Whether there was anybody to hear it. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** Whether a process of the group is left that is not only waiting to be reaped. */
function isRunning(pid: number): boolean {
  if (!signalGroup(pid, 0)) return false
  if (process.platform !== 'linux') return true
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isMember(name, pid))
}

function isMember(process: string, group: number): boolean {
  try {
    // The name, in parentheses, may hold anything.
    const [state = '', , of] = readFileSync(`/proc/${process}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ', 3)
    return Number(of) === group && !'ZX'.includes(state)
  } catch {
    return false
  }
}

function watched(start: () => ChildProcess): ChildProcess {
  if (alive.size === 0 && !process.listeners('exit').includes(endAll)) process.on('exit', endAll)
  const child = kept(start)
  if (child.pid !== undefined) alive.add(child.pid)
  return child
}

function unwatch(pid: number): void {
  alive.delete(pid)
  release(pid)
}

function endAll(): void {
  for (const pid of alive) signalGroup(pid, 'SIGKILL')
}
