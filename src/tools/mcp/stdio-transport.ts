/** Connects to a server that runs as a program, with one JSON-RPC message a line. Ends the whole process group of the program. */

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isRecord } from '../../util/check.ts'
import { BoundedOutput } from '../builtin/bounded-output.ts'
import { ProcessGroup } from '../builtin/process-group.ts'
import type { StdioEndpoint } from './server-config.ts'

/** Maximum bytes of a message, and of input that the server has not read yet. */
export const MAX_MESSAGE = 16_000_000
/** Maximum lines between two responses that are not messages: some long-running servers write their log to standard output. */
const MAX_NOISE = 1000
/** Maximum unsolicited messages between two responses, including responses without a request. */
const MAX_UNASKED = 10_000
/** Milliseconds that a server has to end by itself after its input ends. */
const POLITE_END = 300

export class StdioTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: Transport['onmessage']

  readonly #launch: StdioEndpoint
  /** Output of the program outside of the protocol. */
  readonly #said = new BoundedOutput()
  #group: ProcessGroup | undefined
  #pending: Buffer[] = []
  #pendingLength = 0
  #noise = 0
  #unasked = 0
  /** Ids of open requests. */
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

  /** The reason why the connection ended; `undefined` while it is open, and after `close()`. */
  get failure(): string | undefined {
    return this.#failure
  }

  get said(): string {
    return this.#said.text()
  }

  async start(): Promise<void> {
    const { command, args, env, cwd, sandbox, reach, confinedEnv } = this.#launch
    const entered = await sandbox.enter([command, ...args], reach, cwd)
    // The transport was closed before the program started.
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
    // The shell that sets the limits reports a missing program as exit code 127.
    const isMissing = this.#isConfined && code === 127
    return isMissing
      ? `it cannot be started: ENOENT, there is no ${this.#launch.command} in the sandbox`
      : `it ended with exit code ${code}`
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const group = this.#group
    if (group === undefined || this.#closed) throw new Error('The server is not running.')
    if (group.unread > MAX_MESSAGE) {
      this.#fail('it does not read its input')
      throw new Error('The server does not read its input.')
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
      if (++this.#noise > MAX_NOISE) this.#fail('it writes lines to standard output that are not messages of the protocol')
      return
    }
    if (!('method' in message) && this.#open.delete(String(message.id))) this.#noise = this.#unasked = 0
    else if (++this.#unasked > MAX_UNASKED) return this.#fail('it sends too many unsolicited messages')
    this.#deliver(message)
  }

  /** Delivers messages in order, each in a later microtask. Otherwise the client would lose progress that arrives with its response. */
  #deliver(message: JSONRPCMessage): void {
    this.#delivered = this.#delivered
      .then(() => this.onmessage?.(message))
      .catch((thrown: unknown) => this.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown))))
  }

  /** Fails open requests at once, and ends the program meanwhile. */
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

/** Parses a line as a JSON-RPC message. A malformed response becomes an error response, so that its request does not wait. */
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
  return { jsonrpc: '2.0', id, error: { code: NO_ANSWER, message: 'its response is malformed' } }
}

/** "Invalid request", the nearest code of JSON-RPC. */
const NO_ANSWER = -32_600
