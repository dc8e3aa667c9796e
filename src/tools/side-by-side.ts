/** Runs generators side by side; nothing else does. */

import { Mailbox } from './work.ts'

type Source<T> = AsyncGenerator<T, void, undefined>

type Arrival<T> =
  | { readonly source: Source<T>; readonly result: IteratorResult<T, void> }
  | { readonly source: Source<T>; readonly thrown: unknown }

/**
 * Runs sources together and yields what they yield, as it comes. `next` names the sources to start: it is asked at the beginning and
 * after every source that has ended, and holds the number of those at work in bounds. The end is reached when nothing runs and `next`
 * names nothing more.
 *
 * A source goes on only when the reader has come back for more after its last value: what it said before an effect has been written
 * down when the effect begins. When a source throws, or the reader leaves, the others are returned and waited for.
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
