/** Runs one turn for each item of a list, several at once, under one budget; results come in the order of the items. */

import { appendFileSync, closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { BudgetLimits } from '../core/budget.ts'
import type { Clock } from '../core/clock.ts'
import { ConfigurationError, CriaError, isCriaError } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import type { Usage } from '../core/usage.ts'
import { ZERO_USAGE } from '../core/usage.ts'
import { beginBatch, inBatch } from '../engine/parent.ts'
import type { Batch } from '../engine/parent.ts'
import { timeExceeded } from '../engine/budget/plan.ts'
import { checkBudget } from '../engine/checks/options.ts'
import { checkNames, checkNumber, checkType } from '../engine/checks/values.ts'
import { canonicalJson, sha256 } from '../util/hash.ts'
import { isRecord } from '../util/check.ts'
import { steadyClock } from '../util/clock.ts'
import { makeFolder } from '../util/files.ts'
import { namesOf } from '../util/nearest.ts'
import { resultOf } from './event-stream.ts'

/** Options of `mapTurns()`. */
export interface MapTurnsOptions<Item, Value> {
  /** Maximum number of items processed at the same time; default 4. Fewer when the budget has no room for so many. */
  readonly concurrency?: number
  /** Limits of all items together: `tokens`, `costUsd` in US dollars, `ms` in milliseconds. Default no limit. */
  readonly budget?: BudgetLimits & { readonly ms?: number }
  /** Called after each item, in the order of completion. An exception it throws ends the work as an abort does. */
  readonly onProgress?: (progress: MapProgress<Item, Value>) => void
  /** Returns the key of an item in the file of `resume`; default a hash of the item as JSON. Keys must be unique. */
  readonly key?: (item: Item, index: number) => string
  /**
   * A file, created where it is missing, that receives each value as a line of JSON when it is ready. Items in it are not processed again: after
   * a crash, or to retry failed items, call again with the same file.
   */
  readonly resume?: string
  /** Ends the work: running items are aborted, the others are skipped. */
  readonly abortSignal?: AbortSignal
  /** For tests. */
  readonly clock?: Clock
}

/** The second argument of the function, beside its item. */
export interface MapContext {
  /** The place of the item in the list, from 0. */
  readonly index: number
  /** The key of the item in the file of `resume`. */
  readonly key: string
  /** Aborted when the work is to end; turns that the function starts receive it automatically. */
  readonly abortSignal: AbortSignal
}

interface Outcome<Item> {
  readonly item: Item
  readonly index: number
  readonly key: string
  /** Tokens of all turns made for this item, failed turns included; for a resumed value, those of the earlier run. */
  readonly usage: Usage
  /** US dollars for these turns; `null` when a price is unknown. */
  readonly costUsd: number | null
}

/** The outcome of one item. */
export type MapResult<Item, Value> =
  /** `resumed`: the value was read from the file of `resume`, without a request. */
  | (Outcome<Item> & {
      /** How the work on the item ended. */
      readonly status: 'done'
      /** The result of the function for the item. */
      readonly value: Value
      /** The value was read from the file of `resume`, without a request. */
      readonly resumed: boolean
    })
  | (Outcome<Item> & {
      readonly status: 'failed'
      /** The reason why the item has no value. */
      readonly error: CriaError
    })
  /** Never started: the work was aborted, or its budget was used up before. */
  | (Outcome<Item> & { readonly status: 'skipped'; readonly error: CriaError })

/** Counts of items, and their use so far. */
export interface MapSums {
  /** Items that have a value. */
  readonly done: number
  /** Items whose function failed. */
  readonly failed: number
  /** Items that were never started. */
  readonly skipped: number
  /** Done items whose value was read from the file of `resume`. */
  readonly resumed: number
  /** All items. */
  readonly total: number
  /** Tokens of this run: those of running items included, those of resumed values excluded. */
  readonly usage: Usage
  /** US dollars of this run; `null` when a price is unknown. */
  readonly costUsd: number | null
}

/** The progress of `mapTurns()`. */
export interface MapProgress<Item, Value> extends MapSums {
  /** The item that has just ended. */
  readonly last: MapResult<Item, Value>
}

/** The result of `mapTurns()`. */
export interface MapReport<Item, Value> extends MapSums {
  /** A result per item, in the order of the items. */
  readonly results: readonly MapResult<Item, Value>[]
}

/** Produces the value of an item: calls a bot's `ask()`, does any other work, or returns a `query()`, whose result is then the value. */
export type MapFunction<Item, Value> = (
  item: Item,
  context: MapContext,
) => PromiseLike<Value> | AsyncGenerator<QueryEvent, Value | undefined>

const OPTIONS = namesOf<MapTurnsOptions<unknown, unknown>>({
  concurrency: true,
  budget: true,
  onProgress: true,
  key: true,
  resume: true,
  abortSignal: true,
  clock: true,
})
const DEFAULT_CONCURRENCY = 4

/**
 * Calls `fn` for each item, several at a time, and resolves to all results in the order of the items, with their cost. A failed item is a result
 * too and does not affect the others. All turns that `fn` makes, nested turns included, are counted in `budget` before their requests are sent, so
 * that it is not exceeded; once it is used up, the remaining items are skipped.
 *
 * @throws ConfigurationError for wrong options, duplicate keys, a `resume` file of another format, or a value that is not JSON; any exception of
 *   `onProgress`.
 */
export async function mapTurns<Item, Value>(
  items: Iterable<Item> | AsyncIterable<Item>,
  fn: MapFunction<Item, Value>,
  options: MapTurnsOptions<Item, Value> = {},
): Promise<MapReport<Item, Value>> {
  checkNames('mapTurns()', options, OPTIONS, { signal: 'abortSignal', maxConcurrency: 'concurrency' })
  const { concurrency = DEFAULT_CONCURRENCY, budget = {}, key, resume, abortSignal, onProgress, clock = steadyClock() } = options
  if (typeof fn !== 'function') throw new ConfigurationError('mapTurns() takes items and a function that makes a turn of one.')
  checkNumber('concurrency', concurrency, 1)
  checkType('key', key, 'function')
  checkType('onProgress', onProgress, 'function')
  checkType('resume', resume, 'string')
  checkBudget(budget)

  const jobs = keyed(await Array.fromAsync(items), key)
  const { ms, ...limits } = budget
  const ending = new AbortController()
  const signal = abortSignal === undefined ? ending.signal : AbortSignal.any([abortSignal, ending.signal])
  const over = new AbortController()
  const batch = beginBatch('batch', { budget: limits, signal, deadline: clock.now() + (ms ?? Infinity), clock })
  if (ms !== undefined)
    clock.sleep(ms, over.signal).then(
      () => ending.abort(timeExceeded(ms, 'batch')),
      () => {},
    )
  const kept = resume === undefined ? undefined : new KeptValues<Value>(resolve(resume))
  const results: MapResult<Item, Value>[] = []
  const sums = { done: 0, failed: 0, skipped: 0, resumed: 0 }
  const sumsNow = (): MapSums => ({ ...sums, total: jobs.length, usage: batch.ledger.usage, costUsd: batch.ledger.costUsd })
  const end = (result: MapResult<Item, Value>): void => {
    results[result.index] = result
    sums[result.status]++
    if (result.status === 'done' && result.resumed) sums.resumed++
    onProgress?.({ ...sumsNow(), last: result })
  }

  const waiting: Job<Item>[] = []
  const running = new Set<Promise<void>>()
  let most = concurrency
  let stopped: CriaError | undefined
  let broken: { readonly thrown: unknown } | undefined
  const begin = async (job: Job<Item>): Promise<void> => {
    const result = await run(job, fn, batch, clock)
    if (result.status === 'done') kept?.add(result)
    if (result.status === 'failed' && isOutOfRoom(result.error) && result.usage === ZERO_USAGE) {
      if (result.error.retryable && running.size > 1) {
        // Other items hold the reserved budget: retry when one of them has ended, with fewer at a time.
        most = running.size - 1
        waiting.unshift(job)
        return
      }
      stopped ??= result.error
    }
    end(result)
  }
  try {
    for (const job of jobs) {
      const value = kept?.get(job.key)
      if (value === undefined) waiting.push(job)
      else end({ ...job, status: 'done', resumed: true, ...value })
    }
    while (waiting.length > 0 || running.size > 0) {
      if (signal.aborted) stopped ??= asError(signal.reason, 'aborted')
      const [job] = waiting
      if (job !== undefined && stopped !== undefined) {
        waiting.shift()
        end({ ...job, status: 'skipped', error: stopped, usage: ZERO_USAGE, costUsd: 0 })
      } else if (job !== undefined && running.size < most) {
        waiting.shift()
        const work: Promise<void> = begin(job)
          .catch((thrown: unknown) => void (broken ??= { thrown }))
          .finally(() => running.delete(work))
        running.add(work)
      } else {
        await Promise.race(running)
        if (broken !== undefined) throw broken.thrown
      }
    }
  } catch (thrown) {
    ending.abort(thrown)
    await Promise.allSettled(running)
    throw thrown
  } finally {
    over.abort()
    kept?.close()
  }
  return { results, ...sumsNow() }
}

interface Job<Item> {
  readonly item: Item
  readonly index: number
  readonly key: string
}

/** @throws ConfigurationError when two items have one key. */
function keyed<Item>(items: readonly Item[], key: MapTurnsOptions<Item, unknown>['key']): Job<Item>[] {
  const seen = new Map<string, number>()
  return items.map((item, index) => {
    const name = key === undefined ? sha256(canonicalJson(item)) : key(item, index)
    if (typeof name !== 'string')
      throw new ConfigurationError(`\`key\` must return a text, but returned ${typeof name} for item ${index}.`)
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    if (before > 0 && key !== undefined)
      throw new ConfigurationError(
        `Two items have the key ${JSON.stringify(name)}: the second is number ${index}, counted from 0.`,
      )
    return { item, index, key: before === 0 ? name : `${name}#${before + 1}` }
  })
}

async function run<Item, Value>(
  job: Job<Item>,
  fn: MapFunction<Item, Value>,
  batch: Batch,
  clock: Clock,
): Promise<MapResult<Item, Value>> {
  const { index, key } = job
  const { ledger, value } = inBatch(batch, key, clock, async () => {
    const made = await fn(job.item, { index, key, abortSignal: batch.signal })
    return isTurn(made) ? ((await resultOf(made)) as Value) : made
  })
  const sums = (): Pick<Outcome<Item>, 'usage' | 'costUsd'> => ({ usage: ledger.usage, costUsd: ledger.costUsd })
  try {
    return { ...job, status: 'done', resumed: false, value: await value, ...sums() }
  } catch (thrown) {
    const error = asError(thrown, 'internal')
    // The time limit of all items aborted this turn, so it is the reason of the failure.
    const reason: unknown = batch.signal.reason
    const isOver = error.code === 'aborted' && isCriaError(reason) && reason.code === 'budget_exceeded'
    return { ...job, status: 'failed', error: isOver ? reason : error, ...sums() }
  }
}

function isTurn<Value>(
  made: Value | AsyncGenerator<QueryEvent, Value | undefined>,
): made is AsyncGenerator<QueryEvent, Value | undefined> {
  return typeof made === 'object' && made !== null && Symbol.asyncIterator in made && 'next' in made
}

function asError(thrown: unknown, code: 'internal' | 'aborted'): CriaError {
  if (isCriaError(thrown)) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const isAbort = code === 'aborted' || (thrown instanceof Error && thrown.name === 'AbortError')
  return new CriaError(isAbort ? 'aborted' : 'internal', message, {
    ...(isAbort ? {} : { hint: 'The function passed to mapTurns() threw this.' }),
    cause: thrown,
  })
}

function isOutOfRoom({ code, details }: CriaError): boolean {
  return code === 'budget_exceeded' && details?.['scope'] === 'batch'
}

type Kept<Value> = Pick<Outcome<unknown>, 'usage' | 'costUsd'> & { readonly value: Value }

/** The beginning of every line: a first line that a crash has cut still shows it. */
const FIRST = '{"key":'

/** Reads and appends values in a file of lines. Skips a line that a crash has cut; its item is processed again. */
class KeptValues<Value> {
  readonly #values = new Map<string, Kept<Value>>()
  readonly #file: number

  /** @throws ConfigurationError when the file has another content. */
  constructor(path: string) {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.isFile() === false) throw new ConfigurationError(`${path} is not a file. Name another one for \`resume\`.`)
    const text = found === undefined ? '' : readFileSync(path, 'utf8')
    const lines = text.split('\n')
    for (const [index, line] of lines.entries()) {
      const kept = line === '' ? undefined : parsed<Value>(line)
      if (kept !== undefined) this.#values.set(kept.key, kept)
      else if (line !== '' && index === 0 && (lines.length > 1 || !line.startsWith(FIRST)))
        throw new ConfigurationError(
          `${path} holds no values of mapTurns(): its first line has another form. Name another file for \`resume\`.`,
        )
    }
    makeFolder(dirname(path), 0o700)
    this.#file = openSync(path, 'a', 0o600)
    if (text !== '' && !text.endsWith('\n')) appendFileSync(this.#file, '\n')
  }

  get(key: string): Kept<Value> | undefined {
    return this.#values.get(key)
  }

  add({ key, value, usage, costUsd }: Outcome<unknown> & { readonly value: Value }): void {
    let line: string
    try {
      line = JSON.stringify({ key, value, usage, costUsd })
    } catch (cause) {
      throw new ConfigurationError(`The value of ${key} cannot be kept for \`resume\`: it is not JSON.`, { cause })
    }
    appendFileSync(this.#file, `${line}\n`)
  }

  close(): void {
    closeSync(this.#file)
  }
}

function parsed<Value>(line: string): (Kept<Value> & { readonly key: string }) | undefined {
  try {
    const read: unknown = JSON.parse(line)
    if (!isRecord(read) || typeof read['key'] !== 'string' || !isRecord(read['usage'])) return undefined
    return { value: undefined, ...read } as unknown as Kept<Value> & { readonly key: string }
  } catch {
    return undefined
  }
}
