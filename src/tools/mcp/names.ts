/** Names the tools of a server: `mcp__server__tool`. */

import { sha256 } from '../../util/hash.ts'

/** What every provider takes. */
const MAX_NAME = 64
const HASH = 8

/**
 * One name for each tool, in the same order. Names that had to be changed, and would then be those of another tool of the server, end in a
 * hash of what the server calls them. A name cannot be that of a built-in tool, nor of a tool of another server.
 *
 * @param tools different names, as the server gives them.
 */
export function toolNames(server: string, tools: readonly string[]): string[] {
  const prefix = `mcp__${server}__`
  const whole = (tool: string): string => prefix + tool
  const fits = (tool: string): boolean => /^[\w-]+$/.test(tool) && whole(tool).length <= MAX_NAME
  const taken = new Set(tools.filter(fits).map(whole))
  return tools.map((tool) => {
    if (fits(tool)) return whole(tool)
    const simple = whole(tool.replaceAll(/[^\w-]/g, '_'))
    const isShort = simple.length <= MAX_NAME && simple.length > prefix.length
    const name = isShort && !taken.has(simple) ? simple : hashed(simple, tool)
    taken.add(name)
    return name
  })
}

function hashed(name: string, tool: string): string {
  return `${name.slice(0, MAX_NAME - HASH - 1)}_${sha256(tool).slice(0, HASH)}`
}
