/** Progress, time limits and the end of a turn, from the view of a running tool. */

import { describe, expect, it } from 'vitest'
import { all, calling, collect, free, resultsOf, tool } from '../../test/calls.ts'
import type { QueryEvent } from '../core/event.ts'
import type { ToolContext } from '../core/tool.ts'
import type { TurnDetail } from '../core/recorder.ts'
import { query } from '../engine/query.ts'
import { systemClock } from '../util/clock.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'

describe('time', () => {
  it('ENG-TOOL-004 progress is shown as it arrives, from the context and from a generator', async () => {
    const pushing = tool('pushing', (_input, ctx) => {
      ctx.progress('half')
      ctx.progress('')
      ctx.progress({ done: 1 } as never)
      return 'whole'
    })
    const yielding = tool('yielding', async function* (_input, ctx) {
      yield 'one'
      ctx.progress('between')
      yield 'two'
      return 'three'
    })
    const events = await collect({ model: calling([{ name: 'pushing' }, { name: 'yielding' }]), tools: [pushing, yielding] })
    const progress = all(events, 'tool_progress').map(({ id, content }) => `${id} ${content}`)
    expect(progress).toEqual(['c00 half', 'c00 {"done":1}', 'c01 one', 'c01 between', 'c01 two'])
    expect(resultsOf(events)).toEqual(['whole', 'three'])
  })

  it('ENG-TOOL-004 a flood of progress is bounded and does not block the process', async () => {
    let yielded = 0
    let closed = false
    const flood = tool(
      'flood',
      async function* () {
        try {
          for (;;) {
            yielded++
            yield 'y'.repeat(1000)
          }
        } finally {
          closed = true
        }
      } as never,
      { timeout: 60 },
    )
    const burst = tool('burst', (_input, ctx) => {
      for (let i = 0; i < 100_000; i++) ctx.progress(`${i}`)
      return 'ok'
    })
    const events = await collect({ model: calling([{ name: 'flood' }, { name: 'burst' }]), tools: [flood, burst] })
    expect(all(events, 'tool_progress').length).toBeLessThan(150)
    expect(all(events, 'tool_progress').map(({ content }) => content)).toContain('[more progress is not shown]')
    expect(resultsOf(events)).toEqual([expect.stringMatching(/^The tool timed out after 0\.06 s and was stopped\./), 'ok'])
    expect(yielded).toBeGreaterThan(30)
    expect(closed).toBe(true)
  })

  it('ENG-TOOL-004 a tool that never ends is aborted, and abandoned after its grace period', async () => {
    const reasons: unknown[] = []
    const deaf = tool(
      'deaf',
      (_input, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason))
        return new Promise<never>(() => {})
      },
      { timeout: 20, ...free },
    )
    const polite = tool(
      'polite',
      (_input, { signal }) => new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      { timeout: 20, isReadOnly: true, ...free },
    )
    const partial = tool(
      'partial',
      (_input, { signal }) => new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('half of it'))),
      { timeout: 20, ...free },
    )
    const events = await collect({
      model: calling([{ name: 'deaf' }, { name: 'polite' }, { name: 'partial' }]),
      tools: [deaf, polite, partial],
    })
    const byId = new Map(all(events, 'tool_result').map(({ result }) => [result.id, result]))
    expect(byId.get('c00')).toMatchObject({
      isError: true,
      content: expect.stringMatching(/timed out after 0\.02 s .* effects are unknown/),
    })
    expect(byId.get('c01')).toMatchObject({
      isError: true,
      content: 'The tool timed out after 0.02 s and was stopped. It changes nothing.',
    })
    expect(byId.get('c02')).toMatchObject({
      isError: true,
      content: 'The tool timed out after 0.02 s and was stopped. It returned:\nhalf of it',
    })
    expect(reasons).toMatchObject([{ code: 'timeout' }])
    expect(events.at(-1)?.type).toBe('complete')
  })

  it('ENG-ERR-001 an abort keeps finished results, stops running calls, and does not start the rest', async () => {
    const controller = new AbortController()
    const started: string[] = []
    const fast = tool('fast', () => 'finished', free)
    const polite = tool(
      'polite',
      (_input, { signal }) => {
        started.push('polite')
        return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
      free,
    )
    const closing = tool(
      'closing',
      (_input, { signal }) => {
        started.push('closing')
        return new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('closed in time')))
      },
      free,
    )
    const deaf = tool(
      'deaf',
      () => {
        started.push('deaf')
        return new Promise<never>(() => {})
      },
      free,
    )
    const model = calling([{ name: 'fast' }, { name: 'polite' }, { name: 'closing' }, { name: 'deaf' }, { name: 'late' }])
    const late = tool('late', () => started.push('late'), free)
    const events: QueryEvent[] = []
    const waits: number[] = []
    const clock = {
      now: () => systemClock.now(),
      sleep: (ms: number, signal?: AbortSignal) => {
        waits.push(ms)
        return systemClock.sleep(ms, signal)
      },
    }
    for await (const event of query({
      model,
      prompt: 'Go',
      tools: [fast, polite, closing, deaf, late],
      toolConcurrency: 4,
      abortSignal: controller.signal,
      clock,
      // Excludes the limits of the model.
      timeouts: { firstToken: null, idle: null },
    })) {
      events.push(event)
      if (event.type === 'tool_result') controller.abort()
    }
    // The wait is at most the grace period of a cancelled tool; the other timers are the timeouts of the tools.
    expect(new Set(waits)).toEqual(new Set([120_000, 50]))
    expect(started).toEqual(['polite', 'closing', 'deaf'])
    expect(events.at(-1)).toMatchObject({ type: 'cancelled' })
    const contents = new Map(all(events, 'tool_result').map(({ result }) => [result.name, result.content]))
    expect(contents.get('fast')).toBe('finished')
    expect(contents.get('polite')).toMatch(/^Cancelled while it ran\. Its effects are unknown/)
    expect(contents.get('closing')).toBe('closed in time')
    expect(contents.get('deaf')).toMatch(/^Cancelled while it ran\. Its effects are unknown/)
    // The call was announced in the transaction of the result that the reader saw, but did not start.
    expect(contents.get('late')).toBe('Cancelled before it began: it has done nothing.')
    expect(contents.size).toBe(5)
  })

  it('ENG-ERR-001 an abort ends an unanswered permission request', async () => {
    const controller = new AbortController()
    const ask = tool('ask', () => 'never', { needsPermission: true })
    const events: QueryEvent[] = []
    for await (const event of query({
      model: calling([{ name: 'ask' }]),
      prompt: 'Go',
      tools: [ask],
      abortSignal: controller.signal,
      hasPermissionsToUseTool: () => new Promise(() => {}),
    })) {
      events.push(event)
      if (event.type === 'permission_request') setTimeout(() => controller.abort(), 5)
    }
    expect(events.slice(-2)).toMatchObject([
      { type: 'tool_result', result: { content: expect.stringMatching(/^Not run/) } },
      { type: 'cancelled' },
    ])
  })

  it('ENG-ERR-001 when the reader leaves, running calls stop and the journal keeps finished results', async () => {
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    let stopped = false
    const slow = tool(
      'slow',
      async function* (_input: unknown, { signal }: ToolContext) {
        signal.addEventListener('abort', () => (stopped = true))
        await new Promise((resolve) => setTimeout(resolve, 10))
        yield 'begun'
        await new Promise(() => {})
      } as never,
      free,
    )
    const quick = tool('quick', () => new Promise((resolve) => setTimeout(() => resolve('finished'), 10)), free)
    const model = calling([
      { name: 'slow' },
      ...Array.from({ length: 3 }, () => ({ name: 'quick' })),
      { name: 'quick' },
      { name: 'quick' },
    ])
    let turnId = ''
    for await (const event of query({ model, prompt: 'Go', tools: [slow, quick], recorder })) {
      turnId = event.turnId
      if (event.type === 'tool_progress') break
    }
    expect(stopped).toBe(true)
    const { turn, events } = recorder.read.turn(turnId) as TurnDetail
    expect(turn.status).toBe('cancelled')
    expect(events.at(-1)).toMatchObject({ type: 'cancelled', reason: 'The reader of the turn left.' })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    const contents = new Map(all(events, 'tool_result').map(({ result }) => [result.id, result.content]))
    expect(contents.size).toBe(6)
    expect(contents.get('c00')).toMatch(/^Cancelled while it ran\. Its effects are unknown/)
    for (const id of ['c01', 'c02', 'c03']) expect(contents.get(id)).toBe('finished')
    expect(contents.get('c05')).toMatch(/^Not run/)
    await recorder.close()
  })
})
