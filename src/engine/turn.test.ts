/** Turns that begin with messages of the caller, such as the calls of an unfinished turn. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { all, calling, collect, tool } from '../../test/calls.ts'
import { assistant, toolResult, user } from '../core/message.ts'
import type { DocumentStore } from '../core/store.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { query } from './query.ts'

const words = (chars: number): string =>
  'The river carries what the rain has left. '.repeat(Math.ceil(chars / 42)).slice(0, chars)
const steps = (count: number, chars: number): ReturnType<typeof user>[] =>
  Array.from({ length: count }, (_, step) => [
    assistant([
      { type: 'text', text: words(chars) },
      { type: 'tool-call', id: `c${step}`, name: 'look', input: {} },
    ]),
    toolResult({ id: `c${step}`, name: 'look', content: words(chars) }),
  ]).flat()

describe('messages that end in the results of tools', () => {
  it('ENG-CTX-002 compaction keeps the unanswered question', async () => {
    const messages = [user('First of all.'), assistant(words(2000)), user('Where is it?'), ...steps(12, 900)]
    const model = new ScriptedModel(({ messages: [first] }) => (first?.role === 'system' ? 'Notes.' : 'There.'), {
      facts: { contextWindow: 4000 },
    })
    const events = await collect({ model, messages, prompt: [] })
    expect(all(events, 'compaction')).toHaveLength(1)
    const sent = model.requests.at(-1)?.messages ?? []
    expect(sent.map(({ content }) => content)).toEqual(expect.arrayContaining(['First of all.', 'Where is it?']))
    expect(sent.at(-1)?.role).toBe('tool')
    // The steps after it may be compacted.
    expect(sent.length).toBeLessThan(12)
  })

  it('retrieval searches for that question, and its calls keep their results', async () => {
    const searched: string[] = []
    const docstore = {
      name: 'docs',
      retrieve: async (text: string) => {
        searched.push(text)
        return [{ id: 'x', text: 'It is in Oban.', source: 's.md', start: 0, end: 14, metadata: {}, score: 1 }]
      },
    } as unknown as DocumentStore
    const model = new ScriptedModel(['In Oban [1].'])
    const events = await collect({
      model,
      messages: [user('Where is it?'), ...steps(1, 20)],
      prompt: [],
      retrieve: { docstore },
    })
    expect(events.at(-1)).toMatchObject({ type: 'complete', result: { citations: [{ marker: '1' }] } })
    expect(searched).toEqual(['Where is it?'])
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'user', 'assistant', 'tool'])
    expect(() => query({ model, messages: steps(1, 20), retrieve: { docstore } })).toThrow('nothing to search for')
  })
})

describe('toolChoice', () => {
  const look = tool('look', () => 'seen')
  it.each([{ toolChoice: 'required' as const }, { toolChoice: { tool: 'look' } }])(
    'ENG-QUERY-001 %o holds for the first step: the model may then answer',
    async ({ toolChoice }) => {
      const model = new ScriptedModel(({ toolChoice: bound }) =>
        bound === undefined ? 'Seen it.' : { toolCalls: [{ name: 'look', input: {} }] },
      )
      const events = await collect({ model, tools: [look], toolChoice, maxSteps: 5 })
      expect(model.requests.map((request) => request.toolChoice)).toEqual([toolChoice, undefined])
      expect(events.at(-1)).toMatchObject({ type: 'complete', result: { text: 'Seen it.', finishReason: 'stop' } })
    },
  )

  it.each(['none', 'auto'] as const)('ENG-QUERY-001 %s holds for all steps', async (toolChoice) => {
    const model = calling([{ name: 'look' }])
    await collect({ model, tools: [look], toolChoice })
    expect(model.requests.map((request) => request.toolChoice)).toEqual([toolChoice, toolChoice])
  })
})

describe('messages passed in a session', () => {
  it('ENG-QUERY-001 are stored under new ids if theirs are taken', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cria-request-'))
    const recorder = await SqliteRecorder.open({ path: join(folder, 'cria.db') })
    const first = { id: 'm1', role: 'user' as const, content: 'One?' }
    await collect({ model: new ScriptedModel(['1.']), prompt: first, recorder, sessionId: 's' })
    const model = new ScriptedModel(['3.', '4.'])
    await collect({
      model,
      prompt: [{ id: 'm1', role: 'user', content: 'Two?' }, assistant('2.'), user('Three?')],
      recorder,
      sessionId: 's',
    })
    await collect({ model, prompt: 'Four?', recorder, sessionId: 's' })
    const said = ['One?', '1.', 'Two?', '2.', 'Three?']
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(said)
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual([...said, '3.', 'Four?'])
    const ids = recorder.read.history('s').map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    await recorder.close()
    rmSync(folder, { recursive: true })
  })
})
