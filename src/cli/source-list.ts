/** Lists the sources of an answer as people read them. */

import type { Citation } from '../core/citation.ts'
import { visibleLine } from '../util/terminal.ts'
import { broken } from './io.ts'
import type { Channel } from './io.ts'
import { sourceLines, terminalLink, verdictSummary } from './sources.ts'
import type { Standpoint } from './sources.ts'

/** A line that is broken goes on under the place. */
const INDENT = 4

const MOST_REASONS = 3

/** Sources with what was found of the statements that cite them, and one line that sums up. Empty where there is nothing to tell. */
export async function sourceList(
  citations: readonly Citation[],
  uncited: number,
  stdout: Channel,
  from: Standpoint,
): Promise<string> {
  const summary = verdictSummary(citations, uncited)
  if (summary === undefined) return ''
  const lines = sourceLines(citations, from)
  let shown = ''
  for (const { marker, place, url, verdict, reasons, alsoIn } of lines) {
    const path = stdout.isTerminal ? visibleLine(place) : place.replaceAll(/[\r\n]/g, ' ')
    const copies = alsoIn === undefined ? '' : `  ${stdout.style('dim', `(also in ${visibleLine(alsoIn)})`)}`
    const mark = stdout.isTerminal && verdict === 'verified' ? `  ${stdout.style('dim', '✓')}` : ''
    const wrong = reasons.slice(0, MOST_REASONS).map((reason) => `  ${stdout.style('yellow', `✗ ${visibleLine(reason)}`)}`)
    const line = await broken(
      `[${stdout.isTerminal ? visibleLine(marker) : marker}] ${path}${copies}${mark}${wrong.join('')}`,
      stdout,
      INDENT,
    )
    // A link takes no room, but the escapes that make it one would be counted.
    shown += `${stdout.links && url !== undefined ? line.replace(path, () => terminalLink(place, url)) : line}\n`
  }
  const list = lines.length === 0 ? '' : `${stdout.style('bold', 'Sources')}\n${shown}`
  // Whatever reads a pipe is told what is wrong, and nothing else beside the sources.
  const isTold = stdout.isTerminal || uncited > 0 || lines.some(({ verdict }) => verdict === 'contradicted')
  const told = isTold ? `${stdout.style('dim', await broken(summary, stdout))}\n` : ''
  return `\n${list}${told}`
}
