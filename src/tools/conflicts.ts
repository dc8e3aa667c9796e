/** Tells which calls must not run at the same time. */

import type { Tool, ToolResources } from '../core/tool.ts'
import { isRecord } from '../util/check.ts'
import { isPromise } from '../util/promise.ts'

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
    return { ...resources, declared: true, alone: false }
  }
  const reads = 'everything'
  return { reads, writes: [], declared: false, alone: tool.isReadOnly !== true }
}

function declaredResources(tool: Tool, input: unknown): Required<ToolResources> | undefined {
  try {
    // The input was checked against the tool's own schema.
    const said: unknown = tool.resources?.(input as never)
    // Also a promise, a list or a name where a list of names is meant: none of them says anything.
    if (!isRecord(said) || isPromise(said)) return undefined
    const { reads = [], writes = [] } = said
    return isNames(reads) && isNames(writes) ? { reads, writes } : undefined
  } catch {
    return undefined
  }
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
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
