/** Breaks streams at every event, in every API: the folded events are the answer of the successful attempt. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../../src/core/error.ts'
import type { Api, Said } from '../../support/answers.ts'
import type { Reply } from '../../support/wire-server.ts'
import { countingTool, forAll, FULL, ManualClock, play, played } from './played.ts'
import type { Played } from './played.ts'
import { ALL_APIS, answering, CALLS, eventsOf, needed, SAID, startWire } from './wire.ts'
import type { Wire } from './wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await startWire()
})
afterAll(async () => {
  await wire[Symbol.asyncDispose]()
  console.log(`${played()} turns over broken streams were played and found sound.`)
})

interface Broken {
  readonly events: readonly string[]
  /** Number of events that arrive whole. */
  readonly at: number
  readonly clock: ManualClock
}

type Break = (broken: Broken, api: Api) => Reply

const half = (event: string): string => event.slice(0, Math.floor(event.length / 2))

const BREAKS: Readonly<Record<string, { readonly reply: Break; readonly codes: readonly ErrorCode[] }>> = {
  'ends too early': {
    reply: ({ events, at }) => ({ body: events.slice(0, at) }),
    codes: ['stream_interrupted', 'invalid_response'],
  },
  'ends within an event': {
    reply: ({ events, at }) => ({ body: [...events.slice(0, at), half(events[at] ?? '')] }),
    codes: ['stream_interrupted', 'invalid_response'],
  },
  'is reset': {
    reply: ({ events, at }) => ({ body: events.slice(0, at), afterwards: 'reset' }),
    codes: ['stream_interrupted', 'network'],
  },
  'is reset within an event': {
    reply: ({ events, at }) => ({ body: [...events.slice(0, at), half(events[at] ?? '')], afterwards: 'reset' }),
    codes: ['stream_interrupted', 'network'],
  },
  'stops and stays open': {
    reply: ({ events, at, clock }) => ({
      body: events.slice(0, at),
      afterwards: 'hang',
      whileHanging: () => clock.advance(1_000_000),
    }),
    codes: ['timeout'],
  },
  'tells of an error': {
    reply: ({ events, at }, api) => ({ body: [...events.slice(0, at), api.streamError('Too busy.', 'overloaded_error')] }),
    codes: ['overloaded'],
  },
  'has an event that is not JSON': {
    reply: ({ events, at }) => ({
      body: events.map((event, index) => (index === at ? event.replace(/\}(\s*)$/, '$1') : event)),
    }),
    codes: ['stream_interrupted'],
  },
}

interface Case {
  readonly name: string
  readonly at: number
  readonly events: readonly string[]
  readonly bad: Reply
  readonly clock: ManualClock
  readonly codes: readonly ErrorCode[]
  /** The answer is complete before the stream breaks. */
  readonly complete: boolean
}

/** Returns every break at every event, from before the first to before the last. */
function cases(api: Api, said: Said, only?: (name: string, at: number) => boolean): Case[] {
  const events = eventsOf(api, said)
  return Object.entries(BREAKS).flatMap(([name, { reply, codes }]) =>
    events.flatMap((event, at) => {
      // An end mark is not JSON, with or without its last character.
      if (name === 'has an event that is not JSON' && !/\}\s*$/.test(event)) return []
      if (!FULL && only?.(name, at) === false) return []
      const clock = new ManualClock()
      const complete = at >= needed(events)
      return [{ name: `${name} at ${at}`, at, events, bad: reply({ events, at, clock }, api), clock, codes, complete }]
    }),
  )
}

const nameOf = ({ name }: Case): string => name

/** Returns whether parts of the first attempt were shown. */
function shownFirst({ events }: Played): boolean {
  const over = events.findIndex(({ type }) => type === 'retry' || type === 'model_switch' || type === 'error')
  return events.slice(0, over).some(({ type }) => type === 'text_delta' || type === 'thinking')
}

/** Samples the breaks for the gate: different ones at successive events. */
const every =
  (nth: number) =>
  (name: string, at: number): boolean =>
    (at + Object.keys(BREAKS).indexOf(name)) % nth === 0

describe.each(ALL_APIS)('$provider', (api) => {
  test('ENG-ERR-005 a broken stream is retried, and no text is repeated', async () => {
    await forAll(cases(api, SAID, every(2)), nameOf, async ({ bad, clock, complete, codes }) => {
      const { model, requests } = wire.model(api, [bad, answering(api, SAID)])
      const turn = await play({ model, clock, enableThinking: true })
      expect(turn.last).toMatchObject({ type: 'complete', result: { text: SAID.text, finishReason: 'stop', model: api.model } })
      expect(turn.message?.parts.find((part) => part.type === 'thinking')).toMatchObject({ text: SAID.thinking })
      // After the end nothing can go wrong any more; an error there may be taken for one, and then costs one request more.
      if (!complete) expect(requests).toHaveLength(2)
      expect(turn.of('retry')).toHaveLength(requests.length - 1)
      for (const { error } of turn.of('retry')) expect(codes).toContain(error.code)
      expect(turn.of('reset')).toHaveLength(turn.of('retry').length > 0 && shownFirst(turn) ? 1 : 0)
      expect(requests.every(({ body }) => JSON.stringify(body) === JSON.stringify(requests[0]?.body))).toBe(true)
      expect(clock.asleep).toBe(0)
    })
  })

  test('ENG-ERR-005 an unstreamed answer is requested again if it is cut, not if it hangs', async () => {
    const body = JSON.stringify(api.whole(SAID))
    const headers = { 'content-type': 'application/json' }
    const cuts = [0, 1, Math.floor(body.length / 3), Math.floor(body.length / 2), body.length - 1]
    const endings = ['end', 'reset', 'hang'] as const
    const all = cuts.flatMap((at) => endings.map((afterwards) => ({ at, afterwards })))
    await forAll(all, JSON.stringify, async ({ at, afterwards }) => {
      const clock = new ManualClock()
      const bad: Reply = { headers, body: body.slice(0, at), afterwards, whileHanging: () => clock.advance(1_000_000) }
      const { model, requests } = wire.model(api, [bad, { headers, body }])
      const turn = await play({ model, clock, stream: false, enableThinking: true })
      // The provider may still be working on a hanging answer, which must not be paid for twice.
      const isAskedAgain = afterwards !== 'hang'
      expect(turn.last).toMatchObject(
        isAskedAgain
          ? { type: 'complete', result: { text: SAID.text, finishReason: 'stop' } }
          : { type: 'error', error: { code: 'timeout', retryable: false } },
      )
      expect(turn.of('retry')).toHaveLength(isAskedAgain ? 1 : 0)
      expect(turn.of('reset')).toHaveLength(0)
      expect(requests).toHaveLength(isAskedAgain ? 2 : 1)
    })
  })

  test('ENG-ERR-004 a stream that always breaks is an error that keeps the text', async () => {
    await forAll(cases(api, SAID, every(5)), nameOf, async ({ bad, clock, complete, codes }) => {
      if (complete) return
      const { model, requests } = wire.model(api, [bad])
      const turn = await play({ model, clock, retry: { maxRetries: 1 } })
      if (turn.last.type !== 'error') throw new Error(`The turn ended with ${turn.last.type}.`)
      expect(codes).toContain(turn.last.error.code)
      expect(turn.last.error.message).toContain(api.provider)
      expect(requests).toHaveLength(2)
      expect(SAID.text.startsWith(turn.text)).toBe(true)
      expect(turn.of('message')).toHaveLength(0)
      expect(clock.asleep).toBe(0)
    })
  })

  test('ENG-ERR-002 ENG-DEGR-001 the fallback takes over before and after the first text', async () => {
    await forAll(cases(api, SAID, every(5)), nameOf, async ({ bad, clock, complete }) => {
      if (complete) return
      const primary = wire.model(api, [bad])
      const backup = wire.model(api, [answering(api, { text: 'The backup speaks.' })])
      const fallback = { ...backup.model, ref: 'backup/model', facts: backup.model.facts }
      const turn = await play({ model: primary.model, fallbackModels: [fallback], clock, retry: { maxRetries: 0 } })
      expect(turn.last).toMatchObject({ type: 'complete', result: { text: 'The backup speaks.', model: 'backup/model' } })
      expect(turn.of('model_switch')).toMatchObject([{ from: api.model, to: 'backup/model' }])
      expect(turn.of('reset')).toHaveLength(shownFirst(turn) ? 1 : 0)
      expect([primary.requests.length, backup.requests.length]).toEqual([1, 1])
    })
  })

  test('ENG-ERR-005 text is not reset for a reader that cannot discard it', async () => {
    await forAll(cases(api, SAID, every(5)), nameOf, async ({ bad, clock, complete }) => {
      if (complete) return
      const { model, requests } = wire.model(api, [bad, answering(api, SAID)])
      const turn = await play({ model, clock, retry: { afterOutput: 'error' } })
      expect(turn.of('reset')).toHaveLength(0)
      if (turn.of('retry').length > 0) {
        expect(turn.last.type).toBe('complete')
        expect(requests).toHaveLength(2)
      } else {
        expect(turn.last.type).toBe('error')
        expect(turn.text.length + turn.of('thinking').length).toBeGreaterThan(0)
        expect(requests).toHaveLength(1)
      }
    })
  })

  test('ENG-ERR-005 no tool call runs twice, and no truncated one runs', async () => {
    await forAll(cases(api, CALLS, every(5)), nameOf, async ({ bad, clock, complete }) => {
      const { tool, runs } = countingTool()
      const { model, requests } = wire.model(api, [bad, ...(complete ? [] : [answering(api, CALLS)]), answering(api, SAID)])
      const turn = await play({ model, clock, tools: [tool] })
      if (complete && turn.of('retry').length > 0) return
      expect(turn.last).toMatchObject({ type: 'complete', result: { text: SAID.text, steps: 2 } })
      expect(runs).toEqual([{ city: 'Zürich' }, { city: 'Bern' }])
      expect(requests).toHaveLength(complete ? 2 : 3)
    })
  })
})
