/** Aborts and time limits of a turn whose reader pauses, or has dropped it: over real HTTP, with a real journal. */

import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { journalForEach } from '../../test/support/journal.ts'
import { calling, tool } from '../../test/calls.ts'
import { chatServer, sendDelta, startStream } from '../../test/support/chat-server.ts'
import { createProviderModel } from '../providers/create.ts'
import type { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { query } from './query.ts'
import type { EngineOptions } from './options.ts'
import { readTurn } from './turn-reader.ts'

/** Limit for effects of an abort; a loaded machine gets more than the 100 ms of an idle one. */
const SOON = { timeout: 2000, interval: 5 }

let recorder: SqliteRecorder
journalForEach((opened) => {
  recorder = opened
})

async function hanging(): Promise<AsyncDisposable & { model: EngineOptions['model']; aborted: () => number }> {
  const server = await chatServer((response) => {
    startStream(response)
    sendDelta(response, 'One')
  })
  const model = createProviderModel('openai-compatible/test', { baseURL: server.url, apiKey: 'k' })
  return { model, aborted: server.aborted, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

async function readUntil(events: ReturnType<typeof query>, type: string): Promise<void> {
  for (;;) {
    const { value, done } = await events.next()
    if (done === true) throw new Error(`The turn ended before ${type}.`)
    if (value.type === type) return
  }
}

describe('a turn without an active reader', () => {
  it('ENG-ERR-001 an abort closes the socket and the row while the reader pauses; the reader then gets the end', async () => {
    await using provider = await hanging()
    const controller = new AbortController()
    const events = query({ model: provider.model, prompt: 'Hi', recorder, sessionId: 's', abortSignal: controller.signal })
    await readUntil(events, 'text_delta')

    controller.abort(new Error('Enough.'))
    await vi.waitFor(() => expect(provider.aborted()).toBe(1), SOON)
    await vi.waitFor(() => expect(recorder.read.turns().turns[0]?.status).toBe('cancelled'), SOON)
    const again = query({ model: provider.model, prompt: 'Again', recorder, sessionId: 's' })
    await readUntil(again, 'text_delta')
    await again.return(undefined)

    expect(await Array.fromAsync(events)).toMatchObject([{ type: 'cancelled', reason: 'Enough.' }])
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  it('ENG-ERR-001 the time limit of the turn ends it while the reader pauses', async () => {
    await using provider = await hanging()
    const events = query({ model: provider.model, prompt: 'Hi', recorder, timeouts: { turn: 500 } })
    await readUntil(events, 'text_delta')
    await vi.waitFor(() => expect(recorder.read.turns().turns[0]?.status).toBe('failed'), SOON)
    await vi.waitFor(() => expect(provider.aborted()).toBe(1), SOON)
    expect(await Array.fromAsync(events)).toMatchObject([{ type: 'error', error: { code: 'timeout' } }])
  })

  it('ENG-ERR-001 the time limit of an attempt closes its socket while the reader pauses', async () => {
    await using provider = await hanging()
    const events = query({ model: provider.model, prompt: 'Hi', timeouts: { step: 50 }, retry: { maxRetries: 0 } })
    await readUntil(events, 'text_delta')
    await vi.waitFor(() => expect(provider.aborted()).toBe(1), SOON)
    expect((await Array.fromAsync(events)).at(-1)).toMatchObject({ type: 'error', error: { code: 'timeout' } })
  })

  it('ENG-ERR-001 stops a tool and stores its result if the turn is aborted after its reader dropped it', async () => {
    const controller = new AbortController()
    let stopped = false
    const slow = tool('slow', async (_input, ctx) => {
      ctx.progress('begun')
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve, { once: true }))
      stopped = true
      return 'half'
    })
    await readUntil(
      query({ model: calling([{ name: 'slow' }]), tools: [slow], prompt: 'Go', recorder, abortSignal: controller.signal }),
      'tool_progress',
    )
    controller.abort()
    await vi.waitFor(() => expect(recorder.read.turns().turns[0]?.status).toBe('cancelled'), SOON)
    expect(stopped).toBe(true)
    const { turnId } = recorder.read.turns().turns[0] as { turnId: string }
    expect(recorder.read.events(turnId).map(({ type }) => type)).toEqual([
      'start',
      'usage',
      'message',
      'tool_request',
      'tool_progress',
      'tool_result',
      'cancelled',
    ])
  })

  it('ENG-ERR-001 a reader that leaves while the turn ends gets nothing more, and one that never started leaves nothing', async () => {
    await using provider = await hanging()
    const controller = new AbortController()
    const events = query({ model: provider.model, prompt: 'Hi', recorder, abortSignal: controller.signal })
    await readUntil(events, 'text_delta')
    controller.abort()
    await events.return(undefined)
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(recorder.read.turns().turns.map(({ status }) => status)).toEqual(['cancelled'])

    const unread = query({ model: provider.model, prompt: 'Hi', recorder })
    await unread.return(undefined)
    expect(await unread.next()).toEqual({ done: true, value: undefined })
    expect(recorder.read.turns().turns).toHaveLength(1)
  })

  it('ENG-ERR-001 a reader that leaves while it waits for an event ends the turn', async () => {
    await using provider = await hanging()
    const events = query({ model: provider.model, prompt: 'Hi', recorder })
    await readUntil(events, 'text_delta')
    const waiting = events.next()
    await events.return(undefined)
    expect(await waiting).toMatchObject({ value: { type: 'cancelled' } })
    expect(recorder.read.turns().turns).toMatchObject([{ status: 'cancelled' }])
  })

  it('ENG-ERR-001 no listener is left on a signal that outlives the turn', async () => {
    const { signal } = new AbortController()
    const events = readTurn(() => ({ events: query({ model: calling(), prompt: 'Go' }), signal, leave: () => {} }))
    await events.next()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await Array.fromAsync(events)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('a slow reader', () => {
  it('ENG-TOOL-004 does not use the time of the tool', async () => {
    const patient = tool(
      'patient',
      async function* () {
        yield 'one'
        yield 'two'
        yield 'three'
        return 'done'
      },
      { timeout: 60 },
    )
    const results: unknown[] = []
    for await (const event of query({ model: calling([{ name: 'patient' }]), tools: [patient], prompt: 'Go' })) {
      if (event.type === 'tool_progress') await sleep(50)
      if (event.type === 'tool_result') results.push(event.result)
    }
    expect(results).toMatchObject([{ content: 'done', isError: false }])
    expect((results[0] as { durationMs: number }).durationMs).toBeLessThan(50)
  })
})
