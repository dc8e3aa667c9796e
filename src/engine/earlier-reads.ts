/** Collects the files that tools of the session have read before this turn. */

import type { EarlierRead } from '../core/injection.ts'
import type { Message } from '../core/message.ts'
import type { Tool } from '../core/tool.ts'
import { footprintOf } from '../tools/conflicts.ts'
import { findTool } from '../tools/find-tool.ts'
import { validated } from '../tools/validate.ts'

/** Calls that are looked at: what lies further back has had its time, and a turn must not cost what the session is long. */
const MOST_CALLS = 100

/**
 * The names that tools give in `resources`, oldest first. Nothing is remembered for it: the calls stand in the history, so a session that is
 * continued by another process knows them too.
 */
export async function earlierReads(history: readonly Message[], tools: readonly Tool[]): Promise<readonly EarlierRead[]> {
  const results = new Map<string, string>()
  const reads: EarlierRead[] = []
  let looked = 0
  for (let at = history.length - 1; at >= 0 && looked < MOST_CALLS; at--) {
    const message = history[at]
    for (const part of message?.parts ?? []) {
      if (part.type === 'tool-result' && !part.isError) results.set(part.id, part.content)
    }
    for (const call of message?.toolCalls?.toReversed() ?? []) {
      const result = results.get(call.id)
      const tool = findTool(call.name, tools)
      looked++
      if (result === undefined || tool === undefined) continue
      for (const name of await namesOf(tool, call)) reads.push({ name, result })
    }
  }
  return reads.toReversed()
}

async function namesOf(tool: Tool, call: Parameters<typeof validated>[0]): Promise<readonly string[]> {
  if (tool.resources === undefined) return []
  const fit = await validated(call, tool)
  if ('problem' in fit) return []
  const { reads } = footprintOf(tool, fit.input)
  return reads === 'everything' ? [] : reads
}
