/**
 * Runs a program in a process group, and ends the whole group.
 *
 * Programs that leave the group, as daemons do, are found by a variable that they inherit from its environment. This needs `/proc`;
 * a program that clears its environment is not found.
 */

import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { groups, kept, release } from './group-keeper.ts'

export interface GroupOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly onOutput: (piece: Buffer) => void
  /** Receives standard error; default `onOutput`. */
  readonly onErrorOutput?: (piece: Buffer) => void
  /** Opens standard input for `write`; default: the program has no input. */
  readonly takesInput?: boolean
  /** Stops the group when it is aborted. */
  readonly signal?: AbortSignal
  /** Milliseconds after which the group is stopped; default never. */
  readonly timeout?: number
  /** Bytes of output after which the group is stopped; default unlimited. */
  readonly maxOutput?: number
  /** Also ends programs that have left the group; default false. */
  readonly endsStragglers?: boolean
}

/** The reason for stopping a group: the abort signal, the time limit or the output limit. */
export type Stopped = 'signal' | 'timeout' | 'output'

export interface GroupEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Milliseconds from SIGTERM to SIGKILL. */
const GRACE = 800
const GRACE_WHEN_SILENT = 100
const STEP = 5
/** Milliseconds between looks for programs that have left the group; each look takes longer. */
const STRAGGLER_STEP = 20
/** Rounds of stopping stragglers: a process that starts meanwhile is found in the next round. */
const MAX_ROUNDS = 10
/** Milliseconds to wait for remaining output after the end. */
const DRAIN = 1000

/** Marks of running groups, so that stragglers are ended when our own process ends. */
const marks = new Set<string>()

export class ProcessGroup {
  readonly #child: ChildProcess
  /** The mark in the environment of all programs of the group. */
  readonly #mark: string | undefined
  #stopped: Stopped | undefined
  /** Resolves when the program runs; never resolves when it cannot be started. */
  readonly spawned: Promise<void>
  /** Resolves when the program and all of its group have ended; rejects when it could not be started. */
  readonly ended: Promise<GroupEnd>

  constructor(program: string, words: readonly string[], options: GroupOptions) {
    const { cwd, onOutput, takesInput = false, maxOutput = Infinity } = options
    if (!process.listeners('exit').includes(endAll)) process.on('exit', endAll)
    const id = options.endsStragglers === true ? randomUUID() : undefined
    this.#mark = id === undefined ? undefined : `${VARIABLE}=${id}`
    const env = id === undefined ? options.env : { ...options.env, [VARIABLE]: id }
    // A separate session, so that neither prompts nor signals of the terminal reach the program.
    const start = (): ChildProcess =>
      process
        .getBuiltinModule('node:child_process')
        .spawn(program, words, { cwd, env, detached: true, stdio: [takesInput ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
    this.#child = kept(start)
    const { stdin, stdout, stderr } = this.#child
    if (this.#mark !== undefined) marks.add(this.#mark)
    let size = 0
    const read = (piece: Buffer): void => {
      size += piece.length
      onOutput(piece)
      if (size > maxOutput) this.#stopFor('output')
    }
    // A program that no longer reads has ended or is about to.
    stdin?.on('error', () => {})
    stdout?.on('data', read)
    stderr?.on('data', options.onErrorOutput ?? read)
    this.spawned = new Promise((resolve) => {
      this.#child.once('spawn', () => resolve())
    })
    this.ended = this.#endWithin(options)
  }

  /** The reason for stopping the group; `undefined` if it ended by itself or by `stop()`. */
  get stopped(): Stopped | undefined {
    return this.#stopped
  }

  /** Bytes of input that the program has not read yet. */
  get unread(): number {
    return this.#child.stdin?.writableLength ?? 0
  }

  write(text: string): void {
    this.#child.stdin?.write(text)
  }

  endInput(): void {
    this.#child.stdin?.end()
  }

  /** Sends SIGTERM to the group, and SIGKILL after the grace period. */
  stop(): void {
    const { pid } = this.#child
    if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return
    setTimeout(() => {
      // The system may reuse the id once the group is gone.
      if (groups.has(pid)) signalGroup(pid, 'SIGKILL')
    }, GRACE).unref()
  }

  #stopFor(reason: Stopped): void {
    if (this.#stopped === undefined) this.stop()
    this.#stopped ??= reason
  }

  async #endWithin({ signal, timeout }: GroupOptions): Promise<GroupEnd> {
    const onAbort = (): void => this.#stopFor('signal')
    const timer = timeout === undefined ? undefined : setTimeout(() => this.#stopFor('timeout'), timeout)
    if (signal?.aborted === true) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await this.#end()
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      if (this.#mark !== undefined) await endStragglers(this.#mark)
    }
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
    if (pid !== undefined) {
      // Ends programs that still run in the background.
      if (signalGroup(pid, 'SIGTERM') && isRunning(pid)) await untilGone(pid, closed)
      release(pid)
    }
    const late = new AbortController()
    await Promise.race([closed, sleep(DRAIN, undefined, { signal: late.signal, ref: false }).catch(() => {})])
    late.abort()
    // A program that left the group may still hold the pipes open.
    for (const stream of child.stdio) stream?.destroy()
    return end
  }
}

/** Waits for the end of the group, then kills it. Waits only briefly once its output is closed, because outside Linux a zombie looks alive. */
async function untilGone(pid: number, closed: Promise<void>): Promise<void> {
  let left = GRACE
  void closed.then(() => {
    left = Math.min(left, GRACE_WHEN_SILENT)
  })
  for (; left > 0; left -= STEP) {
    await sleep(STEP)
    if (!isRunning(pid)) return
  }
  signalGroup(pid, 'SIGKILL')
}

/** Returns whether a process of the group received the signal. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** Returns whether a process of the group is alive, zombies not counted. */
function isRunning(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  if (process.platform !== 'linux') return true
  return processes().some((pid) => {
    // The process name, in parentheses, may hold spaces and parentheses.
    const [state = '', , of] = fileOf(pid, 'stat')
      .replace(/^.*\) /s, '')
      .split(' ', 3)
    return Number(of) === group && !'ZX'.includes(state)
  })
}

const VARIABLE = 'CRIA_COMMAND'

/** Ends stragglers: SIGTERM, and SIGKILL after the grace period. */
async function endStragglers(mark: string): Promise<void> {
  let left = signalMarked(mark, 'SIGTERM')
  for (let waited = 0; left > 0 && waited < GRACE; waited += STRAGGLER_STEP) {
    await sleep(STRAGGLER_STEP)
    left = signalMarked(mark, 0)
  }
  for (let round = 0; left > 0 && round < MAX_ROUNDS; round++) {
    left = signalMarked(mark, 'SIGKILL')
    if (left > 0) await sleep(STRAGGLER_STEP)
  }
  marks.delete(mark)
}

/** Returns how many processes carry the mark and received the signal. */
function signalMarked(mark: string, name: NodeJS.Signals | 0): number {
  let count = 0
  for (const pid of processes()) {
    if (!`\0${fileOf(pid, 'environ')}\0`.includes(`\0${mark}\0`)) continue
    try {
      process.kill(Number(pid), name)
      count++
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
  return count
}

/** Returns the ids of all processes; none without `/proc`. */
function processes(): readonly string[] {
  if (process.platform !== 'linux') return []
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** Returns an empty text for a process that has ended, is a zombie, or belongs to another user. */
function fileOf(pid: string, name: 'stat' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}

function endAll(): void {
  for (const pid of groups) signalGroup(pid, 'SIGKILL')
  for (const mark of marks) for (let round = 0; round < MAX_ROUNDS && signalMarked(mark, 'SIGKILL') > 0; round++);
}
