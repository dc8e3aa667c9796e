/** What an iterator has ready now, without waiting for more. */

const MAX_BATCH = 256

/**
 * Groups the values of an iterator: after a value that `open` accepts, what arrives before the event loop turns is added to the
 * same group. A value that `open` refuses ends its group at once, so the iterator is never run ahead of its reader past it.
 *
 * When the reader leaves while a value is awaited, `leave` is called first: it has to make the iterator settle.
 */
export async function* inReadyGroups<T, R>(
  iterator: AsyncIterator<T, R>,
  open: (value: T) => boolean,
  leave: () => void,
): AsyncGenerator<T[], R, undefined> {
  let pending: Promise<IteratorResult<T, R>> | undefined
  let finished = false
  try {
    for (;;) {
      let result = await (pending ?? iterator.next())
      pending = undefined
      const group: T[] = []
      let turn: Turn | undefined
      while (!result.done) {
        group.push(result.value)
        if (!open(result.value)) break
        turn ??= nextTurn()
        // An iterator that never waits must not keep timers and signals from having their turn.
        if (group.length >= MAX_BATCH) {
          await turn.passed
          break
        }
        pending = iterator.next()
        // A rejection is met by the await above in the next round, after what came before it has been handed out.
        const next = await Promise.race([pending.catch(() => undefined), turn.passed])
        if (next === undefined) break
        pending = undefined
        result = next
      }
      turn?.forget()
      if (group.length > 0) yield group
      if (result.done) {
        finished = true
        return result.value
      }
    }
  } finally {
    if (!finished) {
      leave()
      await pending?.catch(() => {})
      await iterator.return?.()
    }
  }
}

interface Turn {
  /** Resolves when the event loop has turned. */
  readonly passed: Promise<undefined>
  /** Nobody waits for it any more: what hangs on it can go. */
  forget(): void
}

function nextTurn(): Turn {
  const { promise: passed, resolve } = Promise.withResolvers<undefined>()
  const immediate = setImmediate(resolve, undefined)
  return { passed, forget: () => clearImmediate(immediate) }
}
