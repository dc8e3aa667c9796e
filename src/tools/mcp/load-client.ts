/** Loads the official MCP client when the first server is used. */

import { ConfigurationError } from '../../core/error.ts'

const PACKAGE = '@modelcontextprotocol/client'

export type McpClientModule = typeof import('@modelcontextprotocol/client')

/** @throws ConfigurationError that names the package to install. */
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
