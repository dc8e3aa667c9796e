/** Starts the MCP servers of `run` and `chat`, and reports on them. */

import type { LoadedConfig } from '../app/config.ts'
import { openMcpServers } from '../app/mcp.ts'
import type { McpConnection } from '../app/mcp.ts'
import { agentRules, chosenSandbox } from './agent.ts'
import type { RuleOptions, SandboxChoice } from './agent.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'

export interface ServerOptions extends RuleOptions, SandboxChoice {
  readonly 'no-mcp': boolean
}

/** `undefined` where there are none, or none are wanted. Whoever opens them closes them. */
export async function agentServers(
  options: ServerOptions,
  loaded: LoadedConfig,
  io: Io,
  tell: (message: string) => Promise<void> = (message) => note(io, message),
): Promise<McpConnection | undefined> {
  if (options['no-mcp']) return undefined
  const { config } = loaded
  const confined = { ...loaded, config: { ...config, sandbox: chosenSandbox(config.sandbox, options) } }
  const connection = await openMcpServers(confined, io, io.signal, agentRules(options, loaded, io))
  for (const { message } of connection?.notices ?? []) await tell(message)
  return connection
}
