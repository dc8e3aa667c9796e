/** Serves both `eval` commands: checks their options, shows progress, scores and comparisons, writes reports. */

import { writeFile } from 'node:fs/promises'
import type { Comparison } from '../app/eval/comparison.ts'
import { comparisonHtml, comparisonMarkdown } from '../app/eval/report.ts'
import { ConfigurationError } from '../core/error.ts'
import { printTable, shorten, table } from './format.ts'
import { printJson, roomOf } from './io.ts'
import { number, object } from '../util/check.ts'
import type { Problem } from '../util/check.ts'
import type { ProgressReporter } from './terminal/progress.ts'
import { reportProgress } from './terminal/progress.ts'
import type { Io } from './io.ts'

/** The option `--report`. */
export const REPORT = { type: 'texts', value: 'FILE', about: 'write the comparison there: .md or .html' } as const

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

async function writeReports(comparison: Comparison, reports: readonly string[]): Promise<void> {
  for (const file of reports) {
    await writeFile(file, /\.md$/i.test(file) ? comparisonMarkdown(comparison) : comparisonHtml(comparison))
  }
}

const SHOWN = 10

/** Writes the reports of a comparison of two files, and prints it. */
export async function tellComparison(comparison: Comparison, reports: readonly string[], isJson: boolean, io: Io): Promise<void> {
  await writeReports(comparison, reports)
  if (isJson) await printJson(io, { comparison })
  else await io.stdout.write(comparisonText(comparison, roomOf(io.stdout)))
}

/** Prints what was measured, with the comparison where there is one, and writes its reports. @param scores for `--json`; `rows` are the same in words. */
export async function tellScores(
  { scores, rows }: { readonly scores: object; readonly rows: readonly (readonly string[])[] },
  comparison: Comparison | undefined,
  { report, json }: { readonly report: readonly string[]; readonly json: boolean },
  io: Io,
): Promise<void> {
  if (comparison !== undefined) await writeReports(comparison, report)
  if (json) return printJson(io, comparison === undefined ? scores : { ...scores, comparison })
  await printTable(io, rows)
  if (comparison !== undefined) await io.stdout.write(`\n${comparisonText(comparison, roomOf(io.stdout))}`)
}

/** @param room cells of a line, see `table`. */
function comparisonText({ names, measures, failures }: Comparison, room: number): string {
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

export interface StoreSettings {
  readonly chunk?: { readonly maxChars?: number }
}

const SETTINGS = object<StoreSettings>({
  chunk: object<NonNullable<StoreSettings['chunk']>>({
    maxChars: number('a whole number of at least 64', (value) => Number.isSafeInteger(value) && value >= 64),
  }),
})

/** Reads `--store-options`. @throws ConfigurationError */
export function readStoreSettings(text: string | undefined): StoreSettings {
  if (text === undefined) return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ConfigurationError(`--store-options must be a JSON object such as '{"chunk":{"maxChars":800}}'.`, { cause })
  }
  const problems: Problem[] = []
  const settings = SETTINGS.read(value, '', problems)
  const [problem] = problems
  if (settings === undefined || problem !== undefined) {
    const { path = '', expected = 'an object', received = 'something else' } = problem ?? {}
    throw new ConfigurationError(`--store-options ${path}: expected ${expected}, received ${received}.`)
  }
  return settings
}

export function evalProgress({ stderr }: Io): ProgressReporter {
  return reportProgress(stderr)
}
