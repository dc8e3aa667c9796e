/** The tools station, through the public `query()`. */

import { describe, expect, it } from 'vitest'
import { all, calling, collect, free, gate, idsOf, resultsOf, resultsSentTo, tool } from '../../test/calls.ts'
import type { JournalEntry, Recorder } from '../core/recorder.ts'
import type { QueryEvent } from '../core/event.ts'
import type { PermissionChecker, Tool, ToolContext } from '../core/tool.ts'
import { query } from '../engine/query.ts'

/** A tool that records the maximum number of concurrent calls. */
function counted(more: Parameters<typeof tool>[2]): { work: Tool; most: () => number } {
  let running = 0
  let most = 0
  const run = async (): Promise<void> => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 2))
    running--
  }
  return { work: tool('work', run, more), most: () => most }
}

const yes: PermissionChecker = () => true

describe('safe mode', () => {
  it('ENG-TOOL-001 asks for each tool, runs one at a time, and continues after a refusal', async () => {
    const asked: string[][] = []
    let running = 0
    const work = tool('work', async ({ n }) => {
      running++
      await new Promise((resolve) => setImmediate(resolve))
      expect(running).toBe(1)
      running--
      return `did ${String(n)}`
    })
    const model = calling([1, 2, 3].map((n) => ({ id: `c${n}`, name: 'work', input: { n } })))
    const events = await collect({
      model,
      tools: [work],
      safeMode: true,
      hasPermissionsToUseTool: (requests) => {
        asked.push(requests.map(({ id }) => id))
        return requests[0]?.id === 'c2' ? { granted: false, reason: 'Not this one.' } : true
      },
    })
    expect(asked).toEqual([['c1'], ['c2'], ['c3']])
    expect(resultsSentTo(model)).toEqual([
      ['c1', 'did 1'],
      ['c2', 'Permission denied: Not this one. Try another way, or ask the user.'],
      ['c3', 'did 3'],
    ])
    expect(events.slice(1, -4).map((event) => event.type)).toEqual([
      'usage',
      'message',
      ...Array.from({ length: 3 }, () => 'tool_request'),
      ...Array.from({ length: 3 }, () => ['permission_request', 'permission_decision', 'tool_result']).flat(),
    ])
    expect(all(events, 'complete')).toHaveLength(1)
  })

  it('ENG-TOOL-001 without a user, only calls that a rule allows run', async () => {
    const model = calling([{ name: 'a' }, { name: 'b' }])
    await collect({ model, tools: [tool('a', () => 'A'), tool('b', () => 'B')], safeMode: true, rules: { allow: ['a'] } })
    expect(resultsSentTo(model).map(([, content]) => content)).toEqual([
      'A',
      'Permission denied: The tool needs permission. No user is available to answer. Try another way.',
    ])
  })
})

describe('concurrent mode', () => {
  it('ENG-TOOL-002 free tools start without waiting, the others are asked for in one batch, results come as they complete', async () => {
    const answered = gate()
    const done: string[] = []
    const asked: string[][] = []
    const look = tool('look', ({ n }) => `saw ${String(n)}`, { isReadOnly: true })
    const edit = tool('edit', ({ n }) => `edited ${String(n)}`, { needsPermission: true })
    const model = calling([
      { id: 'e1', name: 'edit', input: { n: 1 } },
      { id: 'l1', name: 'look', input: { n: 2 } },
      { id: 'e2', name: 'edit', input: { n: 3 } },
      { id: 'l2', name: 'look', input: { n: 4 } },
    ])
    const events: QueryEvent[] = []
    for await (const event of query({
      model,
      prompt: 'Go',
      tools: [look, edit],
      hasPermissionsToUseTool: async (requests) => {
        asked.push(requests.map(({ id }) => id))
        await answered.opened
        return [true, { granted: false, reason: 'No' }]
      },
    })) {
      events.push(event)
      if (event.type === 'tool_result') done.push(event.result.id)
      if (done.length === 2) answered.open()
    }
    expect(asked).toEqual([['e1', 'e2']])
    expect(done.slice(0, 2)).toEqual(['l1', 'l2'])
    expect(resultsSentTo(model)).toEqual([
      ['e1', 'edited 1'],
      ['l1', 'saw 2'],
      ['e2', 'Permission denied: No. Try another way, or ask the user.'],
      ['l2', 'saw 4'],
    ])
    expect(all(events, 'permission_decision')).toMatchObject([
      {
        decisions: [
          { id: 'e1', granted: true },
          { id: 'e2', granted: false, reason: 'No' },
        ],
      },
    ])
  })

  it('ENG-TOOL-002 calls whose declared resources conflict run one after the other, in call order, even when one waits for permission', async () => {
    const log: string[] = []
    const touch = (name: string, more: Partial<Tool>): Tool =>
      tool(
        name,
        async ({ at }) => {
          log.push(`${name} ${String(at)} begins`)
          await new Promise((resolve) => setTimeout(resolve, 5))
          log.push(`${name} ${String(at)} ends`)
        },
        more as never,
      )
    const resources = ({ at }: { at: string }): string[] => [`file:${at}`]
    const write = touch('write', { needsPermission: true, resources: (input: { at: string }) => ({ writes: resources(input) }) })
    const read = touch('read', { isReadOnly: true, resources: (input: { at: string }) => ({ reads: resources(input) }) })
    const model = calling([
      { name: 'write', input: { at: 'x' } },
      { name: 'read', input: { at: 'x' } },
      { name: 'read', input: { at: 'y' } },
    ])
    await collect({ model, tools: [write, read], hasPermissionsToUseTool: yes })
    expect(log.filter((line) => line.includes(' x '))).toEqual(['write x begins', 'write x ends', 'read x begins', 'read x ends'])
    expect(log.indexOf('read y begins')).toBeLessThan(log.indexOf('write x ends'))
  })

  it.each<[string, unknown]>([
    ['a promise', Promise.resolve({ writes: ['x'] })],
    ['a list', ['x']],
    ['a name', { writes: 'x' }],
    ['a set', { reads: [], writes: new Set(['x']) }],
    ['nothing', null],
    ['names that are not strings', { writes: [1] }],
  ])('a tool whose resources are %s counts as undeclared, and runs alone', async (_, resources) => {
    const { work, most } = counted({ resources: () => resources as never, isReadOnly: false })
    const model = calling([{ name: 'work' }, { name: 'work' }, { name: 'work' }])
    const events = await collect({ model, tools: [work], hasPermissionsToUseTool: yes })
    expect(resultsOf(events)).toHaveLength(3)
    expect(events.at(-1)?.type).toBe('complete')
    expect(most()).toBe(1)
  })

  it.each(['resources', 'subjects'] as const)('`%s` that return a promise which rejects do not end the process', async (name) => {
    const { work } = counted({ [name]: () => Promise.reject(new Error('no')), needsPermission: false })
    // The runner reports a rejection without a handler as an error.
    const events = await collect({ model: calling([{ name: 'work' }]), tools: [work] })
    expect(events.at(-1)?.type).toBe('complete')
  })

  it('ENG-TOOL-003 at most five run at a time, and the next starts as soon as one ends', async () => {
    let running = 0
    let most = 0
    const started: number[] = []
    const gates = Array.from({ length: 12 }, gate)
    const work = tool(
      'work',
      async ({ n }) => {
        started.push(n as number)
        most = Math.max(most, ++running)
        await gates[n as number]?.opened
        running--
        return n as number
      },
      free,
    )
    const model = calling(gates.map((_, n) => ({ name: 'work', input: { n } })))
    const events: QueryEvent[] = []
    const reading = (async () => {
      for await (const event of query({ model, prompt: 'Go', tools: [work] })) events.push(event)
    })()
    const settled = async (count: number): Promise<void> => {
      while (started.length < count) await new Promise((resolve) => setImmediate(resolve))
    }
    await settled(5)
    expect(started).toEqual([0, 1, 2, 3, 4])
    gates[3]?.open()
    await settled(6)
    expect(started).toEqual([0, 1, 2, 3, 4, 5])
    for (const each of gates) each.open()
    await reading
    expect(most).toBe(5)
    expect(idsOf(events)[0]).toBe('c03')
    expect(resultsSentTo(model).map(([, content]) => content)).toEqual(gates.map((_, n) => String(n)))
  })

  it('ENG-TOOL-003 the concurrency can be configured, and many listeners cause no leak warning', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const { work, most } = counted(free)
    const model = calling(Array.from({ length: 40 }, () => ({ name: 'work' })))
    await collect({ model, tools: [work], toolConcurrency: 25, abortSignal: new AbortController().signal })
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(most()).toBe(25)
    expect(warnings).toEqual([])
  })

  it('ENG-TOOL-005 without a permission checker every tool that needs permission is refused', async () => {
    let ran = 0
    const silent = tool('silent', () => ran++, { needsPermission: true })
    const unsaid: Tool = { name: 'unsaid', description: '', inputSchema: {}, call: () => ran++ }
    const unsure = tool('unsure', () => ran++, {
      needsPermission: () => {
        throw new Error('no')
      },
    })
    const later = tool('later', () => ran++, { needsPermission: (async () => false) as never })
    const model = calling([{ name: 'silent' }, { name: 'unsaid' }, { name: 'unsure' }, { name: 'later' }])
    const events = await collect({ model, tools: [silent, unsaid, unsure, later] })
    expect(ran).toBe(0)
    expect(resultsOf(events)).toHaveLength(4)
    for (const content of resultsOf(events)) expect(content).toMatch(/^Permission denied: .*No user is available to answer/)
    expect(all(events, 'permission_request')).toEqual([])
    expect(events.at(-1)?.type).toBe('complete')
  })
})

describe('effects', () => {
  function journal(): { readonly entries: JournalEntry[]; readonly recorder: Recorder } {
    const entries: JournalEntry[] = []
    const recorder = {
      openTurn: () => {},
      record: (_turn: string, more: readonly JournalEntry[]) => void entries.push(...more),
      closeTurn: () => {},
      span: () => {},
      read: { history: () => [] },
    }
    return { entries, recorder: recorder as unknown as Recorder }
  }

  it('an intent is stored before its effect, the result after it, and every attempt of a call has the same key', async () => {
    const keys: string[] = []
    const run = async (): Promise<void> => {
      const { entries, recorder } = journal()
      const effect = tool('effect', (_input, ctx: ToolContext) => {
        keys.push(ctx.idempotencyKey)
        expect(entries.at(-1)).toMatchObject({
          type: 'tool_start',
          name: 'effect',
          idempotencyKey: ctx.idempotencyKey,
          input: '{"n":1}',
        })
        return 'done'
      })
      const model = calling([
        { id: 'same', name: 'effect', input: { n: 1 } },
        { id: 'same', name: 'effect', input: { n: 1 } },
      ])
      await collect({ model, tools: [effect], recorder, createId: (prefix) => `${prefix}_fixed` })
    }
    await run()
    await run()
    expect(keys.slice(0, 2)).toEqual(keys.slice(2))
    expect(new Set(keys).size).toBe(2)
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
  })

  it('a tool whose intent cannot be stored does not run', async () => {
    const { recorder } = journal()
    let ran = false
    const failing = {
      ...recorder,
      record: (_turn: string, more: readonly JournalEntry[]) => {
        if (more.some(({ type }) => type === 'tool_start')) throw new Error('disk full')
      },
    } as Recorder
    const events = await collect({
      model: calling([{ name: 'effect' }]),
      tools: [tool('effect', () => (ran = true))],
      recorder: failing,
    })
    expect(ran).toBe(false)
    expect(events.at(-1)).toMatchObject({ type: 'error' })
  })
})

describe('a repeated call', () => {
  it('ENG-TOOL-003 needs an answer as long as it is refused, and none after it was allowed', async () => {
    for (const [granted, asks, runs] of [
      [false, 3, 2],
      [true, 1, 5],
    ] as const) {
      let asked = 0
      let ran = 0
      const look = tool('look', () => `saw ${++ran}`, { isReadOnly: true })
      const model = calling(...Array.from({ length: 5 }, () => [{ name: 'look', input: { at: 'x' } }]))
      await collect({ model, tools: [look], hasPermissionsToUseTool: () => (asked++, granted) })
      expect([granted, asked, ran]).toEqual([granted, asks, runs])
    }
  })
})
