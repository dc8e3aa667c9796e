import { describe, expect, test } from 'vitest'
import { journalForEach } from '../../test/support/journal.ts'
import { collect } from '../../test/calls.ts'
import type { QueryEvent } from '../core/event.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { compactSession, forkSession } from './session-turns.ts'
import type { SessionTurnOptions } from './session-turns.ts'

const LONG = 'It was said at some length, and then again. '.repeat(60)

let recorder: SqliteRecorder
journalForEach((opened) => {
  recorder = opened
})

/** A session of five turns. */
async function talk(): Promise<string> {
  let sessionId: string | undefined
  for (const prompt of ['One?', 'Two?', 'Three?', 'Four?', 'Five?']) {
    const model = new ScriptedModel([`${prompt} ${LONG}`])
    const events = await collect({ prompt, model, recorder, ...(sessionId === undefined ? {} : { sessionId }) })
    sessionId = events[0]?.sessionId
  }
  return sessionId ?? ''
}

async function all(events: AsyncIterable<QueryEvent>): Promise<readonly QueryEvent[]> {
  const seen: QueryEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

const options = (sessionId: string, model = new ScriptedModel(['Notes: three questions.'])): SessionTurnOptions => ({
  model,
  recorder,
  sessionId,
  title: 'Compact',
})

describe('compactSession', () => {
  test('ENG-CTX-002 summarises older messages, keeps the last turn, and the journal keeps everything', async () => {
    const sessionId = await talk()
    const events = await all(compactSession(options(sessionId)))
    expect(events.map(({ type }) => type)).toEqual(['start', 'compaction', 'complete'])
    expect(events.map(({ seq }) => seq)).toEqual([0, 1, 2])
    expect(events[0]?.sessionId).toBe(sessionId)

    const history = recorder.read.history(sessionId)
    // The opening message is never dropped.
    expect(history.map(({ role }) => role)).toEqual(['user', 'user', 'user', 'assistant'])
    expect(history[0]?.content).toBe('One?')
    expect(history[1]?.content).toContain('Notes: three questions.')
    expect(history[2]?.content).toBe('Five?')
    expect(recorder.read.turns({ sessionId }).turns.map(({ question, status }) => [question, status])).toEqual([
      ['Compact', 'done'],
      ...['Five?', 'Four?', 'Three?', 'Two?', 'One?'].map((question) => [question, 'done']),
    ])
  })

  test('the next turn continues from the summary', async () => {
    const sessionId = await talk()
    await all(compactSession(options(sessionId)))
    const model = new ScriptedModel(['Six.'])
    await collect({ prompt: 'Six?', model, recorder, sessionId })
    const sent = model.requests[0]?.messages.map(({ content }) => content) ?? []
    expect(sent.some((content) => content.includes('Notes: three questions.'))).toBe(true)
    expect(sent).not.toContain('Two?')
    expect(sent.at(-1)).toBe('Six?')
  })

  test('counts the cost of the summary', async () => {
    const sessionId = await talk()
    const events = await all(compactSession(options(sessionId)))
    expect(events.at(-1)).toMatchObject({
      type: 'complete',
      result: { steps: 0, usage: { outputTokens: expect.any(Number) as number } },
    })
  })

  test('an interruption changes nothing', async () => {
    const sessionId = await talk()
    const before = recorder.read.history(sessionId)
    const events = await all(compactSession({ ...options(sessionId), abortSignal: AbortSignal.abort() }))
    expect(events.at(-1)?.type).toBe('cancelled')
    expect(recorder.read.history(sessionId)).toEqual(before)
  })

  test('reports an unknown session, and creates none', async () => {
    const events = await all(compactSession(options('ses_unknown')))
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'configuration' } })
    expect(recorder.read.history('ses_unknown')).toEqual([])
  })
})

describe('forkSession', () => {
  test('starts another session with the whole conversation, and leaves the first unchanged', async () => {
    const sessionId = await talk()
    const before = recorder.read.history(sessionId)
    const events = await all(forkSession(options(sessionId)))
    const fork = events[0]?.sessionId ?? ''
    expect(events.map(({ type }) => type)).toEqual(['start', 'complete'])
    expect(fork).not.toBe(sessionId)
    expect(recorder.read.history(fork)).toEqual(before)

    await collect({ prompt: 'Six?', model: new ScriptedModel(['Six.']), recorder, sessionId: fork })
    expect(recorder.read.history(fork).map(({ content }) => content)).toContain('One?')
    expect(recorder.read.history(fork).at(-1)?.content).toBe('Six.')
    expect(recorder.read.history(sessionId)).toEqual(before)
  })
  test('belongs to the same user, and is deleted with that user', async () => {
    const sessionId = await talk()
    await collect({ prompt: 'Six?', model: new ScriptedModel(['Six.']), recorder, sessionId, userId: 'ada' })
    await all(forkSession(options(sessionId)))
    expect(await recorder.deleteUser('ada')).toMatchObject({ sessions: 2 })
    expect(recorder.read.turns().turns).toEqual([])
  })
})
