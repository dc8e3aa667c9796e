import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { tool } from '../../test/calls.ts'
import { CriaError } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import { assistant, fromParts, toolResult, user } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { ModelRequest } from '../core/model.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { collect } from '../testing/turns.ts'
import { query } from './query.ts'
import type { EngineOptions } from './options.ts'

const WINDOW = 4000
const folder = mkdtempSync(join(tmpdir(), 'cria-compaction-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const look = tool('look', ({ chars }) => words(Number(chars)), { description: 'Looks something up.', isReadOnly: true })

/** Prose of so many characters, about five to a token. */
function words(chars: number): string {
  return 'The river carries what the rain has left on the hills. '.repeat(Math.ceil(chars / 55)).slice(0, chars)
}

const isSummary = ({ messages }: ModelRequest): boolean => messages[0]?.content.startsWith('You write the notes') === true

/** Looks so many times, and writes a summary whenever it is asked for one. */
function agent(steps: number, facts: Partial<ScriptedModel['facts']> = {}, chars = 2500): ScriptedModel {
  let step = 0
  return new ScriptedModel(
    (request): ScriptedAnswer => {
      if (isSummary(request)) return 'Notes: the river was looked at.'
      step++
      return step > steps
        ? 'Done.'
        : { text: `Step ${step}.`, toolCalls: [{ id: `call_${step}`, name: 'look', input: { chars, step } }] }
    },
    { facts: { contextWindow: WINDOW, ...facts } },
  )
}

const run = (options: EngineOptions): ReturnType<typeof collect> => collect(query({ retry: { initialDelay: 0 }, ...options }))

/** Runs a turn that needs a summary, with this answer of the summary model, and completes without it. */
async function watchWith(
  summary: ScriptedAnswer,
): Promise<{ readonly events: readonly QueryEvent[]; readonly model: ScriptedModel }> {
  const summaryModel = new ScriptedModel(() => summary, { ref: 'a/quick' })
  const model = agent(30)
  const context = { summaryModel: () => summaryModel }
  const { events, result } = await run({ model, prompt: 'Watch the river.', tools: [look], context })
  expect(result?.text).toBe('Done.')
  return { events, model }
}

function compactions(events: readonly QueryEvent[]): Extract<QueryEvent, { type: 'compaction' }>[] {
  return events.filter((event) => event.type === 'compaction')
}

/** Every call has its result right behind it, and every result its call. */
function isSound({ messages }: ModelRequest): boolean {
  return messages.every((message, at) => {
    if (message.role === 'tool') return messages.slice(0, at).findLast(({ role }) => role !== 'tool')?.toolCalls !== undefined
    const results = messages.slice(at + 1, at + 1 + (message.toolCalls?.length ?? 0)).flatMap(({ parts }) => parts)
    return (message.toolCalls ?? []).every(({ id }) => results.some((part) => part.type === 'tool-result' && part.id === id))
  })
}

const contents = ({ messages }: ModelRequest): string[] => messages.map(({ content }) => content)

describe('a conversation that grows past its window', () => {
  it('ENG-CTX-002 is compacted, keeps what it needs, and continues', async () => {
    const model = agent(40)
    const { events, result } = await run({ model, prompt: 'Watch the river.', system: 'Be brief.', tools: [look], maxSteps: 60 })
    expect(result).toMatchObject({ text: 'Done.', steps: 41 })
    const made = compactions(events)
    expect(made.length).toBeGreaterThan(1)
    // Few compactions, since each one goes far.
    expect(made.length).toBeLessThan(20)
    for (const { tokensBefore, tokensAfter } of made) {
      expect(tokensBefore).toBeGreaterThan(0.5 * WINDOW)
      expect(tokensAfter).toBeLessThanOrEqual(0.5 * WINDOW)
    }
    for (const request of model.requests.filter((each) => !isSummary(each))) {
      expect(isSound(request)).toBe(true)
      expect(contents(request).slice(0, 2)).toEqual(['Be brief.', 'Watch the river.'])
    }
    expect(made.map(({ strategy }) => strategy)).toContain('summarise')
    expect(model.requests.some((request) => contents(request).some((text) => text.includes('Notes: the river')))).toBe(true)
    // Each summary was paid for.
    expect(model.requests.filter(isSummary).length).toBeGreaterThan(0)
  })

  it('ENG-CTX-002 shortens old tool output first, and asks no model if that is enough', async () => {
    const model = agent(2, { contextWindow: 10_000 }, 14_000)
    const { events } = await run({ model, prompt: 'Watch the river.', tools: [look] })
    expect(compactions(events).map(({ strategy }) => strategy)).toEqual(['shorten'])
    expect(model.requests.some(isSummary)).toBe(false)
    expect(contents(model.requests.at(-1) as ModelRequest).some((text) => text.includes('were left out to make room'))).toBe(true)
  })

  it('ENG-CTX-002 drops old messages if no model can write a summary', async () => {
    const model = agent(30, { writes: false })
    const { events, result } = await run({ model, prompt: 'Watch the river.', tools: [look] })
    expect(result?.text).toBe('Done.')
    expect(compactions(events).every(({ strategy }) => strategy === 'trim' || strategy === 'shorten')).toBe(true)
    expect(model.requests.some(isSummary)).toBe(false)
  })

  it('ENG-CTX-002 continues without a summary if its model fails, with a notice', async () => {
    const { events } = await watchWith({ fail: { after: 0, error: new CriaError('auth', 'No key.') } })
    expect(events.filter((event) => event.type === 'notice').map(({ code }) => code)).toContain('summary_failed')
  })

  it.each<[string, ScriptedAnswer, RegExp]>([
    ['cut by its limit', { text: 'Notes: the ri', finish: 'length' }, /was cut at the limit of its output/],
    ['withheld', { text: 'Notes: the ri', finish: 'content-filter' }, /was withheld by the provider/],
    ['blank', { text: ' \n' }, /holds no text/],
    ['a tool call', { text: 'Notes.', toolCalls: [{ name: 'look', input: {} }] }, /called a tool/],
    ['too large', { text: 'Notes. '.repeat(3000) }, /The summary is too large/],
  ])('ENG-CTX-002 a summary that is %s counts as failed, with a notice', async (_, answer, why) => {
    const { events, model } = await watchWith(answer)
    const notices = events.flatMap((event) => (event.type === 'notice' && event.code === 'summary_failed' ? [event.message] : []))
    expect(notices[0]).toMatch(why)
    expect(compactions(events).map(({ strategy }) => strategy)).not.toContain('summarise')
    expect(model.requests.some((request) => contents(request).some((text) => text.includes('Summary of an older part')))).toBe(
      false,
    )
  })

  it('ENG-CTX-002 does not drop the last turns for a large summary', async () => {
    const said = Array.from({ length: 12 }, (_, turn) => [
      user(`Question ${turn}. ${words(900)}`),
      assistant(`Answer ${turn}.`),
    ]).flat()
    const model = new ScriptedModel((request) => (isSummary(request) ? 'Notes. '.repeat(1500) : 'Done.'), {
      facts: { contextWindow: WINDOW },
    })
    await run({ model, messages: [...said, user('And now?')] })
    const sent = contents(model.requests.at(-1) as ModelRequest)
    for (const last of ['Question 11.', 'Question 10.']) expect(sent.some((text) => text.startsWith(last))).toBe(true)
  })

  it('ENG-CTX-002 compacted messages stay readable in the journal, even those of a given conversation', async () => {
    const recorder = await SqliteRecorder.open({ path: join(folder, 'given.db') })
    const said = Array.from({ length: 12 }, (_, turn) => [
      user(`Question ${turn}. ${words(900)}`),
      assistant(`Answer ${turn}.`),
    ]).flat()
    const model = new ScriptedModel((request) => (isSummary(request) ? 'Notes.' : 'Done.'), { facts: { contextWindow: WINDOW } })
    const { events, result } = await run({ model, messages: [...said, user('And now?')], recorder })
    expect(compactions(events)).toHaveLength(1)
    const stored = recorder.read.turn(result?.turnId ?? '')?.messages.map(({ content }) => content) ?? []
    expect(stored.slice(0, said.length)).toEqual(said.map(({ content }) => content))
    // The session continues from the summary, without repeated messages.
    const history = recorder.read.history(result?.sessionId ?? '').map(({ content }) => content)
    expect(history.filter((text) => text.startsWith('Question 11.'))).toHaveLength(1)
    expect(history.at(-1)).toBe('Done.')
    expect(history.some((text) => text.includes('Notes.'))).toBe(true)
    await recorder.close()
  })

  it('ENG-CTX-001 sends a request that may fit, and none that would surely be refused', async () => {
    const ask = (tokens: number): Promise<readonly QueryEvent[]> =>
      run({
        model: new ScriptedModel(['Done.'], { facts: { contextWindow: WINDOW } }),
        prompt: 'river '.repeat(tokens),
        context: { compaction: false },
      }).then(({ events }) => events)
    expect((await ask(WINDOW * 1.15)).at(-1)).toMatchObject({ type: 'complete' })
    expect((await ask(WINDOW * 1.4)).at(-1)).toMatchObject({ type: 'error', error: { code: 'context_length' } })
  })

  it('ENG-CTX-002 asks the summary model first, and counts its cost', async () => {
    const summaryModel = new ScriptedModel(
      () => ({ text: 'Notes: short.', usage: { inputTokens: 500, outputTokens: 5, totalTokens: 505 } }),
      { ref: 'a/quick' },
    )
    const { events, result, types } = await run({
      model: agent(30),
      prompt: 'Watch the river.',
      tools: [look],
      context: { summaryModel: () => summaryModel },
    })
    expect(summaryModel.requests.length).toBeGreaterThan(0)
    expect(result?.usage.inputTokens).toBeGreaterThanOrEqual(500 * summaryModel.requests.length)
    // ENG-USAGE-001: one event per step, none for a summary; the result has the whole cost.
    const steps = events.flatMap((event) => (event.type === 'usage' ? [event.usage.inputTokens ?? 0] : []))
    expect(steps).toHaveLength(result?.steps ?? 0)
    expect(result?.usage.inputTokens).toBe(steps.reduce((sum, each) => sum + each, 500 * summaryModel.requests.length))
    // The reader sees none of the summary.
    expect(types).not.toContain('model_switch')
    expect(events.some((event) => event.type === 'text_delta' && event.text.includes('Notes'))).toBe(false)
  })

  it('ENG-CTX-002 never happens when switched off, and happens at a configured share', async () => {
    const off = await run({ model: agent(6), prompt: 'Go', tools: [look], context: { compaction: false } })
    expect(compactions(off.events)).toEqual([])
    const early = await run({
      model: agent(3),
      prompt: 'Go',
      tools: [look],
      context: { compaction: { window: 100_000, at: 0.012, to: 0.006 } },
    })
    expect(compactions(early.events).length).toBeGreaterThan(0)
    expect(() => query({ model: agent(1), prompt: 'Go', context: { compaction: { at: 80 } } })).toThrow(/share of the window/)
  })

  it('ENG-CTX-001 uses the count of the provider', async () => {
    const reporting = (inputTokens: number): ScriptedModel =>
      new ScriptedModel(
        (request, call): ScriptedAnswer =>
          isSummary(request)
            ? 'Notes.'
            : call < 8
              ? {
                  toolCalls: [{ name: 'look', input: { chars: 200, call } }],
                  usage: { inputTokens: inputTokens * request.messages.length, outputTokens: 1, totalTokens: null },
                }
              : 'Done.',
        { facts: { contextWindow: WINDOW } },
      )
    // By our count, neither is near the limit.
    expect(compactions((await run({ model: reporting(50), prompt: 'Go', tools: [look] })).events)).toEqual([])
    expect(compactions((await run({ model: reporting(500), prompt: 'Go', tools: [look] })).events).length).toBeGreaterThan(0)
  })
})

describe('a request that is too large', () => {
  const overflow = new CriaError('context_length', 'Too many tokens.', { status: 400 })

  it('ENG-ERR-003 is compacted and sent once more if the window is unknown', async () => {
    let refused = 0
    const model = new ScriptedModel(
      (request, call): ScriptedAnswer => {
        if (isSummary(request)) return 'Notes.'
        if (contents(request).join('').length > 9000) {
          refused++
          return { fail: { after: 0, error: overflow } }
        }
        return call < 20 ? { toolCalls: [{ id: `call_${call}`, name: 'look', input: { chars: 2000, call } }] } : 'Done.'
      },
      { facts: { contextWindow: null } },
    )
    const { events, result } = await run({ model, prompt: 'Watch the river.', tools: [look] })
    expect(result?.text).toBe('Done.')
    expect(compactions(events).length).toBeGreaterThanOrEqual(1)
    // A refused request is not sent again.
    expect(refused).toBeLessThanOrEqual(2)
  })

  it('ENG-ERR-003 is then sent to a model with a larger window, and fails with numbers after that', async () => {
    const failing = (ref: string, contextWindow: number): ScriptedModel =>
      new ScriptedModel((request) => (isSummary(request) ? 'Notes.' : { fail: { after: 0, error: overflow } }), {
        ref,
        facts: { contextWindow },
      })
    const history = [user('First.'), assistant(words(3000)), user('Second.'), assistant(words(3000))]
    const small = failing('a/small', 10_000)
    const smaller = failing('b/smaller', 8000)
    const large = new ScriptedModel(['Here.'], { ref: 'c/large', facts: { contextWindow: 100_000 } })
    const options = { model: small, prompt: 'Third?', messages: history }
    const won = await run({ ...options, fallbackModels: [smaller, large] })
    expect(won.types).toEqual(['start', 'compaction', 'model_switch', 'text_delta', 'usage', 'message', 'complete'])
    expect(won.events[2]).toMatchObject({ from: 'a/small', to: 'c/large', reason: 'context_too_large' })
    expect(won.events.at(-1)).toMatchObject({ step: 1, result: { steps: 1 } })

    const lost = await run(options)
    expect(lost.types).toEqual(['start', 'compaction', 'error'])
    expect(lost.events.at(-1)).toMatchObject({
      error: { code: 'context_length', status: 400, details: { tokens: expect.any(Number), model: 'a/small' } },
    })
  })

  it('ENG-ERR-003 recognises a provider that accepts the request but has no room for an answer', async () => {
    const silent = (request: ModelRequest): ScriptedAnswer => {
      if (isSummary(request)) return 'Notes.'
      const isFull = contents(request).join('').length > 4000
      return isFull ? { text: '', finish: 'length', usage: { inputTokens: 2000, outputTokens: 0, totalTokens: 2000 } } : 'Here.'
    }
    const messages = [user('First.'), assistant(words(3000)), user('Second.'), assistant(words(3000))]
    const { types, text } = await run({ model: new ScriptedModel(silent), messages, prompt: 'Third?' })
    expect(types).toEqual(['start', 'compaction', 'text_delta', 'usage', 'message', 'complete'])
    expect(text).toBe('Here.')
    // A cut answer is still an answer.
    const cut = new ScriptedModel([{ text: 'He', finish: 'length' }])
    expect((await run({ model: cut, prompt: 'Go' })).result).toMatchObject({ finishReason: 'length', text: 'He' })
  })

  describe('ENG-ERR-003 a server that cuts a request silently', () => {
    /** Reads the end of a request only, four characters to a token, and says so. */
    const cutting = (window: number, facts: Partial<ScriptedModel['facts']>): ScriptedModel =>
      new ScriptedModel(
        (request): ScriptedAnswer => {
          if (isSummary(request)) return 'Notes.'
          const inputTokens = Math.min(window, Math.round(contents(request).join('').length / 4.5))
          return { text: 'Here.', usage: { inputTokens, outputTokens: 1, totalTokens: inputTokens + 1 } }
        },
        { facts },
      )
    const messages = [user('First.'), assistant(words(16_000)), user('Second.'), assistant(words(16_000))]

    it('gets a smaller request if it is known to do so, and its first answer is taken back', async () => {
      const model = cutting(3000, { contextWindow: null, cutsSilently: true })
      const { events, types, text } = await run({ model, messages, prompt: 'Third?' })
      expect(types).toEqual(['start', 'text_delta', 'reset', 'compaction', 'text_delta', 'usage', 'message', 'complete'])
      expect(text).toBe('Here.')
      const sizes = model.requests.filter((request) => !isSummary(request)).map((request) => contents(request).join('').length)
      expect(sizes).toEqual([expect.any(Number), expect.any(Number)])
      expect(sizes.at(-1)).toBeLessThan(3000 * 4.5)
      // Both were paid for.
      expect(events.at(-1)).toMatchObject({ result: { usage: { inputTokens: expect.any(Number) } } })
    })

    it('gets a smaller request if its window could not hold the first', async () => {
      const options = { messages, prompt: words(16_000), context: { compaction: { window: 10_000 } } }
      const { types } = await run({ model: cutting(4000, { contextWindow: 128_000 }), ...options, messages: [] })
      // It fits by our count, and was read whole.
      expect(types).toEqual(['start', 'text_delta', 'usage', 'message', 'complete'])
      const all = { ...options, prompt: words(42_000), messages: [] }
      const { events, types: refused } = await run({ model: cutting(3000, { contextWindow: 128_000 }), ...all })
      expect(refused).toEqual(['start', 'text_delta', 'reset', 'error'])
      expect(events.at(-1)).toMatchObject({ error: { code: 'context_length', details: { inputTokens: 3000 } } })
    })

    it('causes one notice per turn in doubt: it may count only uncached tokens', async () => {
      const model = cutting(3000, { contextWindow: null })
      const { events, types } = await run({ model, messages, prompt: 'Third?' })
      expect(types).toEqual(['start', 'text_delta', 'notice', 'usage', 'message', 'complete'])
      expect(events[2]).toMatchObject({ code: 'input_cut', details: { read: 3000 } })
      const far = cutting(3000, { contextWindow: 200_000 })
      expect((await run({ model: far, messages, prompt: 'Third?' })).types).not.toContain('notice')
    })

    it('is believed in the end, so that the turn completes', async () => {
      const model = cutting(300, { contextWindow: null, cutsSilently: true })
      const { types } = await run({ model, messages, prompt: 'Third?' })
      expect(types.filter((type) => type === 'compaction')).toHaveLength(1)
      expect(types.at(-1)).toBe('complete')
      const hopeless = await run({ model: cutting(300, { contextWindow: null, cutsSilently: true }), prompt: words(20_000) })
      expect(hopeless.types.at(-1)).toBe('error')
    })
  })

  it('ENG-ERR-003 a configured window does not apply to a larger model', async () => {
    const small = new ScriptedModel(['Never.'], { ref: 'a/small', facts: { contextWindow: 5000 } })
    const large = new ScriptedModel(['Here.'], { ref: 'b/large', facts: { contextWindow: 100_000 } })
    const { types, text } = await run({
      model: small,
      fallbackModels: [large],
      prompt: words(20_000),
      context: { compaction: { window: 2000 } },
    })
    expect(types).toEqual(['start', 'model_switch', 'text_delta', 'usage', 'message', 'complete'])
    expect(text).toBe('Here.')
    expect(small.requests).toHaveLength(0)
  })

  it('fails with numbers after one attempt if nothing can be compacted', async () => {
    const model = new ScriptedModel(() => ({ fail: { after: 0, error: overflow } }), { facts: { contextWindow: WINDOW } })
    const { events, types } = await run({ model, prompt: words(8000), system: words(8000) })
    expect(types).toEqual(['start', 'error'])
    expect(events.at(-1)).toMatchObject({ error: { code: 'context_length', details: { contextWindow: WINDOW } } })
    // The message of the provider is part of it.
    expect(JSON.stringify(events.at(-1))).toContain('Too many tokens.')
    expect(model.requests).toHaveLength(1)
  })

  it('is not sent if it is far too large: a provider might cut it silently', async () => {
    const model = new ScriptedModel(['Never.'], { facts: { contextWindow: WINDOW } })
    const { events } = await run({ model, prompt: words(50_000) })
    expect(events.at(-1)).toMatchObject({ error: { code: 'context_length', message: expect.stringContaining('4000') } })
    expect(model.requests).toHaveLength(0)
  })
})

describe('a session', () => {
  it('ENG-CTX-002 continues from the summary, answers from it, and keeps everything in the journal', async () => {
    const recorder = await SqliteRecorder.open({ path: join(folder, 'session.db') })
    const model = new ScriptedModel(
      (request): ScriptedAnswer => {
        const said = contents(request).join('\n')
        const secret = /code word is (\w+)/.exec(said)?.[1]
        if (isSummary(request)) return `Notes: the code word is ${secret}.`
        return said.endsWith('code word?') ? `It is ${secret}.` : words(1500)
      },
      { facts: { contextWindow: WINDOW } },
    )
    const sessionId = 'ses_river'
    const say = (prompt: string): ReturnType<typeof collect> => run({ model, prompt, sessionId, recorder })
    await say('What is a river?')
    await say('The code word is heron.')
    const events: QueryEvent[] = []
    for (let turn = 0; turn < 20; turn++) events.push(...(await say(`Go on, part ${turn}. ${words(300)}`)).events)
    const summaries = model.requests.filter(isSummary).length
    expect(compactions(events).length).toBeGreaterThan(0)
    // Not every turn writes a new summary.
    expect(summaries).toBeLessThan(12)
    expect((await say('What is the code word?')).text).toBe('It is heron.')
    const history = recorder.read.history(sessionId)
    expect(history.length).toBeLessThan(30)
    expect(history[0]?.content).toBe('What is a river?')
    expect(history.filter((message) => message.summary)).toHaveLength(1)
    const { turns } = recorder.read.turns({ sessionId })
    expect(turns).toHaveLength(23)
    for (const { turnId } of turns) {
      expect(recorder.read.turn(turnId)?.messages.filter(({ role }) => role === 'assistant')).toHaveLength(1)
    }
    await recorder.close()
  })
})

describe('a session that begins with a long message', () => {
  const document = `Here is my document. ${words(14_000)} That was all.`
  const talker = (contextWindow: number): ScriptedModel =>
    new ScriptedModel((request) => (isSummary(request) ? 'Notes: short questions.' : 'A short answer.'), {
      facts: { contextWindow, maxOutputTokens: 500 },
    })

  it('ENG-CTX-002 costs one request per turn, and keeps the message whole as long as it can be sent', async () => {
    const recorder = await SqliteRecorder.open({ path: join(folder, 'long.db') })
    const model = talker(WINDOW)
    for (let turn = 0; turn < 8; turn++) {
      const prompt = turn === 0 ? document : `Question ${turn}?`
      const { result } = await run({ model, prompt, sessionId: 'ses_long', recorder })
      expect(result?.text).toBe('A short answer.')
    }
    expect(model.requests).toHaveLength(8)
    for (const request of model.requests) expect(contents(request)[0]).toBe(document)
    await recorder.close()
  })

  it('ENG-CTX-002 continues with a smaller model without the middle of the message, which the journal keeps', async () => {
    const recorder = await SqliteRecorder.open({ path: join(folder, 'smaller.db') })
    const session = { sessionId: 'ses_smaller', recorder }
    const begun = await run({ model: talker(20_000), prompt: document, ...session })
    await run({ model: talker(20_000), prompt: 'Second?', ...session })
    const small = talker(2000)
    const made: string[] = []
    for (let turn = 0; turn < 6; turn++) {
      const { events, result } = await run({ model: small, prompt: `Question ${turn}?`, ...session })
      expect(result?.text).toBe('A short answer.')
      made.push(...compactions(events).map(({ strategy }) => strategy))
    }
    // Once, and no model was asked for a summary.
    expect(made).toEqual(['shorten'])
    expect(small.requests).toHaveLength(6)
    const said = contents(small.requests[0] as ModelRequest)
    expect(said[0]).toMatch(
      /^Here is my document\. [^]*\n\[… \d+ characters of this message were left out to make room …\]\n[^]* That was all\.$/,
    )
    expect(said.slice(1)).toEqual(['A short answer.', 'Second?', 'A short answer.', 'Question 0?'])
    expect(recorder.read.turn(begun.events[0]?.turnId ?? '')?.messages[0]?.content).toBe(document)
    await recorder.close()
  })

  it('ENG-CTX-002 is not compacted for a question that is itself too large', async () => {
    const recorder = await SqliteRecorder.open({ path: join(folder, 'vain.db') })
    const session = { sessionId: 'ses_vain', recorder }
    await run({ model: talker(WINDOW), prompt: document, ...session })
    const lost = await run({ model: talker(WINDOW), prompt: words(40_000), ...session })
    expect(lost.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'context_length' } })
    expect(recorder.read.history('ses_vain')[0]?.content).toBe(document)
    await recorder.close()
  })
})

/** All of it, or without its middle. */
function isLeftOf(text: string, said: string | undefined): boolean {
  if (said === text) return true
  const [, head, left, tail] =
    /^([^]*)\n\[… (\d+) characters of this message were left out to make room …\]\n([^]*)$/.exec(said ?? '') ?? []
  if (head === undefined || tail === undefined) return false
  return text.startsWith(head) && text.endsWith(tail) && head.length + Number(left) + tail.length === text.length
}

const exchange: fc.Arbitrary<Message[]> = fc
  .record({
    ask: fc.oneof(fc.nat(800), fc.nat(12_000)),
    answer: fc.nat(1500),
    calls: fc.nat(3),
    output: fc.nat(6000),
    pinned: fc.boolean(),
  })
  .map(({ ask, answer, calls, output, pinned }) => {
    const id = Math.random().toString(36).slice(2)
    const made = Array.from({ length: calls }, (_, at) => ({
      type: 'tool-call' as const,
      id: `${id}_${at}`,
      name: 'look',
      input: { chars: output },
    }))
    return [
      fromParts('user', [{ type: 'text', text: `? ${words(ask)}` }], pinned ? { pinned } : {}),
      ...(calls === 0
        ? []
        : [assistant(made), ...made.map((call) => toolResult({ id: call.id, name: 'look', content: words(output) }))]),
      assistant(`! ${words(answer)}`),
    ]
  })

describe('invariant 8', () => {
  it('ENG-CTX-002 keeps question, pinned messages and calls with results, and shrinks or stops, for any conversation', async () => {
    const recorder = await SqliteRecorder.open({ path: join(folder, 'random.db') })
    await fc.assert(
      fc.asyncProperty(
        fc.array(exchange, { maxLength: 8 }),
        fc.integer({ min: 300, max: 8000 }),
        fc.nat(4),
        fc.constantFrom('summary', 'fails', 'cannot'),
        fc.boolean(),
        async (exchanges, contextWindow, steps, how, refuses) => {
          const model = new ScriptedModel(
            (request, call): ScriptedAnswer => {
              if (isSummary(request)) return how === 'fails' ? { finish: 'error' } : 'Notes.'
              if (refuses && contents(request).join('').length > 3 * contextWindow)
                return { fail: { after: 0, error: new CriaError('context_length', 'Too long.') } }
              const step = request.messages.filter(({ content }) => content.startsWith('Step')).length
              return step < steps
                ? { text: 'Step', toolCalls: [{ id: `step_${call}`, name: 'look', input: { chars: 2000, call } }] }
                : 'Done.'
            },
            { facts: { contextWindow: refuses ? null : contextWindow, writes: how !== 'cannot' } },
          )
          const messages = exchanges.flat()
          const { events } = await run({
            model,
            messages,
            prompt: 'The question?',
            system: 'Rules.',
            tools: [look],
            recorder,
            retry: { maxRetries: 0 },
            maxSteps: 12,
          })
          const perStep = Map.groupBy(compactions(events), ({ step }) => step)
          for (const [, made] of perStep) expect(made).toHaveLength(1)
          for (const { tokensBefore, tokensAfter } of compactions(events)) expect(tokensAfter).toBeLessThan(tokensBefore)
          const first = messages[0]?.content
          for (const request of model.requests.filter((each) => !isSummary(each))) {
            const said = contents(request)
            expect(isSound(request)).toBe(true)
            expect(said[0]).toBe('Rules.')
            expect(said).toContain('The question?')
            if (first !== undefined) expect(isLeftOf(first, said[1])).toBe(true)
            for (const { pinned, content } of messages) if (pinned) expect(said).toContain(content)
          }
          const end = events.at(-1)
          if (end?.type === 'error') expect(end.error.code).toBe('context_length')
          else expect(end?.type).toBe('complete')
        },
      ),
      { numRuns: 150 },
    )
    await recorder.close()
  }, 60_000)
})
