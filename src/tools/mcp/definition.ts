/** Reads the tool definitions of a server as untrusted data. */

import type { StandardSchema } from '../../core/schema.ts'
import { canonicalJson, sha256 } from '../../util/hash.ts'
import { cleanText, readSchema } from './schema.ts'

export interface Definition {
  /** Name of the tool on the server. */
  readonly name: string
  readonly description: string
  readonly schema: StandardSchema
  /** SHA-256 of name, description and schema as received, hexadecimal. */
  readonly fingerprint: string
}

export interface ReadDefinitions {
  readonly definitions: readonly Definition[]
  /** Omitted tools, with the reasons. */
  readonly problems: readonly string[]
}

const MAX_NAME = 256
const MAX_DESCRIPTION = 4000
const MAX_PROBLEMS = 5

/** @param given members of `tools` of all pages. */
export function readDefinitions(given: readonly unknown[], wanted: readonly string[] | undefined): ReadDefinitions {
  const definitions = new Map<string, Definition>()
  const problems: string[] = []
  for (const tool of given) {
    const { name, description, inputSchema } = (typeof tool === 'object' && tool !== null ? tool : {}) as Record<string, unknown>
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) {
      problems.push('a tool without a usable name')
      continue
    }
    if (wanted?.includes(name) === false) continue
    const schema = definitions.has(name) ? 'another tool has the same name' : readSchema(inputSchema)
    if (typeof schema === 'string') {
      problems.push(`the tool ${JSON.stringify(cleanText(name, 80))}, because ${schema}`)
      continue
    }
    const said = typeof description === 'string' ? description : ''
    definitions.set(name, {
      name,
      description: cleanText(said, MAX_DESCRIPTION),
      schema,
      fingerprint: sha256(canonicalJson([name, said, inputSchema])),
    })
  }
  for (const name of wanted ?? []) {
    if (!given.some((tool) => (tool as { name?: unknown } | null)?.name === name)) {
      problems.push(`the tool ${JSON.stringify(name)}, because the server has no tool of that name`)
    }
  }
  return { definitions: [...definitions.values()], problems: shortList(problems) }
}

function shortList(problems: readonly string[]): readonly string[] {
  const more = problems.length - MAX_PROBLEMS
  return more > 0 ? [...problems.slice(0, MAX_PROBLEMS), `and ${more} more`] : problems
}

/** Remembers the definitions of server tools that were allowed. */
export interface McpPins {
  /** Returns the fingerprint with which a tool was last allowed. */
  allowed(server: string, tool: string): string | undefined
  /** Stores the fingerprint with which a tool was allowed. */
  allow(server: string, tool: string, fingerprint: string): void
}

/** Returns pins that last until the process ends. */
export function memoryPins(): McpPins {
  const pins = new Map<string, string>()
  return {
    allowed: (_server, tool) => pins.get(tool),
    allow: (_server, tool, fingerprint) => void pins.set(tool, fingerprint),
  }
}
