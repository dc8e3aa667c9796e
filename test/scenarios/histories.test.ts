/** Tests that every provider receives a valid conversation for any input, by the bodies of the requests. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assistant, toolResult, user } from '../../src/core/message.ts'
import type { Message } from '../../src/core/message.ts'
import type { ModelFacts } from '../../src/core/model.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { createProviderModel } from '../../src/providers/create.ts'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'
import { all, collect } from '../calls.ts'
import { ask } from '../support/ask-provider.ts'
import { APIS } from '../support/answers.ts'
import type { Api } from '../support/answers.ts'
import { HISTORY_RULES } from '../support/history-rules.ts'
import { hostileTranscript, soundTranscript } from '../support/transcripts.ts'
import { hasRecordings, warnThatRecordingsAreMissing, violationsIn } from '../support/shared-wire.ts'
import type { JsonObject } from '../../src/core/json.ts'

if (!hasRecordings) warnThatRecordingsAreMissing()

interface Sent {
  readonly bodies: readonly unknown[]
  /** Number of compactions. */
  readonly compacted: number
  readonly sessionId: string
  readonly notices: readonly string[]
  readonly ended: string | undefined
}

/** Asks a question at the end of a conversation; returns the requests. */
async function send(
  api: Api,
  messages: readonly Message[],
  options: Partial<EngineOptions> = {},
  facts: Partial<ModelFacts> = {},
): Promise<Sent> {
  const bodies: unknown[] = []
  const model = createProviderModel(api.model, {
    baseURL: `https://provider.test/${api.version}`,
    apiKey: 'key',
    env: {},
    facts,
    fetch: (_, init) => {
      bodies.push(JSON.parse(init?.body as string))
      return Promise.resolve(new Response(api.stream({ text: 'ok' }), { headers: { 'content-type': 'text/event-stream' } }))
    },
  })
  const asked = messages.length === 0 ? {} : { messages }
  const events = await collect({ model, ...asked, prompt: 'What now?', retry: { maxRetries: 0 }, ...options })
  const last = events.at(-1)
  return {
    bodies,
    compacted: all(events, 'compaction').length,
    sessionId: events[0]?.sessionId ?? '',
    notices: all(events, 'notice').map(({ code }) => code),
    ended: last?.type === 'error' ? `${last.error.code}: ${last.error.message}` : last?.type,
  }
}

const API_NAMES = {
  openai: 'openai-responses',
  'openai-chat': 'openai-chat',
  'openai-compatible': 'openai-chat',
  anthropic: 'anthropic-messages',
  google: 'gemini',
}

describe.each(APIS.filter(({ provider }) => provider in HISTORY_RULES))('ENG-PREP-001 $provider', (api) => {
  const objections = (body: unknown): string[] => HISTORY_RULES[api.provider]?.(body) ?? ['There are no rules.']
  const others = async (body: unknown): Promise<readonly string[]> =>
    hasRecordings ? violationsIn(API_NAMES[api.provider as keyof typeof API_NAMES], body as JsonObject) : []

  test('accepts the request for any conversation', async () => {
    await fc.assert(
      fc.asyncProperty(hostileTranscript(api.model), async (messages) => {
        const { bodies, ended, notices } = await send(api, messages)
        expect({ ended, requests: bodies.length }).toEqual({ ended: 'complete', requests: 1 })
        expect(objections(bodies[0])).toEqual([])
        expect(await others(bodies[0])).toEqual([])
        expect(notices.length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 150 },
    )
  })

  test('accepts it again when the session is continued from the journal', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cria-histories-'))
    const recorder = await SqliteRecorder.open({ path: join(folder, 'cria.db') })
    try {
      await fc.assert(
        fc.asyncProperty(hostileTranscript(api.model), async (messages) => {
          const first = await send(api, messages, { recorder })
          const second = await send(api, [], { recorder, sessionId: first.sessionId })
          expect({ first: first.ended, second: second.ended }).toEqual({ first: 'complete', second: 'complete' })
          expect(objections(second.bodies[0])).toEqual([])
          expect(await others(second.bodies[0])).toEqual([])
        }),
        { numRuns: 60 },
      )
    } finally {
      await recorder.close()
      rmSync(folder, { recursive: true })
    }
  })

  test('accepts it after compaction', async () => {
    let compactions = 0
    await fc.assert(
      fc.asyncProperty(soundTranscript(api.model), hostileTranscript(api.model), async (sound, hostile) => {
        const { bodies, compacted } = await send(api, [...sound, ...hostile], {}, { contextWindow: 400, maxOutputTokens: 100 })
        compactions += compacted
        for (const body of bodies) expect(objections(body)).toEqual([])
        for (const body of bodies) expect(await others(body)).toEqual([])
      }),
      { numRuns: 60 },
    )
    expect(compactions).toBeGreaterThan(0)
  })

  test('would refuse it without the repair', async () => {
    const model = createProviderModel(api.model, { baseURL: 'https://provider.test/v1', apiKey: 'key', env: {}, fetch: capture })
    const bodies: unknown[] = []
    function capture(_: unknown, init?: RequestInit): Promise<Response> {
      bodies.push(JSON.parse(init?.body as string))
      return Promise.reject(new TypeError('No server.'))
    }
    const call: Message = assistant([{ type: 'tool-call', id: 'a', name: 'look', input: {} }])
    const result: Message = toolResult({ id: 'a', name: 'look', content: 'seen' })
    for (const messages of [
      [user('Look.'), call, user('And?')],
      [user('Look.'), result],
      [user('Look.'), call, result, call, result, result],
    ]) {
      await ask(model, { messages })
      expect(objections(bodies.at(-1))).not.toEqual([])
    }
  })

  test('receives a valid conversation unchanged, without a notice', async () => {
    await fc.assert(
      fc.asyncProperty(soundTranscript(api.model), async (messages) => {
        const { bodies, notices } = await send(api, messages)
        expect(objections(bodies[0])).toEqual([])
        expect(notices).toEqual([])
        // All texts are in the request.
        const sent = JSON.stringify(bodies[0])
        const count = (word: string): number => sent.split(word).length - 1
        const said = messages.flatMap(({ parts }) => parts)
        expect(count('seen')).toBe(said.filter((part) => part.type === 'tool-result').length)
        expect(count('There.')).toBe(messages.filter(({ content }) => content === 'There.').length)
      }),
      { numRuns: 30 },
    )
  })

  test('receives a truncated answer without its calls, which were never run', async () => {
    const cut = assistant([
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', id: 'a', name: 'look', input: { at: 1 } },
      { type: 'tool-call', id: 'b', name: 'look', input: '{"at":', invalid: 'Unexpected end' },
    ])
    const { bodies, notices } = await send(api, [user('Look.'), cut])
    expect(objections(bodies[0])).toEqual([])
    expect(JSON.stringify(bodies[0])).toContain('effects are unknown')
    expect(notices).toEqual(['history_repaired'])
  })
})
