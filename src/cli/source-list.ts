/** What an answer rests on, as people read it below the answer. */

import type { Citation } from '../core/citation.ts'
import { visibleLine } from '../util/terminal.ts'
import type { Channel } from './io.ts'
import { sourceLines, terminalLink } from './sources.ts'
import type { Standpoint } from './sources.ts'

/** Empty where nothing is cited. */
export function sourceList(citations: readonly Citation[], stdout: Channel, from: Standpoint): string {
  const lines = sourceLines(citations, from)
  if (lines.length === 0) return ''
  const shown = lines.map(({ marker, place, url, supported, reason, alsoIn }) => {
    const path = stdout.isTerminal ? visibleLine(place) : place.replaceAll(/[\r\n]/g, ' ')
    const linked = stdout.links && url !== undefined ? terminalLink(place, url) : path
    const why = reason === undefined ? '' : `: ${visibleLine(reason)}`
    const warning = supported ? '' : `  ${stdout.style('yellow', `(the source does not say this${why})`)}`
    const copies = alsoIn === undefined ? '' : `  ${stdout.style('dim', `(also in ${visibleLine(alsoIn)})`)}`
    return `[${stdout.isTerminal ? visibleLine(marker) : marker}] ${linked}${copies}${warning}\n`
  })
  return `\n${stdout.style('bold', 'Sources')}\n${shown.join('')}`
}
