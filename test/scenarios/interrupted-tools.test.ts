/** Kills a process during a tool call, and continues the session in another process. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import type { QueryEvent } from '../../src/core/event.ts'
import type { Tool } from '../../src/core/tool.ts'
import type { EngineOptions } from '../../src/engine/options.ts'
import { createProviderModel } from '../../src/providers/create.ts'
import { all, collect, resultsOf, tool } from '../calls.ts'
import { APIS } from '../support/answers.ts'
import type { Api, Said } from '../support/answers.ts'
import { HISTORY_RULES } from '../support/history-rules.ts'
import { journalFolder } from '../support/journal-folder.ts'

const SESSION = 'ses_interrupted'
const WORKER = join(import.meta.dirname, '../support/interrupted-turn.ts')

const place = journalFolder()

/** Idempotency keys of the calls that took effect before the kill, by tool. */
async function interrupt(): Promise<Map<string, string>> {
  const child = spawn(process.execPath, [WORKER, place.path, SESSION], { stdio: ['ignore', 'pipe', 'inherit'] })
  const effects = new Map<string, string>()
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', key = ''] = line.split(' ')
    effects.set(name, key)
    if (name === 'deploy') child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  expect(child.signalCode).toBe('SIGKILL')
  return effects
}

interface Going {
  readonly events: readonly QueryEvent[]
  readonly bodies: readonly unknown[]
}

/** Asks the next question of the session; the model gives these answers. */
async function goOn(api: Api, says: readonly Said[], options: Partial<EngineOptions> = {}): Promise<Going> {
  const recorder = await place.open()
  const bodies: unknown[] = []
  const model = createProviderModel(api.model, {
    baseURL: `https://provider.test/${api.version}`,
    apiKey: 'key',
    env: {},
    fetch: (_, init) => {
      bodies.push(JSON.parse(init?.body as string))
      const body = api.stream(says[bodies.length - 1] ?? { text: 'I am done.' })
      return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
    },
  })
  try {
    return { events: await collect({ prompt: 'What happened?', sessionId: SESSION, recorder, model, ...options }), bodies }
  } finally {
    await recorder.close()
  }
}

const notices = (events: readonly QueryEvent[]): string[] => all(events, 'notice').map(({ code }) => code)

describe.each(APIS.filter(({ provider }) => provider in HISTORY_RULES))(
  'a session whose tool was killed continues with $provider',
  (api) => {
    it('ENG-PREP-001 with a valid history that reports the known state of each call', async () => {
      const effects = await interrupt()
      expect([...effects.keys()]).toEqual(['note', 'deploy'])

      const first = await goOn(api, [{ text: 'It may be live.' }])
      expect(first.events.at(-1)?.type).toBe('complete')
      expect(HISTORY_RULES[api.provider]?.(first.bodies[0])).toEqual([])
      const sent = JSON.stringify(first.bodies[0])
      const places = ['Bring it live.', 'noted', 'effects are unknown', 'Not run', 'What happened?'].map((words) =>
        sent.indexOf(words),
      )
      expect(places).toEqual(places.toSorted((one, other) => one - other))
      expect(places[0]).toBeGreaterThan(0)

      expect(notices(first.events)).toEqual(['effects_unknown'])
      expect(all(first.events, 'notice')[0]?.details).toEqual({ calls: [{ id: 'call_deploy', name: 'deploy' }] })
      // It has been said.
      expect(notices((await goOn(api, [])).events)).toEqual([])
    })
  },
)

/** Records its idempotency keys. */
function deploy(keys: string[], more: Partial<Tool> = {}): Tool {
  return tool(
    'deploy',
    (_, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      return 'live'
    },
    more as Partial<Tool<Record<string, unknown>>>,
  )
}

const CUT: Readonly<Record<string, string>> = {
  openai: 'max_output_tokens',
  'openai-chat': 'length',
  'openai-compatible': 'length',
  anthropic: 'max_tokens',
  google: 'MAX_TOKENS',
}

describe.each(APIS.filter(({ provider }) => provider in CUT))('an answer of $provider was cut', (api) => {
  it('ENG-PREP-001 and its calls, which were never run, do not block the next question', async () => {
    const ran: string[] = []
    const tools = [deploy(ran)]
    const calls = [{ id: 'call_deploy', name: 'deploy', arguments: '{"to":"live"}' }]
    await goOn(api, [{ calls, finish: CUT[api.provider] ?? '' }], { tools })
    expect(ran).toEqual([])

    const { bodies, events } = await goOn(api, [{ calls: calls.map((call) => ({ ...call, id: 'call_again' })) }], { tools })
    expect(bodies.flatMap((body) => HISTORY_RULES[api.provider]?.(body))).toEqual([])
    expect(JSON.stringify(bodies[0])).toContain('Not run')
    expect(notices(events)).toEqual([])
    // The call never began, so no permission is needed.
    expect(ran).toHaveLength(1)
  })
})

describe('a tool that was killed', () => {
  const [api] = APIS as readonly [Api]
  const again: Said = { calls: [{ id: 'call_again', name: 'deploy', arguments: '{"to":"live"}' }] }

  it('is not run again without a question, although it needs no permission', async () => {
    await interrupt()
    const keys: string[] = []
    const { events } = await goOn(api, [again], { tools: [deploy(keys)] })
    expect(keys).toEqual([])
    expect(resultsOf(events)[0]).toContain('The same call was interrupted before, and its effects are unknown.')
  })

  it('is run again with its first idempotency key if it is idempotent, and is then an ordinary call', async () => {
    const effects = await interrupt()
    const keys: string[] = []
    await goOn(api, [again], { tools: [deploy(keys, { isIdempotent: true })] })
    expect(keys).toEqual([effects.get('deploy')])
    await goOn(api, [{ calls: [{ id: 'call_more', name: 'deploy', arguments: '{"to":"live"}' }] }], { tools: [deploy(keys)] })
    expect(keys).toHaveLength(2)
    expect(keys[1]).not.toBe(keys[0])
  })
})
