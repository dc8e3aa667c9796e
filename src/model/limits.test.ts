import { describe, expect, it } from 'vitest'
import type { CriaError } from '../core/error.ts'
import type { Clock } from '../core/clock.ts'
import type { ModelPart } from '../core/model.ts'
import { createCeilings, Watchdog } from './limits.ts'
import type { Timeouts } from './limits.ts'

/** Passes from wait to wait, and stops at `until`. */
class SteppedClock implements Clock {
  time = 0
  #due = Infinity
  #resume: () => void = () => {}

  now(): number {
    return this.time
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#due = this.time + ms
      this.#resume = resolve
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  }

  /** Sets the clock back; a pending wait still ends after the same time. */
  setBack(ms: number): void {
    this.time -= ms
    this.#due -= ms
  }

  async passTo(until: number): Promise<void> {
    await Promise.resolve()
    while (this.#due <= until) {
      this.time = this.#due
      this.#due = Infinity
      this.#resume()
      for (let tick = 0; tick < 5; tick++) await Promise.resolve()
    }
    this.time = until
  }
}

/** Receives a part at each of these times, with a reader that takes no time. Returns when the attempt was given up, and why. */
async function givenUp(limits: Partial<Timeouts>, parts: readonly number[], end = 1_000_000, streamed = true): Promise<string> {
  const clock = new SteppedClock()
  const over = new AbortController()
  const watchdog = new Watchdog('a/model', { firstToken: null, idle: null, whole: null, step: null, ...limits }, clock, streamed)
  let at: number | undefined
  watchdog.signal.addEventListener('abort', () => (at = clock.time))
  watchdog.waiting()
  const watching = watchdog.watch(over.signal)
  for (const time of [...parts, end]) {
    await clock.passTo(time)
    if (at !== undefined) break
    watchdog.received()
    watchdog.waiting()
  }
  over.abort()
  await watching
  return at === undefined ? 'never' : `${at}: ${(watchdog.signal.reason as CriaError).message}`
}

describe('Watchdog', () => {
  it.each<readonly [string, Partial<Timeouts>, readonly number[], string]>([
    ['no limits', {}, [5000], 'never'],
    ['nothing comes', { firstToken: 120, idle: 60 }, [], '120: a/model sent nothing for 120 ms.'],
    ['nothing comes, patient later', { firstToken: 60, idle: 120 }, [], '60: a/model sent nothing for 60 ms.'],
    ['a silence after the first part', { firstToken: 120, idle: 60 }, [1], '61: a/model stopped sending for 60 ms.'],
    ['the same, late', { firstToken: 120, idle: 60 }, [119], '179: a/model stopped sending for 60 ms.'],
    ['a silence after many parts', { firstToken: 120, idle: 60 }, [10, 50, 100, 159], '219: a/model stopped sending for 60 ms.'],
    ['a long idle limit', { firstToken: 60, idle: 300 }, [59], '359: a/model stopped sending for 300 ms.'],
    ['no limit before the first part', { idle: 60 }, [1000], '1060: a/model stopped sending for 60 ms.'],
    ['no limit after it', { firstToken: 60 }, [59], 'never'],
    ['the whole takes too long', { idle: 60, step: 100 }, [30, 60, 90], '100: a/model did not finish within 100 ms.'],
    ['the whole, before anything', { firstToken: 500, step: 100 }, [], '100: a/model did not finish within 100 ms.'],
  ])('%s: %o with parts at %j', async (_, limits, parts, expected) => {
    expect(await givenUp(limits, parts)).toBe(expected)
  })

  it.each<readonly [string, Partial<Timeouts>, readonly number[], string]>([
    [
      'may take longer than a first token',
      { firstToken: 120, idle: 60, whole: 290 },
      [130],
      '190: a/model stopped sending for 60 ms.',
    ],
    [
      'has a limit of its own',
      { whole: 290 },
      [],
      '290: a/model sent nothing for 290 ms. The answer was requested without streaming.',
    ],
    ['and none where that is null', { firstToken: 120 }, [5000], 'never'],
  ])('an answer in one piece %s: %o with parts at %j', async (_, limits, parts, expected) => {
    expect(await givenUp(limits, parts, undefined, false)).toBe(expected)
  })

  it('does not count the time of a slow reader', async () => {
    const clock = new SteppedClock()
    const over = new AbortController()
    const watchdog = new Watchdog('a/model', { firstToken: 100, idle: 100, whole: null, step: null }, clock)
    watchdog.waiting()
    void watchdog.watch(over.signal)
    await clock.passTo(50)
    watchdog.received()
    await clock.passTo(5000)
    watchdog.waiting()
    await clock.passTo(5099)
    expect(watchdog.signal.aborted).toBe(false)
    await clock.passTo(5100)
    expect(watchdog.signal.aborted).toBe(true)
    over.abort()
  })

  it.each([true, false])(
    'a clock that is set back makes a limit no longer than twice (after the first part: %s)',
    async (later) => {
      const clock = new SteppedClock()
      const over = new AbortController()
      const watchdog = new Watchdog('a/model', { firstToken: 100, idle: 100, whole: null, step: null }, clock)
      watchdog.waiting()
      void watchdog.watch(over.signal)
      if (later) {
        watchdog.received()
        watchdog.waiting()
      }
      clock.setBack(1_000_000)
      await clock.passTo(clock.time + 199)
      expect(watchdog.signal.aborted).toBe(false)
      await clock.passTo(clock.time + 1)
      expect(watchdog.signal.aborted).toBe(true)
      over.abort()
    },
  )

  it('a clock that is set back at most doubles the limit of an attempt', async () => {
    const clock = new SteppedClock()
    const over = new AbortController()
    const watchdog = new Watchdog('a/model', { firstToken: null, idle: null, whole: null, step: 100 }, clock)
    void watchdog.watch(over.signal)
    clock.setBack(1_000_000)
    await clock.passTo(clock.time + 200)
    expect(watchdog.signal.aborted).toBe(true)
    over.abort()
  })
})

const call = (id: string): ModelPart => ({ type: 'tool-call', id, name: 'find', input: {} })
const piece = (id: string): ModelPart => ({ type: 'tool-input', id, name: 'find', delta: '' })

describe('createCeilings', () => {
  it.each<readonly [string, readonly ModelPart[], string | undefined]>([
    ['a text within the limit', [{ type: 'text', text: '1234' }], undefined],
    ['a text beyond it', [{ type: 'text', text: '12345' }], 'longer than 4 characters of text'],
    ['a text that restarts', [{ type: 'text', text: '1234' }, { type: 'restart' }, { type: 'text', text: '1234' }], undefined],
    ['two calls, streamed and whole', [piece('a'), call('a'), piece('b'), call('b')], undefined],
    ['three calls', [call('a'), piece('b'), call('b'), call('c')], 'longer than 2 tool calls'],
    ['calls that restart', [call('a'), piece('b'), { type: 'restart' }, piece('b'), call('c')], undefined],
  ])('%s', (_, parts, wrong) => {
    const add = createCeilings({ text: 4, thinking: null, arguments: null, calls: 2 }, 'house/model')
    const addAll = (): void => parts.forEach(add)
    if (wrong === undefined) expect(addAll).not.toThrow()
    else expect(addAll).toThrow(`house/model was stopped: its answer is ${wrong}.`)
  })
})
