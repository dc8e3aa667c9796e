/** Talks to a server that runs as a program: one JSON-RPC message a line. The program's whole process group ends with it. */

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isRecord } from '../../util/check.ts'
import { BoundedOutput } from '../builtin/bounded-output.ts'
import { ProcessGroup } from '../builtin/process-group.ts'
import type { StdioEndpoint } from './server-config.ts'

/** Bytes of one message, and of what the server has not read yet. */
export const MAX_MESSAGE = 16_000_000
/** Lines that are no messages, from one answer to the next: some servers write their log there, and work all day. */
const MAX_NOISE = 1000
/** Messages that nobody asked for, answers to nothing among them, from one answer to the next. */
const MAX_UNASKED = 10_000
/** Milliseconds that a server has to end by itself when its input ends. */
const POLITE_END = 300

export class StdioTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport['onmessage']

  readonly #launch: StdioEndpoint
  /** What the program says beside the protocol. */
  readonly #said = new BoundedOutput()
  #group: ProcessGroup | undefined
  #pending: Buffer[] = []
  #pendingLength = 0
  #noise = 0
  #unasked = 0
  /** Requests that were not answered yet. */
  readonly #open = new Set<string>()
  #closed = false
  #isConfined = false
  #delivered: Promise<void> = Promise.resolve()
  #failure: string | undefined

  constructor(launch: StdioEndpoint) {
    this.#launch = launch
  }

  get isConfined(): boolean {
    return this.#isConfined
  }

  /** Why the connection ended; absent while it stands, and when it was closed from here. */
  get failure(): string | undefined {
    return this.#failure
  }

  get said(): string {
    return this.#said.text()
  }

  async start(): Promise<void> {
    const { command, args, env, cwd, sandbox, reach, confinedEnv } = this.#launch
    const entered = await sandbox.enter([command, ...args], reach, cwd)
    // It was closed before it began.
    if (this.#closed) return
    this.#isConfined = entered.kind !== 'none'
    const group = new ProcessGroup(entered.program, entered.words, {
      cwd,
      env: this.#isConfined ? confinedEnv : env,
      takesInput: true,
      onOutput: (piece) => this.#read(piece),
      onErrorOutput: (piece) => this.#said.add(piece),
    })
    this.#group = group
    const leave = async (): Promise<void> => void (await entered.leave())
    group.ended.then(leave, leave).catch(() => {})
    group.ended.then(
      ({ code, signal }) => this.#end(this.#endingOf(code, signal)),
      (cause: unknown) => this.#end(`it cannot be started: ${cause instanceof Error ? cause.message : String(cause)}`),
    )
    await Promise.race([group.spawned, group.ended])
  }

  #endingOf(code: number | null, signal: NodeJS.Signals | null): string {
    if (signal !== null) return `it was ended by ${signal}`
    // So the shell that sets the limits tells of a program that is not there.
    const isMissing = this.#isConfined && code === 127
    return isMissing
      ? `it cannot be started: ENOENT, there is no ${this.#launch.command} in the sandbox`
      : `it ended with exit code ${code}`
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const group = this.#group
    if (group === undefined || this.#closed) throw new Error('The server is not running.')
    if (group.unread > MAX_MESSAGE) {
      this.#fail('it does not read what it is sent')
      throw new Error('The server does not read what it is sent.')
    }
    if ('method' in message && 'id' in message) this.#open.add(String(message.id))
    group.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    const group = this.#group
    if (group === undefined) return this.#end()
    group.endInput()
    const ended = group.ended.catch(() => {})
    const stop = setTimeout(() => group.stop(), POLITE_END)
    this.#end()
    await ended
    clearTimeout(stop)
  }

  #read(piece: Buffer): void {
    if (this.#closed) return
    let start = 0
    for (let end = piece.indexOf(10); end >= 0 && !this.#closed; end = piece.indexOf(10, start)) {
      this.#pending.push(piece.subarray(start, end))
      const line = Buffer.concat(this.#pending).toString('utf8')
      this.#pending = []
      this.#pendingLength = 0
      start = end + 1
      this.#line(line)
    }
    const rest = piece.subarray(start)
    this.#pending.push(rest)
    this.#pendingLength += rest.length
    if (this.#pendingLength > MAX_MESSAGE) this.#fail(`it sent a message of more than ${MAX_MESSAGE / 1_000_000} MB`)
  }

  #line(line: string): void {
    if (line.trim() === '') return
    const message = messageIn(line)
    if (message === undefined) {
      this.#said.add(Buffer.from(`${line.slice(0, 1000)}\n`))
      if (++this.#noise > MAX_NOISE) this.#fail('it writes to standard output what is no message of the protocol')
      return
    }
    if (!('method' in message) && this.#open.delete(String(message.id))) this.#noise = this.#unasked = 0
    else if (++this.#unasked > MAX_UNASKED) return this.#fail('it floods with messages that nobody asked for')
    this.#deliver(message)
  }

  /** The client hears of a notification a little later, and of an answer at once: progress would be lost that comes with its answer. */
  #deliver(message: JSONRPCMessage): void {
    this.#delivered = this.#delivered
      .then(() => this.onmessage?.(message))
      .catch((thrown: unknown) => this.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown))))
  }

  /** Whoever waits for an answer is told at once; the program is ended meanwhile. */
  #fail(reason: string): void {
    this.#group?.stop()
    this.#end(reason)
  }

  #end(reason?: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#failure = reason
    this.#pending = []
    this.onclose?.()
  }
}

/** What has the form of a JSON-RPC message. An answer that has none becomes an error: whoever waits for it is not left waiting. */
function messageIn(line: string): JSONRPCMessage | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isRecord(value) || value['jsonrpc'] !== '2.0') return undefined
  const { id, method, result, error } = value
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') return undefined
  if (typeof method === 'string') return value as unknown as JSONRPCMessage
  if (id === undefined) return undefined
  const isAnswer =
    isRecord(result) || (isRecord(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string')
  if (isAnswer) return value as unknown as JSONRPCMessage
  return { jsonrpc: '2.0', id, error: { code: NO_ANSWER, message: 'what it sent is no answer' } }
}

/** "Invalid request", which is the nearest that JSON-RPC has. */
const NO_ANSWER = -32_600
