/** Finds the tool that a call names. */

import type { Tool } from '../core/tool.ts'
import { nearest } from '../util/nearest.ts'

/** Models write the namespace that some APIs show tools in: `functions.search`. */
const NAMESPACE = /^(?:functions?|tools?|default_api)[.:/]/

/** Without the namespace. No tool can have one in its own name. */
export function bareName(name: string): string {
  return name.replace(NAMESPACE, '')
}

export function findTool(name: string, tools: readonly Tool[]): Tool | undefined {
  const bare = bareName(name)
  return tools.find((tool) => tool.name === bare)
}

const MAX_LISTED = 100

/** For the model, which may try again. */
export function noSuchTool(name: string, tools: readonly Tool[]): string {
  if (tools.length === 0) return `There is no tool called ${JSON.stringify(name)}: no tools are offered. Answer without.`
  const names = tools.map((tool) => tool.name)
  const close = nearest(bareName(name), names)
  const list =
    names.slice(0, MAX_LISTED).join(', ') + (names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : '')
  const called = name.length > 100 ? `${name.slice(0, 100)}…` : name
  return `There is no tool called ${JSON.stringify(called)}. ${close === undefined ? '' : `Did you mean ${close}? `}The tools are: ${list}.`
}
