import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { calling, tool } from '../../test/calls.ts'
import { AsyncSimpleBot } from '../bots/simple-bot.ts'
import { ConfigurationError } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { lastEventId, startTurn, toResponse } from './event-stream.ts'
import { query } from './query.ts'

const HOSTILE = 'a\n\nid: 99\ndata: {}\r\n\u2028\u2029\0 </script> é'

/** Parses frames as the specification defines them: fields of one line each, an empty line after each frame. */
async function framesOf(response: Response): Promise<{ id?: string; data?: string }[]> {
  return (await response.text())
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
    .map((frame) => Object.fromEntries(frame.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string])))
}

async function collected(events: AsyncIterable<QueryEvent>): Promise<QueryEvent[]> {
  return Array.fromAsync(events)
}

describe('toResponse', () => {
  it('sends each event as one frame with its number as id, for any text', async () => {
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    const asked = query({ prompt: HOSTILE, model: new ScriptedModel([HOSTILE]), recorder })
    const response = toResponse(asked, { headers: { 'x-turn': '1', 'cache-control': 'no-store' } })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-turn': '1',
    })
    const frames = await framesOf(response)
    const events = frames.map(({ data = '' }) => JSON.parse(data) as QueryEvent)
    expect(frames.map(({ id }) => id)).toEqual(events.map(({ seq }) => String(seq)))
    expect(events).toEqual(await collected(recorder.follow(events[0]?.turnId ?? '')))
    await recorder.close()
  })

  it('lets headers override its own in any case, and rejects invalid headers and intervals', () => {
    const asked = (): ReturnType<typeof query> => query({ prompt: 'Hi', model: new ScriptedModel(['x']) })
    const { headers } = toResponse(asked(), { headers: { 'Content-Type': 'text/x', 'Cache-Control': 'no-store' } })
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual(['text/x', 'no-store'])
    expect(() => toResponse(asked(), { headers: { 'x-a': 'b\r\nset-cookie: c' } })).toThrow(ConfigurationError)
    expect(() => toResponse(asked(), { keepAlive: 2 ** 31 })).toThrow('`keepAlive` must be at most 2147483647')
  })

  it('sends events of nested turns without id, so that a client does not resume from them', async () => {
    const nest = tool('nest', async () => {
      for await (const _ of query({ prompt: 'In.', model: new ScriptedModel(['Inner.']) }));
      return 'done'
    })
    const frames = await framesOf(toResponse(query({ prompt: 'Go', model: calling([{ name: 'nest' }]), tools: [nest] })))
    const nested = frames.filter(({ data = '' }) => data.includes('"parent"'))
    expect(nested.length).toBeGreaterThan(2)
    expect(nested.every(({ id }) => id === undefined)).toBe(true)
    const numbers = frames.flatMap(({ id }) => id ?? [])
    expect(numbers).toEqual(numbers.map((_, index) => String(index)))
  })

  it('stops following when the client disconnects, and does not end the turn', async () => {
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    const { promise, resolve } = Promise.withResolvers<string>()
    const slow = tool('slow', () => promise)
    const { turnId, ended } = await startTurn(
      query({ prompt: 'Go', model: calling([{ name: 'slow' }]), tools: [slow], recorder }),
    )
    const reader = toResponse(recorder.follow(turnId)).body?.getReader()
    await reader?.read()
    await reader?.read()
    await reader?.cancel()
    expect(recorder.read.turn(turnId)?.turn.status).toBe('open')
    resolve('late')
    expect((await ended)?.text).toBe('Done.')
    const rest = await framesOf(toResponse(recorder.follow(turnId, { after: lastEventId({ 'last-event-id': '1' }) })))
    expect(rest[0]?.id).toBe('2')
    expect(rest.at(-1)?.data).toContain('"complete"')
    await recorder.close()
  })

  it('cancels a directly sent turn when the client disconnects', async () => {
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    const slow = tool('slow', (_, { signal }) => sleep(60_000, 'late', { signal }))
    const reader = toResponse(
      query({ prompt: 'Go', model: calling([{ name: 'slow' }]), tools: [slow], recorder }),
    ).body?.getReader()
    await reader?.read()
    await reader?.read()
    await reader?.cancel()
    expect(recorder.read.turns().turns[0]?.status).toBe('cancelled')
    await recorder.close()
  })

  it('keeps a quiet connection alive with comments', async () => {
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    const { promise, resolve } = Promise.withResolvers<string>()
    const { turnId } = await startTurn(
      query({ prompt: 'Go', model: calling([{ name: 'slow' }]), tools: [tool('slow', () => promise)], recorder }),
    )
    const reader = toResponse(recorder.follow(turnId), { keepAlive: 5 }).body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes(': still here\n\n')) text += (await reader?.read())?.value ?? ''
    resolve('done')
    while (!text.includes('"complete"')) text += (await reader?.read())?.value ?? ''
    expect(text).toContain('id: 0\n')
    await recorder.close()
  })

  it('rejects a value that yields no events', async () => {
    expect(() => toResponse(undefined as never)).toThrow('takes the events of')
    expect(() => toResponse(Promise.resolve() as never)).toThrow('takes the events of')
    const bot = new AsyncSimpleBot({ mockResponse: 'Six seven.', recorder: false })
    for (const wrong of [undefined, bot.ask('What?'), bot.stream('What?')])
      await expect(startTurn(wrong as never)).rejects.toThrow('startTurn() takes the events of')
  })
})

describe('lastEventId', () => {
  it.each([
    ['7', 7],
    ['0', 0],
    ['', -1],
    ['-1', -1],
    ['1e3', -1],
    ['9'.repeat(30), -1],
    ['x', -1],
  ])('reads %j as %j', (value, expected) => {
    expect(lastEventId(new Headers({ 'Last-Event-ID': value }))).toBe(expected)
    expect(lastEventId({ 'last-event-id': value })).toBe(expected)
  })

  it('is the beginning where the header is missing', () => {
    expect([lastEventId(new Headers()), lastEventId({}), lastEventId({ 'last-event-id': ['1', '2'] })]).toEqual([-1, -1, -1])
  })
})

describe('startTurn', () => {
  it('rejects with the error of a turn that cannot begin', async () => {
    const recorder = await SqliteRecorder.open({ path: ':memory:' })
    const model = new ScriptedModel(['One.', 'Two.'])
    const sessionId = 'shared'
    await (
      await startTurn(query({ prompt: 'One?', model, recorder, sessionId, userId: 'ada' }))
    ).ended
    await expect(startTurn(query({ prompt: 'Two?', model, recorder, sessionId, userId: 'bob' }))).rejects.toMatchObject({
      code: 'permission_denied',
    })
    expect(recorder.read.turns().turns).toHaveLength(1)
    const read = query({ prompt: 'Two?', model, recorder })
    await collected(read)
    await expect(startTurn(read)).rejects.toMatchObject({ code: 'no_assistant_message' })
    await recorder.close()
  })
})
