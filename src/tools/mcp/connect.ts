/** Connects to MCP servers and offers their tools. The failure of a server is reported and does not affect the others. */

import type { Clock } from '../../core/clock.ts'
import { ConfigurationError, toCriaError } from '../../core/error.ts'
import type { Tool } from '../../core/tool.ts'
import { systemClock } from '../../util/clock.ts'
import { namesOf, unknownOption } from '../../util/nearest.ts'
import { environment } from '../../util/environment.ts'
import { memoryPins } from './definition.ts'
import type { McpPins, ReadDefinitions } from './definition.ts'
import { toolNames, toolOf } from './tool.ts'
import { Server } from './server.ts'
import { loadClient } from './session.ts'
import { readRules } from '../permissions/rule-book.ts'
import type { ToolRules } from '../permissions/rule.ts'
import { sandboxOptions } from '../sandbox/sandbox.ts'
import type { SandboxMode, SandboxOptions } from '../sandbox/sandbox.ts'
import { checkServers, endpointOf } from './server-config.ts'
import type { Environment, McpServerConfig } from './server-config.ts'

export interface McpOptions {
  /** Servers by name, in the format of `mcpServers` in the configurations of other programs. */
  readonly servers: Readonly<Record<string, McpServerConfig>>
  /** Working directory of servers without a `cwd`; default the working directory of the process. */
  readonly cwd?: string
  /** Default: the environment of the process. Servers receive it without variables that look like secrets. */
  readonly env?: Environment
  /** Names of further variables that hold secrets. */
  readonly secretVariables?: readonly string[]
  /** The sandbox of stdio servers: `auto` (default), `required`, `off`, or detailed options. A server may override it. */
  readonly sandbox?: SandboxMode | SandboxOptions
  /** Paths that rules deny are also hidden from servers in a sandbox; `network` and `network(mcp__NAME)` allow the network. */
  readonly rules?: ToolRules
  /** Maximum number of tools of all servers; default 100. */
  readonly maxTools?: number
  /** Stores the fingerprints of allowed tools; default: in memory. */
  readonly pins?: McpPins
  /** Aborts the attempt to connect. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

const OPTIONS = namesOf<McpOptions>({
  servers: true,
  cwd: true,
  env: true,
  secretVariables: true,
  sandbox: true,
  rules: true,
  maxTools: true,
  pins: true,
  signal: true,
  clock: true,
})

/** A notice about a server. */
export interface McpNotice {
  /** The name of the server in the configuration. */
  readonly server: string
  /** Names the tools or the server that are not available, and the reason. */
  readonly message: string
}

/** Connections to servers of the Model Context Protocol. */
export interface McpConnection {
  /** The current tools. They may change when a server was restarted or reports a change. */
  readonly tools: readonly Tool[]
  /** Notices for the user, for example about servers that did not answer. */
  readonly notices: readonly McpNotice[]
  /** Ends the servers and all processes that they have started. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const DEFAULT_MAX_TOOLS = 100
/** Maximum characters of all descriptions and schemas. */
const MAX_CHARS = 400_000
const DEFAULT_TIMEOUT = 120_000
const DEFAULT_START_TIMEOUT = 30_000

/**
 * Starts or connects to servers of the Model Context Protocol, and offers their tools as `mcp__server__tool`. An unusable server
 * becomes a notice. If a server ends later, the current call fails, and the next call restarts it.
 *
 * @throws ConfigurationError when the options are wrong, or when the package `@modelcontextprotocol/client` is missing.
 */
export async function connectMcp(options: McpOptions): Promise<McpConnection> {
  const wrong = unknownOption(options ?? {}, OPTIONS)
  if (wrong !== undefined) throw new ConfigurationError(`connectMcp() has ${wrong.problem}`, wrong)
  checkServers(options?.servers)
  const { servers: given, cwd = process.cwd(), env = environment(), secretVariables = [], pins = memoryPins(), signal } = options
  const configs = Object.entries(given).filter(([, { disabled }]) => disabled !== true)
  const sandbox = sandboxOptions(options.sandbox)
  const { rules } = await readRules(options.rules ?? {})
  const failures: McpNotice[] = []
  const servers: Server[] = []
  const sdk = configs.length === 0 ? undefined : await loadClient()
  for (const [name, config] of configs) {
    if (sdk === undefined) break
    try {
      const endpoint = endpointOf(name, config, { env, cwd, secretVariables, sandbox, rules })
      servers.push(
        new Server(sdk, {
          name,
          endpoint,
          wanted: config.includeTools,
          timeout: config.timeout ?? DEFAULT_TIMEOUT,
          startTimeout: config.startTimeout ?? DEFAULT_START_TIMEOUT,
          clock: options.clock ?? systemClock,
        }),
      )
    } catch (thrown) {
      failures.push(noticeOf(name, thrown))
    }
  }
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close()))
  }
  try {
    const started = await Promise.allSettled(servers.map((server) => server.start(signal)))
    signal?.throwIfAborted()
    for (const [index, outcome] of started.entries()) {
      if (outcome.status === 'rejected') failures.push(noticeOf(servers[index]?.name ?? '', outcome.reason))
    }
  } catch (thrown) {
    await close()
    throw thrown
  }
  const limit = options.maxTools ?? DEFAULT_MAX_TOOLS
  // Rebuilt only when the tools of a server change, so that a session keeps the same tool objects.
  let offer: Offer | undefined
  const current = (): Offer => {
    const isOld = servers.some(({ tools }, index) => tools !== offer?.madeOf[index])
    if (offer === undefined || isOld) offer = makeOffer(servers, limit, pins)
    return offer
  }
  return {
    get tools() {
      return current().tools
    },
    get notices() {
      return [...failures, ...current().notices]
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Offer {
  readonly tools: readonly Tool[]
  readonly notices: readonly McpNotice[]
  /** Definitions of the servers, in their order. */
  readonly madeOf: readonly ReadDefinitions[]
}

function makeOffer(servers: readonly Server[], limit: number, pins: McpPins): Offer {
  const tools: Tool[] = []
  const notices: McpNotice[] = []
  let chars = 0
  for (const server of servers) {
    const { definitions, problems } = server.tools
    const left = [...problems]
    const names = toolNames(
      server.name,
      definitions.map(({ name }) => name),
    )
    let beyond = 0
    for (const [index, definition] of definitions.entries()) {
      const size =
        definition.description.length + JSON.stringify(definition.schema['~standard'].jsonSchema?.input({ target: '' })).length
      if (tools.length >= limit || chars + size > MAX_CHARS) {
        beyond++
        continue
      }
      try {
        tools.push(toolOf(server, definition, names[index] ?? '', pins))
        chars += size
      } catch (thrown) {
        left.push(`the tool ${JSON.stringify(definition.name)}: ${toCriaError(thrown).message}`)
      }
    }
    if (beyond > 0)
      left.push(
        `${beyond} of ${definitions.length} tools, because there are too many; name the tools that you need under "includeTools"`,
      )
    if (left.length > 0)
      notices.push({ server: server.name, message: `Left out of the MCP server "${server.name}": ${left.join('; ')}.` })
  }
  return { tools, notices, madeOf: servers.map(({ tools: definitions }) => definitions) }
}

function noticeOf(server: string, thrown: unknown): McpNotice {
  const { message, hint } = toCriaError(thrown)
  return { server, message: hint === undefined ? message : `${message} ${hint}` }
}
