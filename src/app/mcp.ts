/** Connects to the MCP servers of a configuration, and stores which of their tools the user has allowed. */

import { join } from 'node:path'
import type { McpConnection, McpOptions } from '../tools/mcp/connect.ts'
import type { McpPins } from '../tools/mcp/definition.ts'
import { readProjectConfig } from './config.ts'
import type { CriaConfig } from './config-schema.ts'
import type { LoadedConfig } from './config.ts'
import { readHomeFile, writeHomeFile } from './paths.ts'
import type { HomePaths, Surroundings } from './paths.ts'
import { takeProviderKeys } from './provider-keys.ts'

export type { McpConnection }

/** Options of `connectMcp`. */
export interface ConnectOptions extends McpOptions {
  /** Leaves the keys of providers in `process.env`; default false, see `builtinTools`. */
  readonly keepKeys?: boolean
}

/**
 * Starts servers of the Model Context Protocol, or connects to them, and offers their tools as `mcp__server__tool`. A server that cannot be
 * used causes a notice. A call to a server that has ended fails, and the next call starts it again.
 *
 * @throws ConfigurationError when the options are wrong, or when the package `@modelcontextprotocol/client` is missing.
 */
export async function connectMcp(options: ConnectOptions): Promise<McpConnection> {
  const { keepKeys = false, ...given } = options ?? {}
  if (!keepKeys) takeProviderKeys(Array.isArray(given.secretVariables) ? given.secretVariables : [])
  const { connectMcp: connect } = await import('../tools/mcp/connect.ts')
  return connect(given)
}

/**
 * Starts the configured servers; returns `undefined` when there are none. The configuration contains a project's servers only if it is trusted.
 *
 * @throws ConfigurationError when the required package is missing; the signal's reason when it is aborted.
 */
export async function openMcpServers(
  { config, paths, project }: LoadedConfig,
  { env, cwd }: Surroundings,
  signal: AbortSignal,
  rules: CriaConfig['rules'] = config.rules,
): Promise<McpConnection | undefined> {
  const { mcpServers: servers = {}, providers = {} } = config
  if (Object.values(servers).every(({ disabled }) => disabled === true)) return undefined
  const ofProject = project?.trust === 'trusted' ? (readProjectConfig(project).mcpServers ?? {}) : {}
  const folder = project?.folder ?? ''
  return connectMcp({
    servers,
    cwd,
    env,
    sandbox: { ...config.sandbox, hidden: [paths.home] },
    rules: { ...rules, root: cwd },
    secretVariables: Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []),
    pins: filePins(paths, (server) => (Object.hasOwn(ofProject, server) ? folder : paths.home)),
    signal,
  })
}

/** Scope → tool → fingerprint. */
type Pins = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>

/** @param scopeOf returns the folder of the configuration that defines a server: servers of two projects may have the same name. */
function filePins(paths: HomePaths, scopeOf: (server: string) => string): McpPins {
  const file = join(paths.trust, 'mcp-tools.json')
  return {
    allowed(server, tool) {
      const fingerprint: unknown = readHomeFile<Pins>(file)?.[scopeOf(server)]?.[tool]
      return typeof fingerprint === 'string' ? fingerprint : undefined
    },
    allow(server, tool, fingerprint) {
      const pins = readHomeFile<Pins>(file) ?? {}
      const scope = scopeOf(server)
      if (pins[scope]?.[tool] === fingerprint) return
      writeHomeFile(file, { ...pins, [scope]: { ...pins[scope], [tool]: fingerprint } }, paths)
    },
  }
}
