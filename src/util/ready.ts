/** Groups the values that an iterator has ready, to save costs that arise per group. */

const MAX_BATCH = 256

/**
 * Defines how a value may be grouped:
 * `paced` may wait for more of its kind until `spacingMs` have passed since the last group;
 * `open` is grouped with values that arrive before the next turn of the event loop;
 * `last` ends its group at once, so that the iterator does not continue before the reader has the value.
 */
export type Grouping = 'paced' | 'open' | 'last'

export interface GroupOptions<T> {
  readonly groupingOf: (value: T) => Grouping
  /** Milliseconds between groups of `paced` values; a value after a longer pause is not delayed. Default 0. */
  readonly spacingMs?: number
  /** Called when the reader leaves while a value is awaited; must make the iterator settle. */
  readonly leave: () => void
}

/** Yields the values of an iterator in groups, and returns its return value. A failure is thrown after the values before it. */
export async function* inReadyGroups<T, R>(
  iterator: AsyncIterator<T, R>,
  { groupingOf, spacingMs = 0, leave }: GroupOptions<T>,
): AsyncGenerator<T[], R, undefined> {
  const collector = new Collector(iterator, groupingOf)
  let finished = false
  let handedOutAt = -Infinity
  try {
    for (;;) {
      const result = await collector.next()
      if (result.done === true) {
        finished = true
        return result.value
      }
      const group = await collector.groupOf(result.value, handedOutAt + spacingMs)
      // Other values do not delay `paced` values: the first delta of an answer is shown at once.
      if (groupingOf(result.value) === 'paced') handedOutAt = performance.now()
      yield group
    }
  } finally {
    if (!finished) {
      leave()
      await collector.settled()
      await iterator.return?.()
    }
  }
}

class Collector<T, R> {
  readonly #iterator: AsyncIterator<T, R>
  readonly #groupingOf: (value: T) => Grouping
  /** The next value, requested but not in a group yet. */
  #pending: Promise<IteratorResult<T, R>> | undefined

  constructor(iterator: AsyncIterator<T, R>, groupingOf: (value: T) => Grouping) {
    this.#iterator = iterator
    this.#groupingOf = groupingOf
  }

  async next(): Promise<IteratorResult<T, R>> {
    const result = await (this.#pending ?? this.#iterator.next())
    this.#pending = undefined
    return result
  }

  async settled(): Promise<void> {
    await this.#pending?.catch(() => {})
  }

  /** @param heldUntil deadline for handing out a group of `paced` values, by `performance.now()`. */
  groupOf(first: T, heldUntil: number): T[] | Promise<T[]> {
    const group = [first]
    const grouping = this.#groupingOf(first)
    if (grouping === 'last') return group
    return new Promise((resolve) => {
      let isOver = false
      let held: NodeJS.Timeout | undefined
      let turning: NodeJS.Immediate | undefined
      const end = (): void => {
        isOver = true
        clearTimeout(held)
        clearImmediate(turning)
        resolve(group)
      }
      const endSoon = (): void => {
        turning ??= setImmediate(end)
      }
      const pull = (): void => {
        const asked = this.#iterator.next()
        this.#pending = asked
        // The next round handles a late value, the end and a failure.
        asked.then((result) => {
          if (isOver) return
          if (result.done === true) end()
          else {
            this.#pending = undefined
            group.push(result.value)
            goOn(this.#groupingOf(result.value))
          }
        }, end)
      }
      const goOn = (added: Grouping): void => {
        if (added === 'last') {
          end()
          return
        }
        if (added === 'open') endSoon()
        // Limits the group, so that an iterator that never waits does not block timers and signals.
        if (group.length < MAX_BATCH) pull()
        else endSoon()
      }
      const wait = heldUntil - performance.now()
      if (grouping === 'open' || wait < 1) endSoon()
      else held = setTimeout(end, wait)
      goOn(grouping)
    })
  }
}
