/** Runs generators concurrently. */

import { Mailbox } from './work.ts'

type Source<T> = AsyncGenerator<T, void, undefined>

type Arrival<T> =
  | { readonly source: Source<T>; readonly result: IteratorResult<T, void> }
  | { readonly source: Source<T>; readonly thrown: unknown }

/**
 * Runs sources concurrently and yields their values as they arrive. `next` returns the sources to start; it is called at the
 * beginning and whenever a source has ended, and limits the concurrency. The generator ends when no source runs and `next` returns
 * no more.
 *
 * A source continues only when the reader has asked for the value after its last one: an event announced before an effect is
 * stored when the effect begins. When a source throws, or the reader leaves, the others are returned and awaited.
 */
export async function* sideBySide<T>(next: () => Iterable<Source<T>>): AsyncGenerator<T, void, undefined> {
  const running = new Set<Source<T>>()
  const arrived = new Mailbox<Arrival<T>>()
  const advance = (source: Source<T>): void => {
    running.add(source)
    source.next().then(
      (result) => arrived.post({ source, result }),
      (thrown: unknown) => arrived.post({ source, thrown }),
    )
  }
  try {
    for (const source of next()) advance(source)
    while (running.size > 0) {
      const arrival = await arrived.take()
      if ('thrown' in arrival) {
        running.delete(arrival.source)
        throw arrival.thrown
      }
      if (arrival.result.done === true) {
        running.delete(arrival.source)
        for (const source of next()) advance(source)
      } else {
        yield arrival.result.value
        advance(arrival.source)
      }
    }
  } finally {
    await Promise.allSettled([...running].map((source) => source.return()))
  }
}
