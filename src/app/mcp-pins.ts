/** Keeps what tools of MCP servers were when they were allowed, from one command to the next. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CriaError } from '../core/error.ts'
import type { McpPins } from '../tools/mcp/pins.ts'
import { writeFileAtomically } from '../util/files.ts'
import { makeHomeFolder, reason, remedy } from './paths.ts'
import type { HomePaths } from './paths.ts'

/** Scope → tool → fingerprint. */
type Pins = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>

/** @param scopeOf the folder of the configuration that names a server: servers of two projects may share a name. */
export function filePins(paths: HomePaths, scopeOf: (server: string) => string): McpPins {
  const file = join(paths.trust, 'mcp-tools.json')
  return {
    allowed(server, tool) {
      const fingerprint: unknown = readPins(file)[scopeOf(server)]?.[tool]
      return typeof fingerprint === 'string' ? fingerprint : undefined
    },
    allow(server, tool, fingerprint) {
      const pins = readPins(file)
      const scope = scopeOf(server)
      if (pins[scope]?.[tool] === fingerprint) return
      makeHomeFolder(paths, paths.trust)
      const changed = { ...pins, [scope]: { ...pins[scope], [tool]: fingerprint } }
      try {
        writeFileAtomically(file, `${JSON.stringify(changed, undefined, 2)}\n`)
      } catch (cause) {
        throw new CriaError('store_failed', `${file} cannot be written: ${reason(cause)}.`, { cause, hint: remedy(cause) })
      }
    },
  }
}

function readPins(file: string): Pins {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null ? (value as Pins) : {}
  } catch {
    // Nothing was allowed yet.
    return {}
  }
}
