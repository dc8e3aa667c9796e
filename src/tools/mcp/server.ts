/** Keeps a server running: starts it on demand, restarts it when it ends, and gives up after repeated failures. */

import { CriaError } from '../../core/error.ts'
import { orAborted } from '../../util/promise.ts'
import type { Definition, ReadDefinitions } from './definition.ts'
import { Session } from './session.ts'
import type { CallOptions, McpClientModule, ServerOptions } from './session.ts'

const MAX_FAILURES = 5
/** Milliseconds to wait after the first failed start; doubles with each further failure. */
const FIRST_WAIT = 500
/** Milliseconds that a call waits for a restart at most; for a longer wait the call fails with a message. */
const PATIENCE = 4500
const PING = 2000

export class Server {
  readonly name: string
  /** Milliseconds for a call. */
  readonly timeout: number
  readonly #sdk: McpClientModule
  readonly #options: ServerOptions
  readonly #closing = new AbortController()
  #session: Session | undefined
  #starting: Promise<Session> | undefined
  #tools: ReadDefinitions = { definitions: [], problems: [] }
  #failures = 0
  #notBefore = 0
  /** A call has timed out, so the server may not answer at all. */
  #isSuspect = false

  constructor(sdk: McpClientModule, options: ServerOptions) {
    this.#sdk = sdk
    this.#options = options
    this.name = options.name
    this.timeout = options.timeout
  }

  get tools(): ReadDefinitions {
    return this.#tools
  }

  /** @throws CriaError with the reason why the server cannot be used. */
  async start(signal?: AbortSignal): Promise<void> {
    const started = this.#ready()
    await (signal === undefined ? started : orAborted(started, signal))
  }

  /**
   * @param tool definition as offered; the tool is not called when the server has changed it since.
   * @throws CriaError that describes the failure; the signal's reason when it is aborted.
   */
  async call(
    tool: Definition,
    input: Readonly<Record<string, unknown>>,
    options: Omit<CallOptions, 'timeout'>,
  ): Promise<unknown> {
    const { signal } = options
    const session = await orAborted(this.#ready(), signal)
    const now = this.#tools.definitions.find(({ name }) => name === tool.name)
    if (now?.fingerprint !== tool.fingerprint) {
      const what = now === undefined ? 'no longer has this tool' : 'has changed the description or the arguments of this tool'
      throw new CriaError('tool_failure', `The MCP server "${this.name}" ${what} since it was offered; it was not called.`)
    }
    try {
      const result = await session.call(tool.name, input, { ...options, timeout: this.timeout })
      this.#failures = 0
      return result
    } catch (thrown) {
      if (thrown instanceof CriaError && thrown.code === 'timeout') this.#isSuspect = true
      if (!session.isOpen && !signal.aborted) this.#failed()
      throw thrown
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new DOMException('The MCP servers were closed.', 'AbortError'))
    const starting = this.#starting?.catch(() => undefined)
    await Promise.all([this.#session?.close(), starting?.then((session) => session?.close())])
    this.#session = undefined
  }

  async #ready(): Promise<Session> {
    if (this.#closing.signal.aborted) throw new CriaError('tool_failure', `The MCP server "${this.name}" was closed.`)
    if (this.#starting !== undefined) return this.#starting
    const session = this.#session
    if (session?.isOpen === true && !this.#isSuspect && !session.isStale) return session
    this.#starting = this.#renew(session)
    try {
      return await this.#starting
    } finally {
      this.#starting = undefined
    }
  }

  async #renew(session: Session | undefined): Promise<Session> {
    const { startTimeout } = this.#options
    if (session?.isOpen === true && (!this.#isSuspect || (await session.answers(PING)))) {
      this.#isSuspect = false
      if (session.isStale) this.#tools = await session.list(this.#closing.signal, startTimeout)
      return session
    }
    this.#isSuspect = false
    this.#session = undefined
    await session?.close()
    await this.#waitForTurn()
    const next = new Session(this.#sdk, this.#options)
    const deadline = AbortSignal.any([this.#closing.signal])
    try {
      await next.connect(deadline, startTimeout)
      this.#tools = await next.list(deadline, startTimeout)
    } catch (thrown) {
      await next.close()
      this.#failed()
      throw thrown
    }
    this.#session = next
    return next
  }

  #failed(): void {
    this.#failures++
    this.#notBefore = this.#options.clock.now() + (this.#failures === 1 ? 0 : FIRST_WAIT * 2 ** (this.#failures - 2))
  }

  async #waitForTurn(): Promise<void> {
    const { clock } = this.#options
    if (this.#failures >= MAX_FAILURES) {
      throw new CriaError(
        'tool_failure',
        `The MCP server "${this.name}" has failed ${MAX_FAILURES} times in a row and is not started again.`,
      )
    }
    const wait = this.#notBefore - clock.now()
    if (wait > PATIENCE) {
      throw new CriaError(
        'tool_failure',
        `The MCP server "${this.name}" has failed ${this.#failures} times in a row and is started again in ${Math.ceil(wait / 1000)} s at the earliest.`,
      )
    }
    if (wait > 0) await clock.sleep(wait, this.#closing.signal)
  }
}
