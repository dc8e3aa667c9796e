/** Starts each configured MCP server once, and says which of them fail. */

import { toCriaError } from '../core/error.ts'
import type { Check } from './check.ts'
import type { LoadedConfig } from './config.ts'
import { openMcpServers } from './mcp.ts'
import type { Surroundings } from './paths.ts'

export interface CheckMcpOptions {
  /** Start none. */
  readonly offline: boolean
  readonly signal: AbortSignal
}

/** Those of a project are in the configuration only once it is trusted. */
export function checkMcpServers(loaded: LoadedConfig, surroundings: Surroundings, options: CheckMcpOptions): Promise<Check[]> {
  return Promise.all(
    Object.keys(loaded.config.mcpServers ?? {}).map((server) => checkServer(server, loaded, surroundings, options)),
  )
}

async function checkServer(
  server: string,
  loaded: LoadedConfig,
  surroundings: Surroundings,
  { offline, signal }: CheckMcpOptions,
): Promise<Check> {
  const name = `MCP server ${server}`
  const config = loaded.config.mcpServers?.[server]
  if (config === undefined || config.disabled === true) return { name, status: 'ok', message: 'disabled' }
  if (offline) return { name, status: 'ok', message: 'was not started' }
  try {
    const alone: LoadedConfig = { ...loaded, config: { ...loaded.config, mcpServers: { [server]: config } } }
    await using connection = await openMcpServers(alone, surroundings, signal)
    const { tools = [], notices = [] } = connection ?? {}
    const problems = notices.map(({ message }) => message.replace(`The MCP server "${server}" `, '')).join(' ')
    if (problems === '')
      return { name, status: 'ok', message: `starts, and has ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}` }
    const message = tools.length === 0 ? problems : `starts, and has ${tools.length} of its tools: ${problems}`
    return {
      name,
      status: 'warning',
      message,
      hint: 'Correct it under "mcpServers" in config.json, or set "disabled": true there.',
    }
  } catch (thrown) {
    signal.throwIfAborted()
    const { message, hint } = toCriaError(thrown)
    return { name, status: 'failed', message, ...(hint === undefined ? {} : { hint }) }
  }
}
