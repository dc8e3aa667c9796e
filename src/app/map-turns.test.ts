import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderForEach } from '../../test/support/folder.ts'
import { CriaError, mapTurns, query, SimpleBot } from '../index.ts'
import type { BotAnswer, BotOptions, LanguageModel } from '../index.ts'
import { ScriptedModel } from '../testing.ts'

let folder: string
let file: string
folderForEach((made) => {
  folder = made
  file = join(folder, 'values', 'run.jsonl')
})

const usage = { inputTokens: 10, outputTokens: 5 }
const PRICE = { price: { input: 1_000_000, output: 1_000_000 } }
const quiet = { recorder: false, streamTarget: 'none', retry: { maxRetries: 0 } } as const
const asker = (model: LanguageModel, more: BotOptions = {}): ((item: string) => Promise<BotAnswer>) => {
  const bot = new SimpleBot({ ...quiet, ...more, model })
  return (item) => bot.ask(item)
}
/** Answers each question with itself. */
const echo = (): ScriptedModel =>
  new ScriptedModel(({ messages }) => ({ text: `${messages.at(-1)?.content}!`, usage }), {
    facts: { ...PRICE, maxOutputTokens: 5 },
  })

describe('mapTurns', () => {
  it('returns results in the order of the items, keeps failures, and adds up the cost of all turns', async () => {
    const model = new ScriptedModel(
      ({ messages }) => {
        const question = messages.at(-1)?.content ?? ''
        if (question === 'bad') return { fail: { after: 0, error: new CriaError('policy', 'No.') } }
        return { text: `${question}!`, usage }
      },
      { facts: PRICE },
    )
    const progress: (readonly [number, number, string])[] = []
    const report = await mapTurns(['a', 'bad', 'c'], asker(model), {
      concurrency: 2,
      onProgress: ({ done, failed, last }) => progress.push([done, failed, last.item]),
    })
    expect(report.results).toMatchObject([
      { item: 'a', index: 0, status: 'done', value: { content: 'a!' }, usage: { totalTokens: 15 }, costUsd: 15, resumed: false },
      { item: 'bad', index: 1, status: 'failed', error: { code: 'policy', usage: { totalTokens: 0 } }, costUsd: 0 },
      { item: 'c', index: 2, status: 'done', value: { content: 'c!' } },
    ])
    expect(report).toMatchObject({
      done: 2,
      failed: 1,
      skipped: 0,
      resumed: 0,
      total: 3,
      costUsd: 30,
      usage: { totalTokens: 30 },
    })
    expect(progress.at(-1)?.slice(0, 2)).toEqual([2, 1])
    expect(progress.map(([, , item]) => item).toSorted()).toEqual(['a', 'bad', 'c'])
  })

  it('runs at most `concurrency` items, and starts the next as soon as an item ends', async () => {
    let [atWork, most] = [0, 0]
    const model = new ScriptedModel(() => ({
      text: 'x',
      before: async (part) => {
        if (part > 0) return
        most = Math.max(most, ++atWork)
        await new Promise(setImmediate)
        atWork--
      },
    }))
    await mapTurns(
      Array.from({ length: 9 }, (_, at) => String(at)),
      asker(model),
      { concurrency: 3 },
    )
    expect(most).toBe(3)
  })

  it('accepts async iterables, several turns for an item, and query()', async () => {
    const model = echo()
    async function* items(): AsyncGenerator<string> {
      yield 'a'
      yield 'b'
    }
    const ask = asker(model)
    const twice = await mapTurns(items(), async (item) => [(await ask(item)).content, (await ask(`${item}2`)).content])
    expect(twice.results).toMatchObject([
      { value: ['a!', 'a2!'], costUsd: 30 },
      { value: ['b!', 'b2!'], costUsd: 30 },
    ])
    const turns = await mapTurns(['a'], (prompt) => query({ prompt, model }))
    expect(turns.results).toMatchObject([{ status: 'done', value: { text: 'a!', finishReason: 'stop' }, costUsd: 15 }])
    const failing = new ScriptedModel([{ fail: { after: 0, error: new CriaError('policy', 'No.') } }])
    const failed = await mapTurns(['a'], (prompt) => query({ prompt, model: failing }))
    expect(failed.results).toMatchObject([{ status: 'failed', error: { code: 'policy' } }])
  })

  it.each([1, 4])(
    'ENG-METRIC-002 a budget is never exceeded, and items beyond it are skipped: %d at a time',
    async (concurrency) => {
      const model = echo()
      const items = Array.from({ length: 20 }, (_, at) => `question ${at}`)
      const report = await mapTurns(items, asker(model), { concurrency, budget: { costUsd: 250 } })
      expect(report.costUsd).toBeLessThanOrEqual(250)
      expect(report.costUsd).toBeGreaterThan(150)
      expect(report.done * 15).toBe(report.costUsd)
      expect(model.requests).toHaveLength(report.done)
      expect(report.failed).toBeGreaterThanOrEqual(1)
      expect(report.skipped).toBe(20 - report.done - report.failed)
      const left = report.results.find(({ status }) => status === 'skipped')
      expect(left).toMatchObject({ error: { code: 'budget_exceeded', details: { scope: 'batch', kind: 'costUsd' } } })
    },
  )

  it('an item without room in the budget is retried when another has ended', async () => {
    const model = new ScriptedModel(
      () => ({ text: 'x', usage, before: (part) => (part === 0 ? new Promise((go) => setImmediate(go)) : undefined) }),
      { facts: { ...PRICE, maxOutputTokens: 200 } },
    )
    const report = await mapTurns(['a', 'b', 'c'], asker(model), { concurrency: 3, budget: { costUsd: 500 } })
    expect(report).toMatchObject({ done: 3, failed: 0, skipped: 0 })
  })

  it('rejects a budget in money for a model without a price', async () => {
    const report = await mapTurns(['a'], asker(new ScriptedModel(['x'])), { budget: { costUsd: 1 } })
    expect(report.results).toMatchObject([{ status: 'failed', error: { code: 'configuration' } }])
  })

  it('reuses values of the `resume` file by key, also after a crash within a line, and retries failed items', async () => {
    const model = echo()
    const items = [{ id: 'x' }, { id: 'y' }, { id: 'z' }]
    const ask = asker(model)
    const options = { resume: file, key: ({ id }: { id: string }) => id }
    await mapTurns(items.slice(0, 1), ({ id }) => ask(id), options)
    const broken = await mapTurns(items.slice(1, 2), () => Promise.reject(new Error('Out of luck.')), options)
    expect(broken.results).toMatchObject([{ status: 'failed', error: { code: 'internal', message: 'Out of luck.' } }])
    appendFileSync(file, '{"key":"z","value":{"con')
    const again = await mapTurns(items, ({ id }) => ask(id), options)
    expect(again.results).toMatchObject([
      { status: 'done', resumed: true, value: { content: 'x!' }, costUsd: 15 },
      { status: 'done', resumed: false, value: { content: 'y!' } },
      { status: 'done', resumed: false, value: { content: 'z!' } },
    ])
    expect(again).toMatchObject({ done: 3, resumed: 1, costUsd: 30 })
    const last = await mapTurns(items, ({ id }) => ask(id), options)
    expect(last).toMatchObject({ done: 3, resumed: 3, costUsd: 0 })
    expect(model.requests).toHaveLength(3)
  })

  it('distinguishes equal items without a key', async () => {
    const model = echo()
    await mapTurns(['a', 'a'], asker(model), { resume: file })
    const more = await mapTurns(['a', 'a', 'a'], asker(model), { resume: file })
    expect(more).toMatchObject({ done: 3, resumed: 2 })
    expect(model.requests).toHaveLength(3)
  })

  it('ends when it is aborted: running items fail, others are skipped, done items stay', async () => {
    const abort = new AbortController()
    const model = new ScriptedModel((_, call) =>
      call < 2 ? { text: 'x', usage } : { text: 'x', before: () => abort.abort(new Error('Enough.')) },
    )
    const report = await mapTurns(['a', 'b', 'c', 'd'], asker(model), { concurrency: 1, abortSignal: abort.signal })
    expect(report.results).toMatchObject([
      { status: 'done' },
      { status: 'done' },
      { status: 'failed', error: { code: 'aborted', name: 'AbortError' } },
      { status: 'skipped', error: { code: 'aborted', message: 'Enough.' } },
    ])
    expect(model.open).toBe(0)
  })

  it('ends when its time is up', async () => {
    const model = new ScriptedModel(() => ({ hang: { after: 0 } }))
    const report = await mapTurns(['a', 'b'], asker(model), { concurrency: 1, budget: { ms: 20 } })
    expect(report.results).toMatchObject([
      { status: 'failed', error: { code: 'budget_exceeded', details: { kind: 'ms', scope: 'batch' } } },
      { status: 'skipped', error: { code: 'budget_exceeded' } },
    ])
  })

  it('rejects with the error of onProgress after all items have ended', async () => {
    const model = echo()
    const boom = new Error('boom')
    const work = mapTurns(['a', 'b', 'c'], asker(model), {
      onProgress: () => {
        throw boom
      },
    })
    await expect(work).rejects.toBe(boom)
    expect(model.open).toBe(0)
  })

  it('rejects wrong options before any request', async () => {
    const model = echo()
    const ask = asker(model)
    await expect(mapTurns(['a'], ask, { concurrency: 0 })).rejects.toThrow(/`concurrency` must be a number of at least 1/)
    await expect(mapTurns(['a'], ask, { signal: new AbortController().signal } as never)).rejects.toThrow(/abortSignal/)
    await expect(mapTurns(['a', 'b'], ask, { key: () => 'same' })).rejects.toThrow(/Two items have the key "same"/)
    const note = join(folder, 'note.txt')
    writeFileSync(note, 'remember the milk')
    await expect(mapTurns(['a'], ask, { resume: note })).rejects.toThrow(/holds no values of mapTurns/)
    expect(readFileSync(note, 'utf8')).toBe('remember the milk')
    const other = join(folder, 'package.json')
    writeFileSync(other, '{\n  "name": "x"\n}\n')
    await expect(mapTurns(['a'], ask, { resume: other })).rejects.toThrow(/holds no values of mapTurns/)
    expect(readFileSync(other, 'utf8')).toBe('{\n  "name": "x"\n}\n')
    await expect(mapTurns(['a'], ask, { resume: folder })).rejects.toThrow(/is not a file\. Name another one for `resume`/)
    expect(model.requests).toHaveLength(0)
    await expect(mapTurns(['a'], () => Promise.resolve(1n), { resume: file })).rejects.toThrow(/is not JSON/)
  })
})
