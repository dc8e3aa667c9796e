/** Compares with a second system in the two `eval` commands, shows the result and writes the report. */

import { writeFile } from 'node:fs/promises'
import type { Comparison } from '../app/eval/comparison.ts'
import { comparisonHtml, comparisonMarkdown } from '../app/eval/report.ts'
import { ConfigurationError } from '../core/error.ts'
import { shorten, table } from './format.ts'

/** Refuses a report that could not be written, before hours of work. @throws ConfigurationError */
export function checkReports(reports: readonly string[], compares: boolean): void {
  for (const file of reports) {
    if (!/\.(?:md|html?)$/i.test(file))
      throw new ConfigurationError(`--report ${file}: expected a name that ends in .md or .html.`)
  }
  if (reports.length > 0 && !compares) throw new ConfigurationError('--report needs something to compare with: --compare FILE.')
}

/** @throws ConfigurationError */
export function checkCompared(files: readonly string[]): void {
  if (files.length > 2) throw new ConfigurationError(`--compare takes one or two files, but was given ${files.length}.`)
}

export async function writeReports(comparison: Comparison, reports: readonly string[]): Promise<void> {
  for (const file of reports) {
    await writeFile(file, /\.md$/i.test(file) ? comparisonMarkdown(comparison) : comparisonHtml(comparison))
  }
}

const SHOWN = 10

/** @param room cells of a line, see `table`. */
export function comparisonText({ names, measures, failures }: Comparison, room: number): string {
  const rows = measures.map((one) => [
    one.measure,
    one.baseline.toFixed(4),
    one.system.toFixed(4),
    `${one.difference < 0 ? '' : '+'}${one.difference.toFixed(4)}`,
    `${one.interval[0].toFixed(4)} to ${one.interval[1].toFixed(4)}`,
    one.pRandomization.toFixed(4),
    one.pT.toFixed(4),
    `${one.wins}/${one.losses}/${one.ties}`,
  ])
  const head = ['measure', 'baseline', 'system', 'difference', '95 % interval', 'p', 'p (t-test)', 'won/lost/even']
  const failed = failures
    .slice(0, SHOWN)
    .map(({ id, question, baseline, system, expected, found }) => [
      shorten(id, 40),
      `${baseline.toFixed(2)} → ${system.toFixed(2)}`,
      shorten(question, 60),
      `expected ${shorten(expected.join(' '), 30)}`,
      `found ${shorten(found.join(' '), 60)}`,
    ])
  return `baseline: ${shorten(names[0], 200)}\nsystem: ${shorten(names[1], 200)}\n\n${table([head, ...rows], [], room)}${failed.length === 0 ? '' : `\nFailing, worst first (${failures.length} in all):\n${table(failed, [], room)}`}`
}
