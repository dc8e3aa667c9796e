/** A journal storage in memory: for tests, and as a model for a storage on a database. */

import type { JournalRows, JournalStorage, RowRange } from '../../core/storage.ts'

/** Makes a storage that ends with its process. Several recorders may share it. */
export function memoryStorage(): JournalStorage {
  const rows = new Map<string, string>()
  let last: Promise<unknown> = Promise.resolve()
  const run = async <Result>(work: (rows: JournalRows) => Promise<Result>): Promise<Result> => {
    const changes = new Map<string, string | undefined>()
    const result = await work(changed(rows, changes))
    for (const [key, value] of changes) {
      if (value === undefined) rows.delete(key)
      else rows.set(key, value)
    }
    return result
  }
  return {
    transaction: (work) => {
      const done = last.then(() => run(work))
      last = done.catch(() => {})
      return done
    },
  }
}

/** Returns the rows overlaid with uncommitted changes. */
function changed(rows: ReadonlyMap<string, string>, changes: Map<string, string | undefined>): JournalRows {
  return {
    get: (key) => (changes.has(key) ? changes.get(key) : rows.get(key)),
    list: ({ from, to, reverse = false, limit = Infinity }: RowRange) => {
      const all = new Map<string, string | undefined>([...rows, ...changes])
      const found = [...all].flatMap(([key, value]) =>
        value !== undefined && key >= from && key < to ? [[key, value] as const] : [],
      )
      const ordered = found.sort(([a], [b]) => (a < b ? -1 : 1))
      return (reverse ? ordered.reverse() : ordered).slice(0, limit)
    },
    set: (key, value) => void changes.set(key, value),
    delete: (key) => void changes.set(key, undefined),
  }
}
