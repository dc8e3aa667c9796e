import { evaluateRetrieval } from '../../app/eval/retrieval.ts'
import { openTemporaryStore } from '../../app/stores.ts'
import { ConfigurationError } from '../../core/error.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { evalProgress, readStoreSettings } from '../eval-options.ts'
import { formatMs, table } from '../format.ts'
import { toJsonLine } from '../io.ts'

export const evalRetrieval: Command = defineCommand({
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
    json: {
      type: 'flag',
      about:
        'print one JSON object: { collection, queries, ndcg10, recall10, recall100, mrr10, map, msPerQuery: { p50, p99 }, indexMs }',
    },
  },
  details: `The corpus is indexed into a temporary store, and all queries that have a judgment are run.
A document ranks as high as its best chunk.`,
  examples: ['cria eval retrieval --beir collections/cranfield --run cranfield.run'],
  async run({ options }, io) {
    const { beir, depth, run, json } = options
    if (beir === undefined)
      throw new ConfigurationError('Say which collection: --beir DIR', { hint: 'See: cria eval retrieval --help' })
    await using temporary = await openTemporaryStore(readStoreSettings(options['store-options']))
    const progress = evalProgress(io)
    try {
      const report = await evaluateRetrieval(beir, temporary.store, {
        k: depth,
        run,
        signal: io.signal,
        onProgress: (phase, done, total) =>
          progress.show({
            label: phase === 'index' ? 'Indexing' : 'Searching',
            unit: phase === 'index' ? 'documents' : 'queries',
            done,
            ...(total === undefined ? {} : { total }),
          }),
      })
      progress.clear()
      if (json) {
        await io.stdout.write(toJsonLine(report))
        return 0
      }
      const { msPerQuery, indexMs, collection, queries, ...measures } = report
      await io.stdout.write(
        table([
          ['collection', collection],
          ['queries', String(queries)],
          ...Object.entries(measures).map(([name, value]) => [name, value.toFixed(4)]),
          ['per query', `${formatMs(msPerQuery.p50)} (median), ${formatMs(msPerQuery.p99)} (99 %)`],
          ['indexing', formatMs(indexMs)],
        ]),
      )
      return 0
    } finally {
      progress.clear()
    }
  },
})
