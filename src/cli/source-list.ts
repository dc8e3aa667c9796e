/** What an answer rests on, as people read it below the answer. */

import type { Citation } from '../core/citation.ts'
import { visibleLine } from '../util/terminal.ts'
import { broken } from './io.ts'
import type { Channel } from './io.ts'
import { sourceLines, terminalLink } from './sources.ts'
import type { Standpoint } from './sources.ts'

/** A line that is broken goes on under the place. */
const INDENT = 4

/** Empty where nothing is cited; on a terminal broken between words. */
export async function sourceList(citations: readonly Citation[], stdout: Channel, from: Standpoint): Promise<string> {
  const lines = sourceLines(citations, from)
  if (lines.length === 0) return ''
  let shown = ''
  for (const { marker, place, url, supported, reason, alsoIn } of lines) {
    const path = stdout.isTerminal ? visibleLine(place) : place.replaceAll(/[\r\n]/g, ' ')
    const why = reason === undefined ? '' : `: ${visibleLine(reason)}`
    const warning = supported ? '' : `  ${stdout.style('yellow', `(the source does not say this${why})`)}`
    const copies = alsoIn === undefined ? '' : `  ${stdout.style('dim', `(also in ${visibleLine(alsoIn)})`)}`
    const line = await broken(`[${stdout.isTerminal ? visibleLine(marker) : marker}] ${path}${copies}${warning}`, stdout, INDENT)
    // A link takes no room, but the escapes that make it one would be counted.
    shown += `${stdout.links && url !== undefined ? line.replace(path, () => terminalLink(place, url)) : line}\n`
  }
  return `\n${stdout.style('bold', 'Sources')}\n${shown}`
}
