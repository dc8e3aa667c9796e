import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SHARED } from '../../../test/support/shared.ts'
import { measureRanking, measureRun, percentile, rankingOf } from './metrics.ts'
import type { RankedDocument } from './metrics.ts'

const EVALUATOR = join(SHARED, 'retrieval', 'evaluate.mjs')

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
    const folder = mkdtempSync(join(tmpdir(), 'cria-metrics-'))
    try {
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
    } finally {
      rmSync(folder, { recursive: true })
    }
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
