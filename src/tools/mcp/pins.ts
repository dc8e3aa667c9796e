/** Remembers the definitions of server tools that were allowed. */

export interface McpPins {
  /** The fingerprint under which a tool was allowed last. */
  allowed(server: string, tool: string): string | undefined
  /** Keeps that this tool was allowed as it is now. */
  allow(server: string, tool: string, fingerprint: string): void
}

/** Forgets when the process ends. */
export function memoryPins(): McpPins {
  const pins = new Map<string, string>()
  return {
    allowed: (_server, tool) => pins.get(tool),
    allow: (_server, tool, fingerprint) => void pins.set(tool, fingerprint),
  }
}
