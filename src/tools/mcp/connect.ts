/** Connects to servers and makes tools of theirs. What one server does wrong is told, and takes nothing from the others. */

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
  /** By name, in the shape of `mcpServers` in the configurations of other programs. */
  readonly servers: Readonly<Record<string, McpServerConfig>>
  /** Where programs are started that do not say; default the working directory. */
  readonly cwd?: string
  /** Default the environment of the process. Programs get it without what looks like a secret. */
  readonly env?: Environment
  /** Names of further variables that hold keys. */
  readonly secretVariables?: readonly string[]
  /** What confines servers that are programs: `auto` (default), `required`, `off`, or more. A server may say otherwise. */
  readonly sandbox?: SandboxMode | SandboxOptions
  /** What is forbidden by path is kept from servers in a sandbox, too; `network` and `network(mcp__NAME)` let them use the network. */
  readonly rules?: ToolRules
  /** Tools of all servers together; default 100. */
  readonly maxTools?: number
  /** Where it is kept what tools were when they were allowed; default: in memory. */
  readonly pins?: McpPins
  /** Ends the attempt to connect. */
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

/** Something worth knowing of one server. */
export interface McpNotice {
  /** The name of the server in the configuration. */
  readonly server: string
  /** What is not there, and why. */
  readonly message: string
}

/** Connections to servers of the Model Context Protocol. */
export interface McpConnection {
  /** As they are now: a server that was started again, or says that its tools have changed, may have others. */
  readonly tools: readonly Tool[]
  /** What the caller should know, about servers that did not answer for example. */
  readonly notices: readonly McpNotice[]
  /** Ends the servers with all that they have started. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const DEFAULT_MAX_TOOLS = 100
/** Characters of all descriptions and schemas together. */
const MAX_CHARS = 400_000
const DEFAULT_TIMEOUT = 120_000
const DEFAULT_START_TIMEOUT = 30_000

/**
 * Starts servers of the Model Context Protocol, or connects to them, and offers their tools as `mcp__server__tool`. A server that cannot be
 * used is a notice; one that ends later is an error of the tool that is called, and is started again with the next call.
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
  // Made again only when a server tells other tools: the tools of a session stay the same objects.
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
  /** What the servers told, in their order. */
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
        `${beyond} of ${definitions.length} tools, because there are too many; name those that are needed under "includeTools"`,
      )
    if (left.length > 0)
      notices.push({ server: server.name, message: `Left out of the MCP server "${server.name}": ${left.join('; ')}.` })
  }
  return { tools, notices, madeOf: servers.map(({ tools: told }) => told) }
}

function noticeOf(server: string, thrown: unknown): McpNotice {
  const { message, hint } = toCriaError(thrown)
  return { server, message: hint === undefined ? message : `${message} ${hint}` }
}
