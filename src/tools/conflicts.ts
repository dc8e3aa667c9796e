/** Which calls must not run at the same time? */

import type { Tool, ToolResources } from '../core/tool.ts'

/** `everything`: a tool that only reads, and does not say what. */
export interface Footprint {
  readonly reads: readonly string[] | 'everything'
  readonly writes: readonly string[]
  /** The tool has said so itself. */
  readonly declared: boolean
  /** The tool has said nothing at all: it runs alone. */
  readonly alone: boolean
}

/** What a call touches. A tool whose `resources` throws has not said anything. */
export function footprintOf(tool: Tool, input: unknown): Footprint {
  const resources = declaredResources(tool, input)
  if (resources !== undefined) {
    return { reads: resources.reads ?? [], writes: resources.writes ?? [], declared: true, alone: false }
  }
  const reads = 'everything'
  return { reads, writes: [], declared: false, alone: tool.isReadOnly !== true }
}

function declaredResources(tool: Tool, input: unknown): ToolResources | undefined {
  try {
    // The input was checked against the tool's own schema.
    return tool.resources?.(input as never)
  } catch {
    return undefined
  }
}

/** One writes what the other reads or writes. */
export function conflict(a: Footprint, b: Footprint): boolean {
  return a.alone || b.alone || overlap(a.writes, b.writes) || overlap(b.reads, a.writes) || overlap(a.reads, b.writes)
}

function overlap(some: Footprint['reads'], writes: readonly string[]): boolean {
  if (some === 'everything') return writes.length > 0
  return some.some((name) => writes.some((other) => sameOrInside(name, other) || sameOrInside(other, name)))
}

/** A name that ends in `/` covers everything below it. */
function sameOrInside(name: string, other: string): boolean {
  return name === other || (other.endsWith('/') && (name.startsWith(other) || `${name}/` === other))
}
