import { basename, resolve } from 'node:path'
import { checkBeirFolder, readJudgments, readQueries, readRun } from '../../app/eval/collection.ts'
import type { Run } from '../../app/eval/collection.ts'
import { compareRuns } from '../../app/eval/comparison.ts'
import type { Comparison } from '../../app/eval/comparison.ts'
import { evaluateRetrieval } from '../../app/eval/retrieval.ts'
import type { RetrievalReport } from '../../app/eval/retrieval.ts'
import { openTemporaryStore } from '../../app/stores.ts'
import { ConfigurationError } from '../../core/error.ts'
import { defineCommand, jsonOption, readsGivenFiles } from '../command.ts'
import type { Command } from '../command.ts'
import { checkCompared, checkReports, evalProgress, readStoreSettings, REPORT, tellComparison, tellScores } from '../eval.ts'
import type { StoreSettings } from '../eval.ts'
import { formatMs, plural } from '../format.ts'
import { note } from '../io.ts'

const command: Command = defineCommand({
  name: 'eval retrieval',
  options: {
    beir: { type: 'text', value: 'DIR', about: 'folder with corpus.jsonl, queries.jsonl and qrels/test.tsv (required)' },
    depth: {
      type: 'integer',
      short: 'k',
      value: 'K',
      about: 'documents found for each query',
      default: '100',
      min: 1,
      max: 10_000,
    },
    run: { type: 'text', value: 'FILE', about: 'write the ranking there, as a TREC run' },
    'store-options': { type: 'text', value: 'JSON', about: `how the store is made, such as '{"chunk":{"maxChars":800}}'` },
    compare: {
      type: 'texts',
      value: 'RUN',
      about: 'compare: one run is the baseline of this configuration; of two runs the first is the baseline of the second',
    },
    'baseline-options': {
      type: 'text',
      value: 'JSON',
      about: 'compare with a store that is made so, as --store-options',
    },
    report: REPORT,
    json: jsonOption('{ collection, queries, ndcg10, recall10, recall100, mrr10, map, msPerQuery: { p50, p99 }, indexMs }'),
  },
  details: `The corpus is indexed into a temporary store, and all queries that have a judgment are run.
A document ranks as high as its best chunk.

A comparison pairs the systems query by query: mean differences with bootstrap intervals, a randomisation test and a
t-test, and the queries that fail with what was found instead. With two runs nothing is indexed. In --json it stands
under "comparison".`,
  examples: [
    'cria eval retrieval --beir collections/cranfield --run cranfield.run',
    'cria eval retrieval --beir collections/cranfield --compare before.run after.run --report report.html report.md',
    `cria eval retrieval --beir collections/cranfield --baseline-options '{"chunk":{"maxChars":800}}' --report report.html`,
  ],
  async run({ options }, io) {
    const { beir, depth, run, json } = options
    if (beir === undefined)
      throw new ConfigurationError('Say which collection: --beir DIR', { hint: 'See: cria eval retrieval --help' })
    const { compare, report } = options
    const settings = readStoreSettings(options['store-options'])
    const baselineOptions = options['baseline-options']
    const baselineSettings = readStoreSettings(baselineOptions)
    checkCompared(compare)
    if (baselineOptions !== undefined && compare.length > 0) {
      throw new ConfigurationError('--compare and --baseline-options exclude each other: both say what the baseline is.')
    }
    checkReports(report, compare.length > 0 || baselineOptions !== undefined)
    const [first, second] = compare
    if (first !== undefined && second !== undefined) {
      const comparison = await compareWith(
        beir,
        { name: first, run: await readRun(first) },
        { name: second, run: await readRun(second) },
      )
      return tellComparison(comparison, report, json, io)
    }
    const progress = evalProgress(io)
    const evaluate = async (made: StoreSettings, file: string | undefined): Promise<RetrievalReport> => {
      await using temporary = await openTemporaryStore(made)
      return await evaluateRetrieval(beir, temporary.store, {
        k: depth,
        run: file,
        signal: io.signal,
        onProgress: (phase, done, total) =>
          progress.show({
            label: phase === 'index' ? 'Indexing' : 'Searching',
            unit: phase === 'index' ? 'documents' : 'queries',
            done,
            ...(total === undefined ? {} : { total }),
          }),
      })
    }
    try {
      const known = first === undefined ? undefined : { name: first, run: await readRun(first) }
      const measured = await evaluate(settings, run)
      const baseline =
        baselineOptions === undefined ? known : { name: baselineOptions, run: (await evaluate(baselineSettings, undefined)).run }
      progress.clear()
      const system = { name: options['store-options'] ?? 'this configuration', run: measured.run }
      const comparison = baseline === undefined ? undefined : await compareWith(beir, baseline, system)
      const { msPerQuery, indexMs, collection, queries, run: _run, unmatched, ...measures } = measured
      const astray = unmatchedNote(unmatched)
      if (astray !== undefined) await note(io, astray)
      const scores = { collection, queries, ...measures, msPerQuery, indexMs }
      const rows = [
        ['collection', collection],
        ['queries', String(queries)],
        ...Object.entries(measures).map(([name, value]) => [name, value.toFixed(4)]),
        ['per query', `${formatMs(msPerQuery.p50)} (median), ${formatMs(msPerQuery.p99)} (99 %)`],
        ['indexing', formatMs(indexMs)],
      ]
      await tellScores({ scores, rows }, comparison, { report, json }, io)
    } finally {
      progress.clear()
    }
  },
})

export const evalRetrieval: Command = readsGivenFiles(command)

/** Mistakes in judgments look like bad search otherwise. */
function unmatchedNote({ queries, documents }: RetrievalReport['unmatched']): string | undefined {
  if (queries + documents === 0) return undefined
  const parts = [
    ...(queries > 0 ? [`${plural(queries, 'query', 'queries')} that queries.jsonl does not have`] : []),
    ...(documents > 0 ? [`${plural(documents, 'document')} that corpus.jsonl does not have`] : []),
  ]
  return `qrels/test.tsv names ${parts.join(' and ')}: they count as not found.`
}

interface Side {
  readonly name: string
  readonly run: Run
}

async function compareWith(beir: string, baseline: Side, system: Side): Promise<Comparison> {
  await checkBeirFolder(beir)
  const queries = await readQueries(beir)
  return compareRuns(
    {
      collection: basename(resolve(beir)),
      names: [baseline.name, system.name],
      baseline: baseline.run,
      system: system.run,
    },
    await readJudgments(beir),
    new Map(queries.map(({ id, text }) => [id, text])),
  )
}
