/** `cria eval`: measures search and answers on a collection, and compares two systems question by question. */

import { writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { openModel } from '../../app/open-model.ts'
import { openTemporaryStore } from '../../app/stores.ts'
import { QueryBot } from '../../bots/query-bot.ts'
import { ConfigurationError } from '../../core/error.ts'
import {
  compareAnswers,
  compareRuns,
  comparisonHtml,
  comparisonMarkdown,
  evaluateAnswers,
  evaluateRetrieval,
  readCorpus,
  readPredictions,
  readRun,
  toAnswered,
} from '../../eval/port.ts'
import type { Comparison, Prediction, RetrievalReport, Run, Sides } from '../../eval/port.ts'
import { defined, number, object } from '../../util/check.ts'
import type { Problem } from '../../util/check.ts'
import { asWrongUsage, defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { formatMs, plural, printTable, shorten, table } from '../format.ts'
import { note, printJson, roomOf } from '../io.ts'
import type { Io } from '../io.ts'
import { progressOn, readConfig } from '../prepare-store.ts'
import type { ProgressReporter } from '../terminal/progress.ts'

const REPORT = { type: 'texts', value: 'FILE', about: 'write the comparison to this file: .md or .html' } as const

export const evalRetrieval: Command = defineCommand({
  name: 'eval retrieval',
  options: {
    beir: { type: 'text', value: 'DIR', about: 'folder with corpus.jsonl, queries.jsonl and qrels/test.tsv (required)' },
    depth: {
      type: 'integer',
      short: 'k',
      value: 'K',
      about: 'documents retrieved for each query',
      default: 100,
      min: 1,
      max: 10_000,
    },
    run: { type: 'text', value: 'FILE', about: 'write the ranking to this file, as a TREC run' },
    'store-options': { type: 'text', value: 'JSON', about: `options of the store, such as '{"chunk":{"maxChars":800}}'` },
    compare: {
      type: 'texts',
      value: 'RUN',
      about: 'compare runs: one is the baseline of this configuration; of two, the first is the baseline of the second',
    },
    'baseline-options': { type: 'text', value: 'JSON', about: 'compare with a store made with these --store-options' },
    report: REPORT,
    json: jsonOption('{ collection, queries, ndcg10, recall10, recall100, mrr10, map, msPerQuery: { p50, p99 }, indexMs }'),
  },
  excludes: [['compare', 'baseline-options', 'both name the baseline']],
  details: `Indexes the corpus into a temporary store and runs every query that has a judgment.
A document ranks as high as its best chunk.

A comparison pairs the systems query by query. It reports mean differences with bootstrap intervals, a randomisation test,
a t-test, and the failing queries with the documents found instead. With two runs nothing is indexed. --json prints it
under "comparison".`,
  examples: [
    'cria eval retrieval --beir collections/cranfield --run cranfield.run',
    'cria eval retrieval --beir collections/cranfield --compare before.run after.run --report report.html report.md',
    `cria eval retrieval --beir collections/cranfield --baseline-options '{"chunk":{"maxChars":800}}' --report report.html`,
  ],
  async run({ options }, io) {
    const { depth: k, run, 'store-options': own, 'baseline-options': other } = options
    const folder = checkedFolder('retrieval', options, other !== undefined)
    const [settings, otherSettings] = [readStoreSettings(own), readStoreSettings(other)]
    const search = async (made: StoreSettings, progress: ProgressReporter, file?: string): Promise<RetrievalReport> => {
      await using temporary = await openTemporaryStore(made)
      return await evaluateRetrieval(folder, temporary.store, {
        k,
        run: file,
        signal: io.signal,
        onProgress: (phase, done, total) => {
          const work = phase === 'index' ? { label: 'Indexing', unit: 'documents' } : { label: 'Searching', unit: 'queries' }
          progress.show({ ...work, done, ...defined({ total }) })
        },
      })
    }
    return evaluate<Run>(folder, options, io, {
      read: readRun,
      async measure(progress) {
        const measured = await search(settings, progress, run)
        const baseline = other === undefined ? undefined : { name: other, result: (await search(otherSettings, progress)).run }
        const { msPerQuery, indexMs, collection, queries, run: result, unmatched, ...measures } = measured
        return {
          system: { name: own ?? 'this configuration', result },
          baseline,
          notice: unmatchedNote(unmatched),
          scores: { collection, queries, ...measures, msPerQuery, indexMs },
          rows: [
            ['collection', collection],
            ['queries', String(queries)],
            ...Object.entries(measures).map(([name, value]) => [name, value.toFixed(4)]),
            ['per query', `${formatMs(msPerQuery.p50)} (median), ${formatMs(msPerQuery.p99)} (99 %)`],
            ['indexing', formatMs(indexMs)],
          ],
        }
      },
      compare: (sides) => compareRuns(folder, sides),
    }).catch(asWrongUsage('not_found'))
  },
})

export const evalAnswers: Command = defineCommand({
  name: 'eval answers',
  options: {
    beir: { type: 'text', value: 'DIR', about: 'folder with corpus.jsonl, answers.jsonl and unanswerable.jsonl (required)' },
    predictions: {
      type: 'text',
      value: 'FILE',
      about: 'write one { _id, answer, quote, doc_id } per line to this file; answer is empty for an abstention',
    },
    model: {
      type: 'text',
      short: 'm',
      value: 'MODEL',
      about: 'provider/model, or main, quick, task, reasoning (see: cria models)',
    },
    compare: {
      type: 'texts',
      value: 'FILE',
      about: 'compare predictions: one file is the baseline of this model; of two, the first is the baseline of the second',
    },
    report: REPORT,
    json: jsonOption('{ questions, inQuote, exactMatch, f1, abstained, msPerQuestion, … }'),
  },
  details: `Indexes the corpus into a temporary store and asks a QueryBot every question; nothing is logged.
inQuote is the share of answerable questions whose cited quote occurs in the document word for word, has at most 40
words and contains a gold answer.

A comparison pairs the systems question by question; "right" includes refusing an unanswerable question. With two files
no question is asked.`,
  examples: [
    'cria eval answers --beir collections/answers --predictions predictions.jsonl',
    'cria eval answers --beir collections/answers --compare before.jsonl after.jsonl --report report.html',
  ],
  async run({ options }, io) {
    const folder = checkedFolder('answers', options, false)
    return evaluate<readonly Prediction[]>(folder, options, io, {
      read: readPredictions,
      async measure(progress) {
        const { config } = await readConfig(io)
        const model = await openModel(options.model, config, io.env)
        await using temporary = await openTemporaryStore()
        await temporary.store.extend(readCorpus(folder))
        const bot = new QueryBot({ docstore: temporary.store, model, recorder: false, streamTarget: 'none' })
        const { missed, predictions, ...scores } = await evaluateAnswers(
          folder,
          async (question) =>
            toAnswered(await bot.ask(question, { signal: io.signal }), { quotes: model.facts.writes === false }),
          {
            predictions: options.predictions,
            signal: io.signal,
            onProgress: (done, total) => progress.show({ label: 'Answering', unit: 'questions', done, total }),
          },
        )
        const { msPerQuestion, ...measures } = scores
        const shown = Object.entries(measures).map(([name, value]) => [
          name,
          COUNTS.has(name) ? String(value) : (value?.toFixed(4) ?? '–'),
        ])
        const rows = [['model', model.ref], ...shown, ['per question', formatMs(msPerQuestion)]]
        return { system: { name: model.ref, result: predictions }, scores, rows }
      },
      compare: (sides) => compareAnswers(folder, sides),
    }).catch(asWrongUsage('not_found'))
  },
})

/** Scores that are counts; all others are shares or means. */
const COUNTS: ReadonlySet<string> = new Set(['questions', 'answerable', 'unanswerable'])

/** Returns a note about judgments without a query or document, which would otherwise look like bad search results. */
function unmatchedNote({ queries, documents }: RetrievalReport['unmatched']): string | undefined {
  if (queries + documents === 0) return undefined
  const parts = [
    ...(queries > 0 ? [`${plural(queries, 'query', 'queries')} that queries.jsonl does not have`] : []),
    ...(documents > 0 ? [`${plural(documents, 'document')} that corpus.jsonl does not have`] : []),
  ]
  return `qrels/test.tsv names ${parts.join(' and ')}: they count as not found.`
}

interface EvalOptions {
  readonly beir: string | undefined
  readonly compare: readonly string[]
  readonly report: readonly string[]
  readonly json: boolean
}

/** Checks options that would otherwise fail only after hours of work, such as the name of a report. @throws ConfigurationError */
function checkedFolder(what: string, { beir, compare, report }: EvalOptions, hasBaseline: boolean): string {
  if (beir === undefined)
    throw new ConfigurationError('Say which collection: --beir DIR', { hint: `See: cria eval ${what} --help` })
  if (compare.length > 2) throw new ConfigurationError(`--compare takes one or two files, but was given ${compare.length}.`)
  for (const file of report) {
    if (!/\.(?:md|html?)$/i.test(file))
      throw new ConfigurationError(`--report ${file}: expected a name that ends in .md or .html.`)
  }
  if (report.length > 0 && compare.length === 0 && !hasBaseline)
    throw new ConfigurationError('--report needs something to compare with: --compare FILE.')
  return beir
}

/** The result of a compared system: a ranking or predictions. */
interface Side<Result> {
  readonly name: string
  readonly result: Result
}

interface Measured<Result> {
  readonly system: Side<Result>
  readonly baseline?: Side<Result> | undefined
  readonly notice?: string | undefined
  /** Scores for `--json`; `rows` hold the same scores as text. */
  readonly scores: object
  readonly rows: readonly (readonly string[])[]
}

interface Evaluation<Result> {
  /** Reads a result that an earlier run wrote. */
  read(file: string): Promise<Result>
  measure(progress: ProgressReporter): Promise<Measured<Result>>
  compare(sides: Sides<Result>): Promise<Comparison>
}

/** Measures unless two files are compared, compares if there is a baseline, then writes reports and prints. */
async function evaluate<Result>(
  folder: string,
  { compare: files, report, json }: EvalOptions,
  io: Io,
  evaluation: Evaluation<Result>,
): Promise<void> {
  const [first, second] = await Promise.all(files.map(async (name) => ({ name, result: await evaluation.read(name) })))
  const progress = progressOn(io)
  const measured = second === undefined ? await evaluation.measure(progress).finally(() => progress.clear()) : undefined
  const [one, other] = [measured?.baseline ?? first, second ?? measured?.system]
  let comparison: Comparison | undefined
  if (one !== undefined && other !== undefined) {
    const names = [one.name, other.name] as const
    const collection = basename(resolve(folder))
    comparison = await evaluation.compare({ collection, names, baseline: one.result, system: other.result })
    for (const file of report)
      await writeFile(file, /\.md$/i.test(file) ? comparisonMarkdown(comparison) : comparisonHtml(comparison))
  }
  if (measured?.notice !== undefined) await note(io, measured.notice)
  if (json) return printJson(io, { ...measured?.scores, ...defined({ comparison }) })
  if (measured !== undefined) await printTable(io, measured.rows)
  if (comparison === undefined) return
  await io.stdout.write(`${measured === undefined ? '' : '\n'}${comparisonText(comparison, roomOf(io.stdout))}`)
}

const SHOWN = 10

/** @param room maximum cells per line, see `table`. */
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
  const [baseline, system] = names.map((name) => shorten(name, 200))
  const worst = failed.length === 0 ? '' : `\nFailing, worst first (${failures.length} in all):\n${table(failed, [], room)}`
  return `baseline: ${baseline}\nsystem: ${system}\n\n${table([head, ...rows], [], room)}${worst}`
}

interface StoreSettings {
  readonly chunk?: { readonly maxChars?: number }
}

const SETTINGS = object<StoreSettings>({
  chunk: object<NonNullable<StoreSettings['chunk']>>({
    maxChars: number('a whole number of at least 64', (value) => Number.isSafeInteger(value) && value >= 64),
  }),
})

/** Reads `--store-options`. @throws ConfigurationError */
function readStoreSettings(text = '{}'): StoreSettings {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ConfigurationError(`--store-options must be a JSON object such as '{"chunk":{"maxChars":800}}'.`, { cause })
  }
  const problems: Problem[] = []
  const settings = SETTINGS.read(value, '', problems)
  const [problem] = problems
  if (settings !== undefined && problem === undefined) return settings
  const { path = '', message = 'expected an object' } = problem ?? {}
  throw new ConfigurationError(`--store-options ${path}: ${message}${message.endsWith('?') ? '' : '.'}`)
}
