import { describe, expect, it } from 'vitest'
import { inReadyGroups } from './ready.ts'
import type { Grouping } from './ready.ts'

async function* numbers(values: readonly (number | 'wait' | 'fail')[], log: string[] = []): AsyncGenerator<number, string> {
  try {
    for (const value of values) {
      if (value === 'wait') await new Promise((resolve) => setTimeout(resolve, 1))
      else if (value === 'fail') throw new Error('failed')
      else {
        log.push(`made ${value}`)
        yield value
      }
    }
    return 'end'
  } finally {
    log.push('closed')
  }
}

const groupingOf = (value: number): Grouping => (value > 0 ? 'open' : 'last')
const leave = (): void => {}

describe('inReadyGroups', () => {
  it('groups values that are ready in the same tick, up to a value that ends its group', async () => {
    const groups: number[][] = []
    for await (const group of inReadyGroups(numbers([1, 2, 'wait', 3, -1, 4, 5]), { groupingOf, leave })) groups.push(group)
    expect(groups).toEqual([
      [1, 2],
      [3, -1],
      [4, 5],
    ])
  })

  it('returns the return value of the iterator', async () => {
    const groups = inReadyGroups(numbers([1]), { groupingOf, leave })
    await groups.next()
    expect(await groups.next()).toEqual({ done: true, value: 'end' })
  })

  it('yields the values before a failure, then fails', async () => {
    const groups = inReadyGroups(numbers([1, 2, 'fail']), { groupingOf, leave })
    expect(await groups.next()).toEqual({ done: false, value: [1, 2] })
    await expect(groups.next()).rejects.toThrow('failed')
  })

  it('does not run ahead past a value that ends its group', async () => {
    const log: string[] = []
    const groups = inReadyGroups(numbers([-1, 2], log), { groupingOf, leave })
    await groups.next()
    await new Promise((resolve) => setImmediate(resolve))
    expect(log).toEqual(['made -1'])
    await groups.return('end')
    expect(log).toEqual(['made -1', 'closed'])
  })

  it('calls `leave` before it closes a waiting iterator', async () => {
    const log: string[] = []
    let release: (() => void) | undefined
    async function* waiting(): AsyncGenerator<number, void> {
      try {
        yield 1
        await new Promise<void>((resolve) => (release = resolve))
      } finally {
        log.push('closed')
      }
    }
    const groups = inReadyGroups(waiting(), {
      groupingOf,
      leave: () => {
        log.push('leaving')
        release?.()
      },
    })
    expect(await groups.next()).toEqual({ done: false, value: [1] })
    await groups.return(undefined)
    expect(log).toEqual(['leaving', 'closed'])
  })

  it('does not collect for ever from an iterator that never waits', async () => {
    async function* endless(): AsyncGenerator<number, void> {
      for (;;) yield 1
    }
    const groups = inReadyGroups(endless(), { groupingOf, leave })
    const first = await groups.next()
    expect(first.value).toHaveLength(256)
    await groups.return(undefined)
  })

  it('lets the event loop turn when an iterator never waits', async () => {
    let turned = false
    setImmediate(() => (turned = true))
    async function* endless(): AsyncGenerator<number, void> {
      for (;;) yield 1
    }
    const groups = inReadyGroups(endless(), { groupingOf, leave })
    await groups.next()
    expect(turned).toBe(true)
    await groups.return(undefined)
  })

  it('leaves nothing behind in the event loop', async () => {
    const waiting = (): number => process.getActiveResourcesInfo().filter((resource) => resource === 'Immediate').length
    const before = waiting()
    for (let round = 0; round < 100; round++) {
      for await (const group of inReadyGroups(numbers([1, 2, 3]), { groupingOf, leave })) expect(group).toEqual([1, 2, 3])
    }
    expect(waiting()).toBe(before)
  })

  it('delays `paced` values until the spacing since the last group has passed, but not after a pause', async () => {
    async function* steady(): AsyncGenerator<number, void> {
      for (let value = 1; value <= 40; value++) {
        await new Promise((resolve) => setTimeout(resolve, 2))
        yield value
      }
    }
    const groups: number[][] = []
    for await (const group of inReadyGroups(steady(), { groupingOf: () => 'paced', spacingMs: 30, leave })) groups.push(group)
    expect(groups[0]).toEqual([1])
    expect(groups.flat()).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
    expect(groups.length).toBeLessThan(12)
  })

  it('does not delay values after a group of another kind', async () => {
    const groups = inReadyGroups(numbers([-1, 1, 'wait', 2]), {
      groupingOf: (value) => (value > 0 ? 'paced' : 'last'),
      spacingMs: 60_000,
      leave,
    })
    expect((await groups.next()).value).toEqual([-1])
    expect((await groups.next()).value).toEqual([1])
    await groups.return('end')
  })

  it('ends a delayed group at once when a value of another kind arrives', async () => {
    const groups = inReadyGroups(numbers([1, 'wait', 2, 'wait', -1]), {
      groupingOf: (value) => (value > 0 ? 'paced' : 'last'),
      spacingMs: 60_000,
      leave,
    })
    expect((await groups.next()).value).toEqual([1])
    expect((await groups.next()).value).toEqual([2, -1])
    await groups.return('end')
  })
})
