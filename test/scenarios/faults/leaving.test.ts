/** Tests that leaving a turn ends its request, socket, waits and tools, without unhandled rejections. */

import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../../../src/app/query.ts'
import type { QueryOptions } from '../../../src/app/query.ts'
import { createId } from '../../../src/core/id.ts'
import type { QueryEvent } from '../../../src/core/event.ts'
import type { Tool } from '../../../src/core/tool.ts'
import { ScriptedModel } from '../../../src/providers/scripted/scripted-model.ts'
import type { Reply } from '../../support/wire-server.ts'
import type { Api, Said } from '../../support/answers.ts'
import { stopwatch } from '../../support/stopwatch.ts'
import { countingTool, forAll, FULL, journal, play } from './played.ts'
import { ALL_APIS, answering, CALLS, eventsOf, needed, SAID, startWire } from './wire.ts'
import type { Wire } from './wire.ts'

let wire: Wire
const stray: unknown[] = []
const note = (thrown: unknown): void => {
  stray.push(thrown)
}
beforeAll(async () => {
  wire = await startWire()
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
  process.on('warning', note)
})
afterAll(async () => {
  await wire[Symbol.asyncDispose]()
  process.off('unhandledRejection', note)
  process.off('uncaughtException', note)
  process.off('warning', note)
})
afterEach(async () => {
  // Unhandled rejections are reported after the current turn of the event loop.
  await nextTurn()
  await nextTurn()
  const thrown = stray.splice(0)
  if (thrown.length > 0) throw new AggregateError(thrown, 'Errors were thrown outside of any caller.')
})

const hanging = (api: Api, said: Said, at: number): Reply => ({ body: eventsOf(api, said).slice(0, at), afterwards: 'hang' })

/** Plays until `when` accepts an event, aborts after pending work, and returns how long the end took. */
async function abortAt(
  options: Partial<QueryOptions>,
  when: (event: QueryEvent) => boolean,
  ready: () => Promise<unknown> = () => pause(5),
): Promise<{ readonly events: readonly QueryEvent[]; readonly ms: number }> {
  const controller = new AbortController()
  let sinceAbort = (): number => Number.NaN
  const abort = async (): Promise<void> => {
    await ready()
    sinceAbort = stopwatch()
    controller.abort()
  }
  let aborting: Promise<void> | undefined
  const { events } = await play({ ...options, abortSignal: controller.signal }, (event) => {
    if (when(event)) aborting ??= abort()
    return false
  })
  await aborting
  return { events, ms: sinceAbort() }
}

/** Limit in milliseconds of a `stopwatch`. */
const SOON = 100
const OFTEN = { interval: 5 }

describe.each(ALL_APIS)('$provider', (api) => {
  test('ENG-ERR-001 an abort at any event of a stream ends the turn at once, and closes the socket', async () => {
    const events = eventsOf(api, SAID)
    for (let at = 0; at < needed(events); at++) {
      const served = wire.model(api, [hanging(api, SAID, at)])
      const arrived = (): Promise<unknown> => served.sent.then(() => pause(5))
      const { events: shown, ms } = await abortAt({ model: served.model }, ({ type }) => type === 'start', arrived)
      expect(shown.at(-1)).toMatchObject({ type: 'cancelled' })
      expect(ms).toBeLessThan(SOON)
      await expect.poll(() => served.aborted(), OFTEN).toBe(1)
      expect(served.requests).toHaveLength(1)
    }
  })

  test('ENG-STREAM-002 a reader that leaves at any event closes the socket and cancels the turn', async () => {
    const places = [...eventsOf(api, SAID).keys()].slice(1, needed(eventsOf(api, SAID)))
    await forAll(places, String, async (at) => {
      const served = wire.model(api, [hanging(api, SAID, at)])
      // The first events of some streams yield nothing yet, so the turn ends by itself.
      const options = { model: served.model, timeouts: { firstToken: 400, idle: 400 }, retry: { maxRetries: 0 } }
      await play(options, ({ type }) => type === 'text_delta' || type === 'thinking')
      await expect.poll(() => served.aborted(), OFTEN).toBe(1)
      expect(served.requests).toHaveLength(1)
    })
  })

  test('ENG-USAGE-001 the cost of an abandoned answer is estimated from its text and the reported input tokens', async () => {
    const text = 'A sentence of some length, so that its tokens are more than a provider counts at its beginning. '.repeat(4)
    const events = eventsOf(api, { text })
    const served = wire.model(api, [hanging(api, { text }, needed(events) - 1)])
    const turn = await play({ model: served.model }, ({ type }) => type === 'text_delta')
    const usage = (await journal()).read.turn(turn.last.turnId)?.turn.usage
    expect(usage).toMatchObject({ exactness: 'estimated' })
    expect(usage?.outputTokens).toBeGreaterThan(turn.text.length / 10)
    if (api.provider === 'anthropic' || api.provider === 'google') expect(usage?.inputTokens).toBe(12)
    else expect(usage?.inputTokens).toBeGreaterThan(0)
  })

  test('ENG-ERR-001 after an abort the conversation continues in a form that providers accept', async () => {
    const all = eventsOf(api, CALLS)
    await forAll([...all.keys()], String, async (at) => {
      const sessionId = createId('ses')
      const { tool, runs } = countingTool()
      const tools = [tool]
      const served = wire.model(api, [hanging(api, CALLS, at), answering(api, SAID)])
      const arrived = (): Promise<unknown> => served.sent.then(() => pause(5))
      const { events } = await abortAt({ model: served.model, sessionId, tools }, ({ type }) => type === 'start', arrived)
      if (at < needed(all)) {
        expect(events.at(-1)?.type).toBe('cancelled')
        expect(runs).toEqual([])
      }
      const next = await play({ model: served.model, sessionId, tools, prompt: 'And now?' })
      expect(next.last).toMatchObject({ type: 'complete', result: { text: SAID.text } })
    })
  })
})

const api = ALL_APIS[0] as Api

describe('an abort', () => {
  test.each<readonly [string, Partial<Reply>]>([
    ['while a retry is waited for', { status: 503 }],
    ['while a long Retry-After is waited for', { status: 429, headers: { 'retry-after': '50' } }],
  ])('ENG-ERR-001 %s ends the turn, with no further request', async (_, reply) => {
    const served = wire.model(api, [reply])
    const { events, ms } = await abortAt({ model: served.model, retry: { initialDelay: 20_000 } }, ({ type }) => type === 'retry')
    expect(events.map(({ type }) => type)).toEqual(['start', 'retry', 'cancelled'])
    expect(ms).toBeLessThan(SOON)
    await pause(20)
    expect(served.requests).toHaveLength(1)
  })

  test.each<readonly [string, Tool['call']]>([
    [
      'listens',
      (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    ],
    ['does not listen', () => new Promise(() => {})],
    [
      'reports and does not listen',
      async function* () {
        yield 'Begun.'
        await new Promise(() => {})
        return ''
      },
    ],
  ])('ENG-ERR-001 during a tool that %s ends the turn, and every call has its result', async (_, call) => {
    const { tool } = countingTool()
    const served = wire.model(api, [answering(api, CALLS)])
    const { events, ms } = await abortAt(
      { model: served.model, tools: [{ ...tool, call }] },
      ({ type }) => type === 'tool_request',
    )
    expect(events.at(-1)).toMatchObject({ type: 'cancelled' })
    expect(ms).toBeLessThan(SOON)
    expect(served.requests).toHaveLength(1)
  })

  test('ENG-ERR-001 during a permission request ends the turn', async () => {
    const { tool } = countingTool()
    const served = wire.model(api, [answering(api, CALLS)])
    const options = {
      model: served.model,
      tools: [{ ...tool, needsPermission: true }],
      hasPermissionsToUseTool: () => new Promise<boolean>(() => {}),
    }
    const { events, ms } = await abortAt(options, ({ type }) => type === 'permission_request')
    expect(events.at(-1)).toMatchObject({ type: 'cancelled' })
    expect(ms).toBeLessThan(SOON)
  })

  test('ENG-ERR-001 before the first event makes no request', async () => {
    const served = wire.model(api, [answering(api, SAID)])
    const turn = await play({ model: served.model, abortSignal: AbortSignal.abort() })
    expect(turn.events.map(({ type }) => type)).toEqual(['start', 'cancelled'])
    expect(served.requests).toHaveLength(0)
  })

  test('leaves no timer behind', async () => {
    const before = timers()
    const served = wire.model(api, [hanging(api, SAID, 8)])
    await abortAt({ model: served.model, timeouts: { turn: 60_000, step: 60_000 } }, ({ type }) => type === 'thinking')
    await expect.poll(() => timers()).toBeLessThanOrEqual(before)
  })
})

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
}

test('no fault causes an unhandled rejection for a reader that stops after one event', async () => {
  const faults: readonly ((api: Api) => Reply)[] = [
    () => ({ status: 500 }),
    () => ({ afterwards: 'before' }),
    () => ({ status: 200 }),
    () => ({ body: '<html>' }),
    (of) => ({ body: eventsOf(of, SAID).slice(0, 4), afterwards: 'reset' }),
    (of) => ({ body: eventsOf(of, SAID).slice(0, 4) }),
    (of) => ({ body: [...eventsOf(of, SAID).slice(0, 4), of.streamError('Too busy.', 'overloaded_error')] }),
    (of) => hanging(of, SAID, 4),
  ]
  for (const of of ALL_APIS) {
    for (const fault of faults) {
      const served = wire.model(of, [fault(of)])
      for (const asked of [1, 2, 3]) {
        const abortSignal = AbortSignal.timeout(60)
        const turn = query({ prompt: 'Hi', model: served.model, retry: { initialDelay: 5 }, abortSignal })
        for (let index = 0; index < asked; index++) void turn.next()
      }
    }
  }
  await pause(300)
  expect(stray).toEqual([])
})

test('a thousand turns with one signal leave no listener on it', async () => {
  const { signal } = new AbortController()
  const { tool } = countingTool()
  const counts = new Set<number>()
  for (let turn = 0; turn < 1000; turn++) {
    const model = new ScriptedModel([{ toolCalls: [{ name: 'get_weather', input: {} }] }, 'Done.'])
    for await (const event of query({ prompt: 'Hi', model, tools: [tool], abortSignal: signal }))
      if (event.type === 'complete') break
    counts.add(getEventListeners(signal, 'abort').length)
  }
  expect([...counts]).toEqual([0])
  const served = wire.model(api, [answering(api, SAID)])
  for (let turn = 0; turn < 50; turn++) {
    for await (const event of query({ prompt: 'Hi', model: served.model, abortSignal: signal }))
      if (event.type === 'complete') break
    counts.add(getEventListeners(signal, 'abort').length)
  }
  expect([...counts]).toEqual([0])
})

test('ENG-STREAM-002 a paused reader stops reading from the socket', { timeout: 60_000 }, async () => {
  for (const of of FULL ? ALL_APIS : [api, ALL_APIS[3] as Api]) {
    const events = eventsOf(of, { text: SAID.text })
    const delta = events.findIndex((event) => event.includes('It is'))
    const block = (events[delta] ?? '').replaceAll('It is', 'x'.repeat(1000)).repeat(100)
    const body = [...events.slice(0, delta), ...Array.from({ length: 1000 }, () => block)]
    const served = wire.model(of, [{ body, afterwards: 'hang' }])
    const turn = query({ prompt: 'Hi', model: served.model, recorder: await journal() })
    let shown = 0
    for await (const event of turn) {
      if (event.type !== 'text_delta') continue
      shown += event.text.length
      if (shown < 50_000) continue
      let sent = -1
      // The server sends no more, because all buffers on the way are full.
      while (sent !== served.written()) {
        sent = served.written()
        await pause(200)
      }
      break
    }
    // Of 100 MB, only a few buffers of the system and of cria are filled.
    expect(served.written()).toBeLessThan(300)
    await expect.poll(() => served.aborted(), OFTEN).toBe(1)
  }
})
