import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { rolesAndContents } from '../../test/support/shown.ts'
import { SimpleBot } from '../bots/simple-bot.ts'
import { CriaError } from '../core/error.ts'
import { isTerminal } from '../core/event.ts'
import type { QueryEvent } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import { toolResult, user } from '../core/message.ts'
import type { JournalEntry, Recorder } from '../core/recorder.ts'
import { CoolDowns } from '../model/chain.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import type { ScriptedAnswer } from '../providers/scripted/scripted-model.ts'
import { SqliteRecorder } from '../recorders/sqlite/recorder.ts'
import { query } from './query.ts'
import { causeOf } from './turn-end.ts'
import type { EngineOptions, QueryMetrics } from './options.ts'
import { currentSpan } from './span.ts'

const open = (): Promise<Recorder> => SqliteRecorder.open({ path: ':memory:' })
const echo = { name: 'echo', description: '', inputSchema: { type: 'object' }, needsPermission: false, call: () => 'echo' }

async function collect(options: EngineOptions): Promise<QueryEvent[]> {
  return await Array.fromAsync(query({ retry: { initialDelay: 0 }, ...options }))
}

/** The recorder, but for these members. */
function otherwise(recorder: Recorder, members: object): Recorder {
  return new Proxy(recorder, {
    get(target, name) {
      if (name in members) return Reflect.get(members, name) as unknown
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

describe('the recorder tap', () => {
  it('writes the row of the turn before the first request is sent', async () => {
    const recorder = await open()
    const seen: unknown[] = []
    const model = new ScriptedModel(async () => {
      const { turns } = await recorder.read.turns()
      seen.push(turns.map(({ status, question }) => [status, question]))
      return 'Done.'
    })
    await collect({ model, prompt: 'Hi', recorder })
    expect(seen).toEqual([[['open', 'Hi']]])
  })

  it('stores every event before it is yielded, and closes the turn before its last one', async () => {
    const recorder = await open()
    const model = new ScriptedModel([{ text: ['a', 'b'], toolCalls: [{ name: 'echo', input: {} }] }, 'End.'])
    for await (const event of query({ model, prompt: 'Hi', tools: [echo], recorder })) {
      const detail = await recorder.read.turn(event.turnId)
      expect(detail?.events[event.seq]).toEqual(event)
      if (isTerminal(event)) expect(detail?.turn.status).toBe('done')
    }
  })

  it('writes two transactions per step of a tool loop, and none between a permission and the start of its tool', async () => {
    const recorder = await open()
    const written: string[][] = []
    const counting = otherwise(recorder, {
      record: (turnId: string, entries: readonly JournalEntry[]) => {
        written.push(entries.map((entry) => (entry.type === 'event' ? entry.event.type : entry.type)))
        return recorder.record(turnId, entries)
      },
    })
    const calls = [1, 2, 3].map((n) => ({ toolCalls: [{ name: 'echo', input: { n } }] }))
    const started: number[] = []
    const tool = { ...echo, call: () => void started.push(written.flat().filter((type) => type === 'tool_start').length) }
    await collect({ model: new ScriptedModel([...calls, 'End.']), prompt: 'Hi', tools: [tool], recorder: counting })
    const step = [
      ['usage', 'message', 'tool_request', 'permission_decision', 'tool_start'],
      ['tool_result', 'messages'],
    ]
    const withoutDecision = step.map((types) => types.filter((type) => type !== 'permission_decision'))
    expect(written.map((types) => types.filter((type) => type !== 'permission_decision'))).toEqual([
      ['start'],
      ['messages'],
      ...withoutDecision,
      ...withoutDecision,
      ...withoutDecision,
      ['text_delta', 'usage', 'message'],
    ])
    expect(started).toEqual([1, 2, 3])
  })

  it('measures durations correctly, even if the clock is set back an hour in between', async () => {
    const recorder = await open()
    const { now } = Date
    let ahead = 3_600_000
    const set = vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead)
    try {
      const tool = { ...echo, call: () => new Promise<string>((resolve) => setTimeout(resolve, 60, 'echo')) }
      const model = new ScriptedModel([{ toolCalls: [{ name: 'echo', input: {} }] }, 'End.'])
      const events: QueryEvent[] = []
      for await (const event of query({ model, prompt: 'Hi', tools: [tool], recorder })) {
        events.push(event)
        ahead = 0
      }
      const { turn, spans } = (await recorder.read.turn(events[0]?.turnId ?? '')) ?? {}
      expect(turn?.latencyMs).toBeGreaterThanOrEqual(50)
      expect(turn?.latencyMs).toBeLessThan(60_000)
      expect(events.find((event) => event.type === 'tool_result')?.result.durationMs).toBeGreaterThanOrEqual(50)
      const toolSpan = spans?.find(({ name }) => name === 'execute_tool')
      expect((toolSpan?.endedAt ?? 0) - (toolSpan?.startedAt ?? 0)).toBeGreaterThanOrEqual(50)
      expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted((a, b) => a - b))
    } finally {
      set.mockRestore()
    }
  })

  it('ENG-ERR-001 a reader that leaves early closes the turn as cancelled, with its text so far', async () => {
    const recorder = await open()
    const model = new ScriptedModel([{ text: ['one ', 'two'], toolCalls: [{ id: 'c', name: 'echo', input: {} }] }])
    for await (const event of query({ model, prompt: 'Hi', tools: [echo], recorder })) if (event.type === 'tool_request') break
    const [turn] = (await recorder.read.turns()).turns
    const detail = await recorder.read.turn(turn?.turnId ?? '')
    expect(detail?.turn).toMatchObject({ status: 'cancelled', text: 'one two' })
    expect(detail?.events.slice(-2).map(({ type }) => type)).toEqual(['tool_result', 'cancelled'])
    expect(model.open).toBe(0)
  })

  it('ENG-ERR-001 a reader that leaves during a later step closes the turn with the text of that step only', async () => {
    const recorder = await open()
    const model = new ScriptedModel([
      { text: 'Looking. ', toolCalls: [{ name: 'echo', input: {} }] },
      { thinking: 'hm', text: 'never said', hang: { after: 1 } },
    ])
    for await (const { type } of query({ model, prompt: 'Hi', tools: [echo], recorder })) if (type === 'thinking') break
    const [turn] = (await recorder.read.turns()).turns
    const detail = await recorder.read.turn(turn?.turnId ?? '')
    expect(detail?.turn).toMatchObject({ status: 'cancelled', text: '' })
  })

  it('ENG-ERR-001 an error that the reader throws into the generator is rethrown, and the turn is cancelled', async () => {
    const recorder = await open()
    const turn = query({ model: new ScriptedModel([{ text: ['one ', 'two'] }]), prompt: 'Hi', recorder })
    await turn.next()
    await expect(turn.throw(new Error('mine'))).rejects.toThrow('mine')
    expect((await recorder.read.turns()).turns[0]).toMatchObject({ status: 'cancelled' })
  })

  it('waits for any thenable: a journal with promises of its own', async () => {
    const recorder = await open()
    const failing = otherwise(recorder, {
      closeTurn: () => Promise.reject(new Error('no room')),
    })
    const events = await collect({ model: new ScriptedModel(['a']), prompt: 'Hi', recorder: failing })
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'journal_failed', message: 'no room' } })
  })

  it('a failed write ends the turn, and leaves its session usable', async () => {
    const recorder = await open()
    let writes = 0
    const once = otherwise(recorder, {
      record: (turnId: string, entries: readonly JournalEntry[]) => {
        if (++writes === 2) throw new CriaError('journal_failed', 'The disk is full.')
        return recorder.record(turnId, entries)
      },
    })
    const asked = { prompt: 'Hi', recorder: once, sessionId: 's' }
    const failed = await collect({ ...asked, model: new ScriptedModel(['a']) })
    expect(failed.at(-1)).toMatchObject({ type: 'error', error: { code: 'journal_failed' } })
    const detail = await recorder.read.turn(failed[0]?.turnId ?? '')
    expect(detail).toMatchObject({ turn: { status: 'failed', error: { code: 'journal_failed' } }, events: failed })
    // The turn is closed: the next one need not wait for its lease.
    expect((await collect({ ...asked, model: new ScriptedModel(['b']) })).at(-1)?.type).toBe('complete')
  })

  it('an unreadable history is a failure of the journal, and an abort ends the wait for it', async () => {
    const recorder = await open()
    const withHistory = (history: () => Promise<never>): Recorder => otherwise(recorder, { read: { ...recorder.read, history } })
    const asked = { model: new ScriptedModel(['a']), prompt: 'Hi', sessionId: 's' }
    const broken = withHistory(() => Promise.reject(new Error('bad page')))
    expect((await collect({ ...asked, recorder: broken })).at(-1)).toMatchObject({ error: { code: 'journal_failed' } })
    const stuck = withHistory(() => new Promise(() => {}))
    const abortSignal = AbortSignal.timeout(10)
    expect((await collect({ ...asked, recorder: stuck, abortSignal })).at(-1)?.type).toBe('cancelled')
  })

  it('refuses and records a second turn of a session while the first is open', async () => {
    const recorder = await open()
    const slow = query({
      model: new ScriptedModel([{ text: ['a', 'b'], hang: { after: 1 } }]),
      prompt: 'first',
      sessionId: 's',
      recorder,
    })
    await slow.next()
    const events = await collect({ model: new ScriptedModel([]), prompt: 'second', sessionId: 's', recorder })
    expect(events.map(({ type }) => type)).toEqual(['start', 'error'])
    expect(events[1]).toMatchObject({ error: { code: 'session_busy' } })
    expect((await recorder.read.turn(events[0]?.turnId ?? ''))?.turn.status).toBe('failed')
    await slow.return(undefined)
    expect((await collect({ model: new ScriptedModel(['c']), prompt: 'third', sessionId: 's', recorder })).at(-1)?.type).toBe(
      'complete',
    )
  })

  it('continues a session from the journal', async () => {
    const recorder = await open()
    const model = new ScriptedModel(['Hello Ada.', 'You are Ada.'])
    await collect({ model, system: 'Be kind.', prompt: 'I am Ada.', sessionId: 's', recorder })
    await collect({ model, system: 'Be kind.', prompt: 'Who am I?', sessionId: 's', recorder })
    expect(rolesAndContents(model.requests[1]?.messages)).toEqual([
      ['system', 'Be kind.'],
      ['user', 'I am Ada.'],
      ['assistant', 'Hello Ada.'],
      ['user', 'Who am I?'],
    ])
  })

  it('repairs a conversation from elsewhere, and its session continues from it', async () => {
    const recorder = await open()
    const model = new ScriptedModel(['Third.', 'Fourth.'])
    const call = { type: 'tool-call' as const, id: 'c', name: 'echo', input: {} }
    const messages = [
      { role: 'system' as const, content: 'Be kind.' },
      { role: 'user' as const, content: 'One?' },
      { role: 'assistant' as const, parts: [call] },
      { role: 'user' as const, content: 'Two?' },
      { role: 'assistant' as const, content: 'Second.' },
      { role: 'user' as const, content: 'Three?' },
    ]
    const [first] = await collect({ model, messages, recorder })
    await collect({ model, prompt: 'Four?', sessionId: first?.sessionId ?? '', recorder })
    const [before, after] = model.requests.map((request) => request.messages.map(({ role, content }) => `${role} ${content}`))
    expect(before?.slice(1, 3)).toEqual(['user One?', 'assistant '])
    expect(before?.[3]).toMatch(/^tool Interrupted: no result of this call was kept/)
    expect(after).toEqual([...(before?.slice(1) ?? []), 'assistant Third.', 'user Four?'])
  })

  it('stores a repeated message as another one, even under the same id', async () => {
    const recorder = await open()
    const model = new ScriptedModel(['A.', 'B.', 'C.', 'D.'])
    const question = user('Again?')
    for (let turn = 0; turn < 3; turn++) await collect({ model, prompt: question, sessionId: 's', recorder })
    expect(model.requests[2]?.messages.map(({ content }) => content)).toEqual(['Again?', 'A.', 'Again?', 'B.', 'Again?'])
    const same = (['user', 'assistant', 'user'] as const).map((role) => ({ id: 'm', role, content: role }))
    const [first] = await collect({ model, messages: same, recorder })
    expect(await recorder.read.history(first?.sessionId ?? '')).toMatchObject([
      ...same.map(({ content }) => ({ content })),
      { content: 'D.' },
    ])
  })

  it('refuses tool results without their calls as a question', async () => {
    const model = new ScriptedModel(['Never.'])
    const events = await collect({ model, messages: [toolResult({ id: 'c', name: 'echo', content: 'r' })] })
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'configuration', message: expect.stringMatching(/^There is no message to answer/) },
    })
    expect(model.requests).toHaveLength(0)
  })

  it('REC-SPAN-001 spans nest across the steps of the generator and into tools', async () => {
    const recorder = await open()
    let inTool: string | undefined
    const tool = {
      ...echo,
      call: async () => {
        await Promise.resolve()
        inTool = currentSpan()?.spanId
        return 'ok'
      },
    }
    const model = new ScriptedModel([
      { toolCalls: [{ name: 'echo', input: {} }] },
      { fail: { after: 0, error: new CriaError('auth', 'No key.') } },
    ])
    const events = await collect({ model, prompt: 'Hi', tools: [tool], recorder })
    const spans = (await recorder.read.turn(events[0]?.turnId ?? ''))?.spans ?? []
    const root = spans.find(({ name }) => name === 'query')
    expect(spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId).map(({ name, status }) => [name, status])).toEqual([
      ['llm_request', 'ok'],
      ['execute_tool', 'ok'],
      ['llm_request', 'error'],
    ])
    expect(inTool).toBe(spans.find(({ name }) => name === 'execute_tool')?.spanId)
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    expect(root).toMatchObject({ status: 'error', error: 'No key.' })
    expect(currentSpan()).toBeUndefined()
  })

  it('ENG-METRIC-001 ENG-METRIC-002 reports the metrics of a turn once', async () => {
    let now = 1000
    const clock = { now: () => now, sleep: () => new Promise<void>(() => {}) }
    const completed: unknown[] = []
    const model = new ScriptedModel([
      {
        text: 'Hm. ',
        toolCalls: [{ name: 'echo', input: {} }],
        usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
        before: (part) => void (now += part === 0 ? 100 : 0),
      },
      {
        text: 'Done.',
        usage: { inputTokens: 4, outputTokens: 5, totalTokens: 9, cacheReadTokens: 3 },
        before: (part) => void (now += part === 0 ? 40_000 : 0),
      },
    ])
    await collect({ model, prompt: 'Hi', tools: [echo], clock, onQueryCompleted: (metrics) => completed.push(metrics) })
    expect(completed).toMatchObject([
      {
        timeToFirstTokenMs: 100,
        durationMs: 40_100,
        steps: 2,
        toolsExecuted: 1,
        errors: 0,
        retries: 0,
        cacheHit: false,
        promptCacheHitRate: 0.75,
        slow: true,
        model: 'scripted/model',
        usage: { totalTokens: 12 },
      },
    ])
  })

  it.each<[string, Partial<EngineOptions> & Pick<EngineOptions, 'model'>, object]>([
    [
      'a call that is refused, or does not fit, is not executed',
      {
        model: new ScriptedModel([
          {
            toolCalls: [
              { id: 'a', name: 'echo', input: {} },
              { id: 'b', name: 'guarded', input: {} },
              { id: 'c', name: 'no_such_tool', input: {} },
              { id: 'd', name: 'echo', input: 'no object' },
            ],
          },
          'Done.',
        ]),
        tools: [echo, { ...echo, name: 'guarded', needsPermission: true }],
      },
      { toolsExecuted: 1, errors: 0, retries: 0 },
    ],
    [
      'a retry is an attempt that failed and one that was made again',
      { model: new ScriptedModel([{ fail: { after: 0, error: new CriaError('overloaded', 'Busy.') } }, 'Done.']) },
      { toolsExecuted: 0, errors: 1, retries: 1 },
    ],
    [
      'a switch after a failure is one, as is the failure of the turn',
      {
        model: new ScriptedModel([{ fail: { after: 0, error: new CriaError('overloaded', 'Busy.') } }]),
        fallbackModels: [new ScriptedModel([{ fail: { after: 0, error: new CriaError('auth', 'No key.') } }])],
        retry: { maxRetries: 0 },
      },
      { errors: 2, retries: 0 },
    ],
    [
      'a switch to a specialist is not a failure',
      { model: new ScriptedModel([]), specialist: new ScriptedModel(['Done.']) },
      { errors: 0, retries: 0 },
    ],
  ])('ENG-METRIC-001 %s', async (_, options, expected) => {
    const completed: QueryMetrics[] = []
    await collect({
      prompt: 'Hi',
      retry: { initialDelay: 0 },
      ...options,
      onQueryCompleted: (metrics) => completed.push(metrics),
    })
    expect(completed).toMatchObject([expected])
  })

  it('ENG-METRIC-001 a model in cool-down since an earlier turn is not a failure of this one', async () => {
    const coolDowns = new CoolDowns()
    const completed: QueryMetrics[] = []
    const model = new ScriptedModel(() => ({ fail: { after: 0, error: new CriaError('rate_limited', 'Slow down.') } }), {
      ref: 'a/one',
    })
    const fallbackModels = [new ScriptedModel(['One.', 'Two.'], { ref: 'b/two' })]
    const onQueryCompleted = (metrics: QueryMetrics): void => void completed.push(metrics)
    for (const prompt of ['One?', 'Two?'])
      await collect({ model, fallbackModels, prompt, coolDowns, retry: { maxRetries: 0 }, onQueryCompleted })
    expect(completed).toMatchObject([{ errors: 1 }, { errors: 0 }])
  })

  it('ENG-METRIC-001 slow turns can be listed', async () => {
    let now = 1000
    const clock = { now: () => now, sleep: () => new Promise<void>(() => {}) }
    const recorder = await open()
    const model = new ScriptedModel(['Quick.', { text: 'Slow.', before: () => void (now += 600) }])
    await collect({ model, prompt: 'One?', clock, recorder, slowAfter: 1000 })
    await collect({ model, prompt: 'Two?', clock, recorder, slowAfter: 1000 })
    const questions = async (slow: boolean): Promise<string[]> =>
      (await recorder.read.turns({ slow })).turns.map(({ question }) => question)
    expect(await questions(true)).toEqual(['Two?'])
    expect(await questions(false)).toEqual(['Two?', 'One?'])
  })

  it('ENG-METRIC-001 does not count the wait for a permission decision', async () => {
    let now = 1000
    const clock = { now: () => now, sleep: () => new Promise<void>(() => {}) }
    const completed: QueryMetrics[] = []
    const model = new ScriptedModel([
      { toolCalls: [{ name: 'echo', input: {} }] },
      { text: 'Done.', before: (part) => void (now += part === 0 ? 200 : 0) },
    ])
    const atLunch = (): boolean => {
      now += 3_600_000
      return true
    }
    await collect({
      model,
      prompt: 'Hi',
      tools: [{ ...echo, needsPermission: true }],
      hasPermissionsToUseTool: atLunch,
      clock,
      onQueryCompleted: (metrics) => void completed.push(metrics),
    })
    expect(completed).toMatchObject([{ timeToFirstTokenMs: 200, durationMs: 200, slow: false }])
  })

  it('ENG-METRIC-001 durations are never negative, even if the clock is set back', async () => {
    let now = 10_000_000
    const clock = { now: () => now, sleep: () => new Promise<void>(() => {}) }
    const completed: QueryMetrics[] = []
    const recorder = await open()
    const setBack = { ...echo, call: () => ((now -= 3_600_000), 'echo') }
    const model = new ScriptedModel([
      { toolCalls: [{ name: 'echo', input: {} }] },
      { text: 'Done.', before: () => void (now -= 1000) },
    ])
    const onQueryCompleted = (metrics: QueryMetrics): void => void completed.push(metrics)
    const events = await collect({ model, prompt: 'Hi', tools: [setBack], clock, recorder, onQueryCompleted })
    expect(events.find((event) => event.type === 'tool_result')?.result.durationMs).toBe(0)
    expect(completed).toMatchObject([{ timeToFirstTokenMs: 0, durationMs: 0, slow: false }])
    const { turns } = await recorder.read.turns()
    expect(turns[0]?.latencyMs).toBe(0)
    const spans = (await recorder.read.turn(events[0]?.turnId ?? ''))?.spans ?? []
    expect(spans.length).toBeGreaterThan(2)
    expect(spans.filter(({ startedAt, endedAt }) => endedAt < startedAt)).toEqual([])
  })
})

const answer: fc.Arbitrary<ScriptedAnswer> = fc.record({
  text: fc.array(fc.string(), { maxLength: 4 }),
  toolCalls: fc.oneof(fc.constant([]), fc.constant([{ name: 'echo', input: {} }])),
  fail: fc.record({ after: fc.nat(6), error: fc.constantFrom(new CriaError('network', 'Down.'), new CriaError('auth', 'No.')) }),
})

/** A recorder that fails like a full disk from its n-th write on. */
function failing(recorder: Recorder, after: number): Recorder {
  let writes = 0
  const full = (): void => {
    if (writes++ >= after) throw new CriaError('journal_failed', 'The disk is full.')
  }
  return {
    ...recorder,
    read: recorder.read,
    openTurn: (turn) => (full(), recorder.openTurn(turn)),
    record: (turnId, entries) => (full(), recorder.record(turnId, entries)),
    closeTurn: (turnId, close) => (full(), recorder.closeTurn(turnId, close)),
    span: (span) => (full(), recorder.span(span)),
  }
}

describe('failures', () => {
  it('ENG-ERR-004 a turn whose journal cannot be opened still begins with start', async () => {
    const recorder = otherwise(await open(), {
      openTurn: () => {
        throw new CriaError('journal_failed', 'The journal cannot be written: the file system is read-only.')
      },
    })
    const events = await collect({ model: new ScriptedModel([]), prompt: 'Hi', recorder, bot: { kind: 'SimpleBot' } })
    expect(events).toMatchObject([
      { type: 'start', model: 'scripted/model', bot: { kind: 'SimpleBot' }, seq: 0, step: 0 },
      { type: 'error', error: { code: 'journal_failed' }, seq: 1 },
    ])
  })

  it('ENG-ERR-004 an error event names its cause without keys, and gives the cause to code', async () => {
    const cause = new Error('connect ECONNREFUSED with key sk-abcdefgh12345678')
    const error = new CriaError('network', 'The server cannot be reached.', { cause })
    const half = { text: ['Hal', 'f'], fail: { after: 2, error } }
    const options = { prompt: 'Hi', retry: { maxRetries: 0, afterOutput: 'error' as const } }
    const events = await collect({ model: new ScriptedModel([half]), ...options })
    const last = events.at(-1)
    expect(last).toMatchObject({
      error: { code: 'network', cause: 'connect ECONNREFUSED with key sk-[redacted]', details: { text: 'Half' } },
    })
    expect(last?.type === 'error' && causeOf(last.error)).toBe(cause)
    // A journal keeps only the message of a cause.
    const stored = JSON.parse(JSON.stringify(last)) as typeof last
    expect(stored?.type === 'error' && causeOf(stored.error)).toMatchObject({ message: expect.stringContaining('ECONNREFUSED') })
    const rejected = new SimpleBot({
      model: new ScriptedModel([half]),
      recorder: false,
      streamTarget: 'none',
      retry: options.retry,
    })
    await expect(rejected.ask('Hi')).rejects.toMatchObject({ code: 'network', cause })
  })

  it('ENG-ERR-004 the error after the last attempt names the last failure once', async () => {
    const model = new ScriptedModel(() => ({ fail: { after: 0, error: new CriaError('overloaded', 'Busy.') } }))
    const events = await collect({ model, prompt: 'Hi', retry: { maxRetries: 1, initialDelay: 0 } })
    expect(events.at(-1)).toMatchObject({ error: { code: 'overloaded', details: { attempts: 2 } } })
    expect(JSON.stringify(events.at(-1))).not.toContain('"cause"')
  })
})

describe('invariants of the journal', () => {
  it('shows exactly what was stored, wherever a model fails, a reader leaves or the disk is full', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat(10)),
        fc.option(fc.nat(10)),
        async (script, leaveAfter, fullAfter) => {
          const recorder = await open()
          const model = new ScriptedModel(script)
          const shown: QueryEvent[] = []
          const options = { model, prompt: 'Hi', tools: [echo], retry: { initialDelay: 0, maxRetries: 1 } }
          for await (const event of query({
            ...options,
            recorder: fullAfter === null ? recorder : failing(recorder, fullAfter),
          })) {
            shown.push(event)
            if (leaveAfter !== null && shown.length > leaveAfter) break
          }
          expect(shown.map(({ seq }) => seq)).toEqual(shown.map((_, index) => index))
          expect(model.open).toBe(0)
          const last = shown.at(-1)
          const failed = last?.type === 'error' && last.error.code === 'journal_failed'
          const row = await recorder.read.turn(shown[0]?.turnId ?? '')
          const stored = row?.events ?? []
          // A journal that fails at once shows the beginning of the turn and its end.
          if (fullAfter !== null && stored.length === 0)
            expect(shown.map(({ type }) => type)).toEqual(['start', 'error'].slice(0, shown.length))
          else expect(stored.slice(0, shown.length - (failed ? 1 : 0))).toEqual(failed ? shown.slice(0, -1) : shown)
          if (fullAfter === null) {
            expect(stored.filter(isTerminal)).toHaveLength(1)
            const detail = await recorder.read.turn(shown[0]?.turnId ?? '')
            expect(detail?.turn.text).toBe(foldEvents(stored).text)
          }
          await recorder.close()
        },
      ),
      { numRuns: 200 },
    )
  })
})
