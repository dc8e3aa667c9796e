/** The MCP servers of a configuration. */

import type { McpConnection } from '../tools/mcp/connect.ts'
import { readProjectConfig } from './config.ts'
import type { LoadedConfig } from './config.ts'
import { filePins } from './mcp-pins.ts'
import type { Surroundings } from './paths.ts'

export type { McpConnection }

/**
 * Starts what the configuration names; `undefined` when it names nothing. A project's servers are in there only once it is trusted.
 *
 * @throws ConfigurationError when the package for it is missing; the signal's reason when it is aborted.
 */
export async function openMcpServers(
  { config, paths, project }: LoadedConfig,
  { env, cwd }: Surroundings,
  signal: AbortSignal,
): Promise<McpConnection | undefined> {
  const { mcpServers: servers = {}, providers = {} } = config
  if (Object.values(servers).every(({ disabled }) => disabled === true)) return undefined
  const { connectMcp } = await import('../tools/mcp/connect.ts')
  const ofProject = project?.trust === 'trusted' ? (readProjectConfig(project).mcpServers ?? {}) : {}
  const folder = project?.folder ?? ''
  return connectMcp({
    servers,
    cwd,
    env,
    secretVariables: Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []),
    pins: filePins(paths, (server) => (Object.hasOwn(ofProject, server) ? folder : paths.home)),
    signal,
  })
}
