/**
 * Combines many failures in the turns of one session: tools that throw, hang, never end or return invalid values, calls of unknown tools, refused,
 * invalid and missing permission decisions, aborts at any event. In every case, each request is valid for its provider, each call has one result,
 * and each turn has one end.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { QueryEvent } from '../../src/core/event.ts'
import { isTerminal } from '../../src/core/event.ts'
import type { PermissionChecker, Tool } from '../../src/core/tool.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { query } from '../../src/engine/query.ts'
import { createProviderModel } from '../../src/providers/create.ts'
import { SqliteRecorder } from '../../src/recorders/sqlite/recorder.ts'
import { free, tool } from '../calls.ts'
import { APIS } from '../support/answers.ts'
import type { Api } from '../support/answers.ts'
import { HISTORY_RULES } from '../support/history-rules.ts'

const circular: Record<string, unknown> = {}
circular['self'] = circular

const BEHAVIOURS: Readonly<Record<string, () => unknown>> = {
  fine: () => 'fine',
  later: () => new Promise((resolve) => setImmediate(resolve, 'later')),
  throws: () => new URL('no address'),
  rejects: () => Promise.reject(null),
  hangs: () => new Promise(() => {}),
  progress: async function* () {
    yield 'half'
    return 'whole'
  },
  endless: async function* () {
    for (;;) yield 'again'
  },
  huge: () => 'wind and rain '.repeat(20_000),
  bytes: () => new Uint8Array([0, 255, 1, 2]),
  circular: () => circular,
  bigint: () => ({ value: 10n }),
  nothing: () => undefined,
  half: () => 'a\uD800b\0',
  picture: () => ({ content: 'seen', attachments: [{ type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }] }),
  function: () => () => 1,
}
const NAMES = Object.keys(BEHAVIOURS)

const ANSWERS: readonly (PermissionChecker | undefined)[] = [
  undefined,
  () => true,
  () => false,
  () => [true],
  () => Promise.reject(new Error('no server')),
  () => new Promise(() => {}),
  () => 'yes' as never,
  (requests) => requests.map(() => ({ granted: true, input: 'no object', remember: 'session' })),
  (requests) => requests.map(({ name }) => ({ granted: true, remember: 'session', rule: name })),
]

const call = fc.record({
  id: fc.constantFrom('a', 'b', 'call_1', 'x.y:0'),
  name: fc.constantFrom(...NAMES, ...NAMES, 'no_such_tool', 'functions.fine'),
  arguments: fc.constantFrom('{}', '{"n":1}', '{"n":"one"}'),
})
const turn = fc.record({
  steps: fc.array(fc.array(call, { minLength: 1, maxLength: 6 }), { maxLength: 4 }),
  answer: fc.constantFrom(...ANSWERS),
  safeMode: fc.boolean(),
  toolConcurrency: fc.constantFrom(1, 2, 5),
  window: fc.constantFrom(null, 3000, 20_000),
  abortAt: fc.option(fc.nat(30), { freq: 2, nil: undefined }),
  leaveAt: fc.option(fc.nat(30), { freq: 4, nil: undefined }),
})
type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never

function tools(alone: readonly boolean[]): Tool[] {
  return NAMES.map((name, index) =>
    tool(name, BEHAVIOURS[name] as Tool<Record<string, unknown>>['call'], {
      inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
      needsPermission: index % 2 === 0,
      timeout: name === 'hangs' || name === 'endless' ? 5 : 5000,
      ...(alone[index] === true ? {} : free),
    }),
  )
}

function model(api: Api, { steps, window }: Turn, bodies: unknown[]): EngineOptions['model'] {
  let step = 0
  return createProviderModel(api.model, {
    baseURL: `https://provider.test/${api.version}`,
    apiKey: 'key',
    env: {},
    facts: { contextWindow: window },
    fetch: (_, init) => {
      bodies.push(JSON.parse(init?.body as string))
      const calls = steps[step++]
      const said = api.stream(calls === undefined ? { text: 'Done.' } : { calls })
      return Promise.resolve(new Response(said, { headers: { 'content-type': 'text/event-stream' } }))
    },
  })
}

/** Reads the turn until it ends, or until its reader leaves. */
async function read(options: EngineOptions, { abortAt, leaveAt }: Turn): Promise<readonly QueryEvent[]> {
  const abort = new AbortController()
  const events: QueryEvent[] = []
  for await (const event of query({ ...options, abortSignal: abort.signal, timeouts: { turn: 2000 } })) {
    events.push(event)
    // Some permission requests get no answer, so the turn is aborted.
    if (events.length === abortAt || event.type === 'permission_request') setTimeout(() => abort.abort(), 20)
    if (events.length === leaveAt) break
  }
  return events
}

/** Returns the calls in the journal with no result, or with several. */
function unanswered(events: readonly QueryEvent[]): string[] {
  const open = new Map<string, number>()
  const add = (key: string, by: number): unknown => open.set(key, (open.get(key) ?? 0) + by)
  for (const event of events) {
    if (event.type === 'tool_request') add(`${event.step} ${event.tool.id}`, 1)
    if (event.type === 'tool_result') add(`${event.step} ${event.result.id}`, -1)
  }
  return [...open].filter(([, count]) => count !== 0).map(([key]) => key)
}

describe.each(APIS.filter(({ provider }) => provider in HISTORY_RULES))('ENG-TOOL-004 ENG-PREP-001 $provider', (api) => {
  test('hostile turns of one session', { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cria-hostile-'))
    const recorder = await SqliteRecorder.open({ path: join(folder, 'cria.db') })
    let session = 0
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(turn, { minLength: 1, maxLength: 3 }),
          fc.array(fc.boolean(), { minLength: NAMES.length, maxLength: NAMES.length }),
          async (turns, alone) => {
            const sessionId = `ses_${++session}`
            const offered = tools(alone)
            for (const each of turns) {
              const { answer, safeMode, toolConcurrency } = each
              const bodies: unknown[] = []
              const asked = answer === undefined ? {} : { hasPermissionsToUseTool: answer }
              const options = { prompt: 'Go on.', model: model(api, each, bodies), tools: offered, ...asked }
              const [first] = await read({ ...options, safeMode, toolConcurrency, recorder, sessionId }, each)
              expect(bodies.flatMap((body) => HISTORY_RULES[api.provider]?.(body))).toEqual([])
              const events = recorder.read.events(first?.turnId ?? '')
              expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
              expect(events.filter(isTerminal)).toEqual([events.at(-1)])
              expect(unanswered(events)).toEqual([])
              expect(events.at(-1)).not.toMatchObject({ error: { code: 'internal' } })
            }
          },
        ),
        { numRuns: 25 },
      )
    } finally {
      await recorder.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
