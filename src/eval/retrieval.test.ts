import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderForEach } from '../../test/support/folder.ts'
import { SHARED } from '../../test/support/shared.ts'
import { MemoryDocumentStore } from '../stores/lazy.ts'
import { readJudgments } from './collection.ts'
import type { RankedDocument } from './collection.ts'
import { evaluateRetrieval, measureRanking, measureRun, percentile, rankingOf } from './retrieval.ts'

const EVALUATOR = join(SHARED, 'retrieval', 'evaluate.mjs')

let folder: string
folderForEach((made) => {
  folder = join(made, 'town')
  mkdirSync(join(folder, 'qrels'), { recursive: true })
  write('corpus.jsonl', [
    { _id: 'mill', title: 'The mill', text: 'Built beside the river to grind corn.' },
    { _id: 'bridge', title: '', text: 'A bridge of stone crosses the river.' },
    { _id: 'long', text: `${'Nothing of note happens here. '.repeat(200)} The ferry sank. ${'Nothing again. '.repeat(200)}` },
  ])
  write('queries.jsonl', [
    { _id: 'q1', text: 'Where was the mill built?' },
    { _id: 'q2', text: 'stone bridge' },
    { _id: 'q3', text: 'when did the ferry sink?' },
    { _id: 'unjudged', text: 'river' },
  ])
  writeFileSync(
    join(folder, 'qrels', 'test.tsv'),
    'query-id\tcorpus-id\tscore\nq1\tmill\t1\nq2\tbridge\t2\nq3\tlong\t1\nq3\tmill\t0\n',
  )
})

function write(file: string, lines: readonly object[]): void {
  writeFileSync(join(folder, file), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

describe('evaluateRetrieval', () => {
  it('reports judgments without a matching query or document', async () => {
    const judged = join(folder, 'qrels', 'test.tsv')
    writeFileSync(judged, `${readFileSync(judged, 'utf8')}q1\tgone\t1\nq2\tirrelevant\t0\nq9\tmill\t1\n`)
    const { unmatched, queries } = await evaluateRetrieval(folder, new MemoryDocumentStore())
    expect({ unmatched, queries }).toEqual({ unmatched: { queries: 1, documents: 1 }, queries: 4 })
  })

  it('indexes a folder, runs its queries, measures, and writes the run', async () => {
    const store = new MemoryDocumentStore()
    const run = join(folder, 'run.txt')
    const steps: string[] = []
    const report = await evaluateRetrieval(folder, store, {
      k: 2,
      run,
      onProgress: (phase, done) => steps.push(`${phase} ${done}`),
    })
    expect(report).toMatchObject({ collection: 'town', queries: 3, ndcg10: 1, recall10: 1, recall100: 1, mrr10: 1, map: 1 })
    expect(report.indexMs).toBeGreaterThan(0)
    expect(report.msPerQuery.p50).toBeLessThanOrEqual(report.msPerQuery.p99)
    expect(steps).toEqual(['index 1', 'index 2', 'index 3', 'search 1', 'search 2', 'search 3'])
    const lines = readFileSync(run, 'utf8').trimEnd().split('\n')
    expect(lines.filter((line) => / Q0 \S+ 1 /.test(line)).map((line) => line.split(' ').slice(0, 4).join(' '))).toEqual([
      'q1 Q0 mill 1',
      'q2 Q0 bridge 1',
      'q3 Q0 long 1',
    ])
    expect(new Set(lines.map((line) => line.split(' ').slice(0, 3).join(' '))).size).toBe(lines.length)
    await store.close()
  })

  it.each<[title: string, spoil: () => void, message: RegExp]>([
    ['no folder', () => rmSync(folder, { recursive: true }), /is not a folder: expected a BEIR folder/],
    ['no corpus', () => rmSync(join(folder, 'corpus.jsonl')), /corpus\.jsonl does not exist/],
    ['no judgments', () => rmSync(join(folder, 'qrels'), { recursive: true }), /test\.tsv does not exist/],
    [
      'a line that is not JSON',
      () => writeFileSync(join(folder, 'corpus.jsonl'), '{"_id": "x", '),
      /corpus\.jsonl, line 1: this is not JSON/,
    ],
    ['a list for a document', () => write('corpus.jsonl', [[]]), /line 1: expected a JSON object/],
    ['a document without an id', () => write('corpus.jsonl', [{ text: 'x' }]), /line 1: "_id" must be a string/],
    ['a query without text', () => write('queries.jsonl', [{ _id: 'q1' }]), /queries\.jsonl, line 1: "text" must be a string/],
    [
      'a judgment without a grade',
      () => writeFileSync(join(folder, 'qrels', 'test.tsv'), 'q1\tmill\n'),
      /line 1: expected query id/,
    ],
    [
      'a grade that is not a number',
      () => writeFileSync(join(folder, 'qrels', 'test.tsv'), 'a\tb\tc\nq1\tmill\tgood\n'),
      /line 2: the grade "good"/,
    ],
    ['other queries than judgments', () => write('queries.jsonl', [{ _id: 'other', text: 'x' }]), /share no id/],
  ])('rejects %s with the reason', async (_title, spoil, message) => {
    spoil()
    const store = new MemoryDocumentStore()
    await expect(evaluateRetrieval(folder, store)).rejects.toThrow(message)
    await store.close()
  })

  it('can be aborted', async () => {
    const store = new MemoryDocumentStore()
    const stop = new AbortController()
    const running = evaluateRetrieval(folder, store, { signal: stop.signal, onProgress: () => stop.abort() })
    await expect(running).rejects.toMatchObject({ code: 'aborted' })
    await store.close()
  })

  it('can be aborted while a synchronous store is searched', async () => {
    const store = new MemoryDocumentStore()
    const stop = new AbortController()
    let searches = 0
    const running = evaluateRetrieval(folder, store, {
      signal: stop.signal,
      onProgress(phase) {
        if (phase === 'search' && ++searches === 1) setImmediate(() => stop.abort())
      },
    })
    await expect(running).rejects.toMatchObject({ code: 'aborted' })
    expect(searches).toBeLessThan(3)
    await store.close()
  })

  it('reads judgments with and without a header', async () => {
    writeFileSync(join(folder, 'qrels', 'test.tsv'), 'q1\tmill\t1\r\nq1\tbridge\t0\r\n')
    expect(await readJudgments(folder)).toEqual(
      new Map([
        [
          'q1',
          new Map([
            ['mill', 1],
            ['bridge', 0],
          ]),
        ],
      ]),
    )
  })
})

describe('measureRanking', () => {
  const judgments = new Map([
    ['a', 2],
    ['b', 1],
    ['c', 0],
    ['d', -1],
  ])
  const ideal = 2 + 1 / Math.log2(3)

  it.each<[ranking: readonly string[], measures: Partial<ReturnType<typeof measureRanking>>]>([
    [['a', 'b'], { ndcg10: 1, recall10: 1, recall100: 1, mrr10: 1, map: 1 }],
    [['b', 'a'], { ndcg10: (1 + 2 / Math.log2(3)) / ideal, mrr10: 1, map: 1 }],
    [['c', 'd', 'x', 'a'], { ndcg10: 2 / Math.log2(5) / ideal, recall10: 0.5, mrr10: 0.25, map: 0.125 }],
    [[...Array.from({ length: 10 }, String), 'a'], { ndcg10: 0, recall10: 0, recall100: 0.5, mrr10: 0, map: 1 / 22 }],
    [[], { ndcg10: 0, recall10: 0, recall100: 0, mrr10: 0, map: 0 }],
  ])('of %j', (ranking, measures) => {
    for (const [name, value] of Object.entries(measures)) {
      expect([name, measureRanking(ranking, judgments)[name as keyof typeof measures]]).toEqual([name, expect.closeTo(value, 12)])
    }
  })

  it('is 0 where no document is relevant', () => {
    expect(measureRanking(['c'], new Map([['c', 0]]))).toEqual({ ndcg10: 0, recall10: 0, recall100: 0, mrr10: 0, map: 0 })
  })
})

describe('rankingOf', () => {
  it('orders equal scores by id, descending, and counts a document once', () => {
    const documents = [
      { id: 'a', score: 1 },
      { id: 'b', score: 2 },
      { id: 'c', score: 1 },
      { id: 'a', score: 3 },
    ]
    expect(rankingOf(documents)).toEqual(['a', 'b', 'c'])
    expect(rankingOf(documents.slice(0, 3))).toEqual(['b', 'c', 'a'])
  })
})

describe('measureRun', () => {
  it('counts a query without an answer as 0, and leaves out queries without relevant documents', () => {
    const judgments = new Map([
      ['q1', new Map([['a', 1]])],
      ['q2', new Map([['a', 1]])],
      ['q3', new Map([['a', 0]])],
    ])
    const run = new Map([['q1', [{ id: 'a', score: 1 }]]])
    expect(measureRun(run, judgments)).toMatchObject({ queries: 2, ndcg10: 0.5, map: 0.5 })
  })

  it.skipIf(!existsSync(EVALUATOR))('agrees with the evaluator of the development sets', () => {
    let state = 1
    const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below
    const judgments = new Map<string, Map<string, number>>()
    const run = new Map<string, RankedDocument[]>()
    for (let query = 0; query < 40; query++) {
      judgments.set(`q${query}`, new Map(Array.from({ length: 1 + random(20) }, () => [`d${random(300)}`, random(4)])))
      if (query % 9 === 0) continue
      run.set(
        `q${query}`,
        Array.from({ length: random(200) }, () => ({ id: `d${random(300)}`, score: random(50) / 7 })),
      )
    }
    const lines = (rows: Iterable<string>): string => `${[...rows].join('\n')}\n`
    const qrels = join(folder, 'qrels.tsv')
    const runFile = join(folder, 'run.txt')
    const judged = [...judgments].flatMap(([query, grades]) => [...grades].map(([id, grade]) => `${query}\t${id}\t${grade}`))
    writeFileSync(qrels, lines(['query-id\tcorpus-id\tscore', ...judged]))
    writeFileSync(
      runFile,
      lines([...run].flatMap(([query, found]) => found.map(({ id, score }) => `${query} Q0 ${id} 0 ${score} tag`))),
    )
    const { stdout } = spawnSync(process.execPath, [realpathSync(EVALUATOR), '--qrels', qrels, '--run', runFile], {
      encoding: 'utf8',
    })
    const theirs = (JSON.parse(stdout) as { metrics: Record<string, number> }).metrics
    const ours = measureRun(run, judgments)
    expect(ours.ndcg10).toBeCloseTo(theirs['ndcg@10'] ?? -1, 3)
    expect(ours.recall10).toBeCloseTo(theirs['recall@10'] ?? -1, 3)
    expect(ours.recall100).toBeCloseTo(theirs['recall@100'] ?? -1, 3)
    expect(ours.mrr10).toBeCloseTo(theirs['mrr@10'] ?? -1, 3)
    expect(ours.map).toBeCloseTo(theirs['map'] ?? -1, 3)
  })
})

describe('percentile', () => {
  it.each([
    [[], 0.5, 0],
    [[3], 0.99, 3],
    [[4, 1, 3, 2], 0.5, 2],
    [Array.from({ length: 100 }, (_, at) => at + 1), 0.99, 99],
  ])('of %j at %f is %d', (values, share, expected) => {
    expect(percentile(values, share)).toBe(expected)
  })
})
