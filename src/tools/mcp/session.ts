/** Manages a connection to a server, from the handshake to the end. */

import { STATUS_CODES } from 'node:http'
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Clock } from '../../core/clock.ts'
import { ConfigurationError, CriaError } from '../../core/error.ts'
import { messageOf, shortened } from '../output.ts'
import { redact } from '../../util/redact.ts'
import { readDefinitions } from './definition.ts'
import type { ReadDefinitions } from './definition.ts'
import { httpTransport, STREAM_ENDED } from './http-transport.ts'
import type { Endpoint } from './server-config.ts'
import { StdioTransport } from './stdio-transport.ts'

const PACKAGE = '@modelcontextprotocol/client'

export type McpClientModule = typeof import('@modelcontextprotocol/client')

/** Loads the official client on first use. @throws ConfigurationError that names the package to install. */
export async function loadClient(): Promise<McpClientModule> {
  try {
    return await import('@modelcontextprotocol/client')
  } catch (cause) {
    throw new ConfigurationError(`MCP servers need the package ${PACKAGE}, which cannot be loaded.`, {
      cause,
      hint: `npm install ${PACKAGE}`,
    })
  }
}

const MAX_PAGES = 100
/** Maximum number of tools that are read of a server; fewer may be offered. */
const MAX_LISTED = 20_000
/** Milliseconds for ending an HTTP session. */
const FAREWELL = 1000
const MAX_SAID = 1500
/** Maximum number of characters in which secrets are searched; exceeds the kept output of a program. */
const MAX_REDACTED = 100_000

/** Accepts any response: `readDefinitions` and `readResult` read it as untrusted data. */
const ANYTHING = {
  '~standard': { version: 1, vendor: 'cria', validate: (value: unknown) => ({ value }) },
} as const

export interface ServerOptions {
  readonly name: string
  readonly endpoint: Endpoint
  /** Names of the tools to offer; default all. */
  readonly wanted: readonly string[] | undefined
  /** Timeout of a call in milliseconds. */
  readonly timeout: number
  readonly startTimeout: number
  readonly clock: Clock
}

export interface CallOptions {
  readonly signal: AbortSignal
  readonly timeout: number
  readonly onProgress: (content: string) => void
}

export class Session {
  readonly #options: ServerOptions
  readonly #client: Client
  readonly #transport: StdioTransport | StreamableHTTPClientTransport
  readonly #versions: readonly string[]
  #open = true
  #isStale = false

  /** Creates a session that is not connected yet. */
  constructor(sdk: McpClientModule, options: ServerOptions) {
    const { endpoint } = options
    this.#options = options
    this.#versions = sdk.SUPPORTED_PROTOCOL_VERSIONS
    this.#client = new sdk.Client({ name: 'cria', version: '1' }, { capabilities: {} })
    this.#transport =
      endpoint.kind === 'stdio' ? new StdioTransport(endpoint) : httpTransport(sdk, endpoint.url, endpoint.headers)
    // eslint-disable-next-line unicorn/prefer-add-event-listener -- the client knows no other way
    this.#client.onclose = () => {
      this.#open = false
    }
    this.#client.setNotificationHandler('notifications/tools/list_changed', () => {
      this.#isStale = true
    })
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** True when the server has reported that its tools have changed. */
  get isStale(): boolean {
    return this.#isStale
  }

  /** @throws CriaError with the reason of the failure and the output of the server. */
  async connect(signal: AbortSignal, timeout: number): Promise<void> {
    try {
      await this.#client.connect(this.#transport, { signal, timeout })
    } catch (thrown) {
      await this.close()
      throw this.#explained(thrown, timeout)
    }
  }

  /** @throws CriaError as `connect`. */
  async list(signal: AbortSignal, timeout: number): Promise<ReadDefinitions> {
    this.#isStale = false
    const found: unknown[] = []
    const seen = new Set<string>()
    let cursor: string | undefined
    try {
      do {
        const params = cursor === undefined ? {} : { cursor }
        const page = (await this.#client.request({ method: 'tools/list', params }, ANYTHING, { signal, timeout })) as {
          tools?: unknown
          nextCursor?: unknown
        } | null
        if (!Array.isArray(page?.tools)) throw new TypeError('its list of tools is not a message of the protocol')
        for (const tool of page.tools) found.push(tool)
        cursor = typeof page.nextCursor === 'string' ? page.nextCursor : undefined
        if (cursor === undefined || seen.has(cursor)) break
        seen.add(cursor)
      } while (seen.size < MAX_PAGES && found.length < MAX_LISTED)
    } catch (thrown) {
      this.#isStale = true
      throw this.#explained(thrown, timeout)
    }
    return readDefinitions(found, this.#options.wanted)
  }

  /** @throws CriaError `tool_failure` or `timeout`; the signal's reason when it is aborted. */
  async call(tool: string, input: Readonly<Record<string, unknown>>, options: CallOptions): Promise<unknown> {
    const { signal, timeout, onProgress } = options
    try {
      return await this.#client.request({ method: 'tools/call', params: { name: tool, arguments: input } }, ANYTHING, {
        signal,
        timeout,
        onprogress: ({ message, progress, total }) =>
          onProgress(message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`),
      })
    } catch (thrown) {
      signal.throwIfAborted()
      throw this.#explained(thrown, timeout)
    }
  }

  /** Returns whether the server still answers. */
  async answers(timeout: number): Promise<boolean> {
    try {
      await this.#client.request({ method: 'ping' }, ANYTHING, { timeout })
      return true
    } catch {
      return false
    }
  }

  async close(): Promise<void> {
    this.#open = false
    const transport = this.#transport
    if ('terminateSession' in transport) {
      const farewell = AbortSignal.timeout(FAREWELL)
      const late = new Promise((resolve) => farewell.addEventListener('abort', resolve, { once: true }))
      await Promise.race([transport.terminateSession().catch(() => {}), late])
    }
    await this.#client.close().catch(() => {})
    // Closes it also when the client has released it before.
    await transport.close().catch(() => {})
  }

  #explained(thrown: unknown, timeout: number): CriaError {
    const { name, endpoint } = this.#options
    const { code, status } = codesOf(thrown)
    const program = this.#transport instanceof StdioTransport ? this.#transport : undefined
    // Redacts before cutting, because half of a secret would not be recognised.
    const clean = (text: string): string => redact(text.slice(0, MAX_REDACTED), endpoint.secrets)
    const brief = (text: string): string => shortened(clean(text), MAX_SAID)
    const said = program?.said.trim() ?? ''
    // Keeps the end, which says more than the beginning.
    const wrote = said === '' ? '' : `\nIt wrote:\n${clean(said).slice(-MAX_SAID).toWellFormed()}`
    const server = `The MCP server "${name}"`
    if (code === 'REQUEST_TIMEOUT')
      return new CriaError('timeout', `${server} did not answer within ${timeout / 1000} s.${wrote}`, { cause: thrown })
    // A JSON-RPC error of the server.
    if (typeof code === 'number' && code !== STREAM_ENDED)
      return new CriaError('tool_failure', `${server} answered with an error (${code}): ${brief(messageOf(thrown))}`)
    // The server has dropped the session, or does not listen any more.
    if (endpoint.kind === 'http' && (status === undefined || status === 404 || Number(status) >= 500)) this.#open = false
    const what = program?.failure ?? this.#whatHappened(thrown, brief)
    const hint = hintFor(status, program?.isConfined === true)
    return new CriaError('tool_failure', `${server} cannot be used: ${what}.${wrote}`, hint === undefined ? {} : { hint })
  }

  #whatHappened(thrown: unknown, brief: (text: string) => string): string {
    const { code, status } = codesOf(thrown)
    if (isMalformed(thrown) || code === 'INVALID_RESULT') return 'it sent data that is not a message of the protocol'
    if (code === 'CONNECTION_CLOSED') return 'it was closed'
    const message = messageOf(thrown)
    const version = /protocol version is not supported: ([^]*)$/.exec(message)?.[1]
    if (version !== undefined) {
      return `it speaks version ${JSON.stringify(brief(version))} of the protocol; the known ones are ${this.#versions.join(', ')}`
    }
    if (typeof status !== 'number') return brief(message + causeOf(thrown))
    const name = STATUS_CODES[status]
    const answer = message.replace(/^Error POSTing to endpoint: (?:null$)?/, '').trim()
    return `it answered with HTTP ${status}${name === undefined ? '' : ` (${name})`}${answer === '' ? '' : `: ${brief(answer)}`}`
  }
}

const SANDBOX_HINT =
  'It runs in a sandbox: "sandbox": { "network": "all" } of this server gives it the network, "writable": [PATH] a folder, "off" everything.'
const HEADERS_HINT = 'Set `headers` of this server, such as "Authorization": "Bearer ${TOKEN}".'

function hintFor(status: unknown, isConfined: boolean): string | undefined {
  if (isConfined) return SANDBOX_HINT
  return status === 401 ? HEADERS_HINT : undefined
}

function codesOf(thrown: unknown): { readonly code?: unknown; readonly status?: unknown } {
  return typeof thrown === 'object' && thrown !== null ? thrown : {}
}

/** Detects errors of the client's own message check, whose long text describes the types of the client. */
function isMalformed(thrown: unknown): boolean {
  return thrown instanceof Error && 'issues' in thrown && Array.isArray(thrown.issues)
}

function causeOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined
  return cause instanceof Error ? ` (${messageOf(cause)})` : ''
}
