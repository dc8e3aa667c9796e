import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { query } from '../app/query.ts'
import type { QueryOptions } from '../app/query.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { MemoryDocumentStore } from '../stores/lazy.ts'
import { AgentBot } from './tool-bots.ts'
import { QueryBot } from './query-bot.ts'
import { SimpleBot } from './simple-bot.ts'
import { defineTool } from '../tools/define-tool.ts'
import type { BotOptions } from './options.ts'

/** These names, each with `undefined`: as a program passes on what it was not given. */
const undefinedFor = <Options>(...names: readonly (keyof Options)[]): Options =>
  Object.fromEntries(names.map((name) => [name, undefined])) as Options

const SETTINGS = ['temperature', 'maxOutputTokens', 'topP', 'topK', 'seed', 'stopSequences'] as const
const SHARED = [
  'fallbackModels',
  'retry',
  'timeouts',
  'enableThinking',
  'budget',
  'cache',
  'context',
  'answerLimits',
  'onUpdateUsage',
] as const
const nothing = undefinedFor<BotOptions>(
  ...SETTINGS,
  ...SHARED,
  ...(['systemPrompt', 'memory', 'jsonMode', 'schema', 'apiKey', 'mockResponse', 'name', 'output'] as const),
)

const weather = defineTool({ name: 'weather', description: 'Returns the weather.', inputSchema: {}, call: () => 'Rain.' })

it('undefined options of bots count as absent', async () => {
  const own = { ...nothing, recorder: false, streamTarget: 'none' } as const
  const docstore = new MemoryDocumentStore()
  await docstore.append({ source: 'a.md', text: 'A young llama is a cria.' })
  const bots = [
    [new SimpleBot({ ...own, model: new ScriptedModel(['Yes.']) }), new SimpleBot({ model: new ScriptedModel(['Yes.']) })],
    [
      new AgentBot({ ...own, model: new ScriptedModel(['Yes.']), tools: [weather] }),
      new AgentBot({ model: new ScriptedModel(['Yes.']), tools: [weather] }),
    ],
    [
      new QueryBot({ ...own, model: new ScriptedModel(['Yes.']), docstore }),
      new QueryBot({ model: new ScriptedModel(['Yes.']), docstore }),
    ],
  ] as const
  for (const [bot, plain] of bots) {
    expect([bot.temperature, bot.systemPrompt, bot.name]).toEqual([plain.temperature, plain.systemPrompt, plain.name])
    expect(bot.completionOptions('Is it?', { stream: true })).toEqual(plain.completionOptions('Is it?', { stream: true }))
    const { content } = await bot.ask('Is it?', { signal: undefined, sessionId: undefined })
    expect(content).toBe('Yes.')
  }
})

it('undefined options of query() count as absent', async () => {
  const names = [
    'messages',
    'system',
    'tools',
    'toolChoice',
    'rules',
    'hooks',
    'abortSignal',
    'recorder',
    'sessionId',
    'maxSteps',
    'retrieve',
  ] as const
  const own = undefinedFor<Omit<QueryOptions, 'model' | 'prompt'>>(
    ...SETTINGS,
    ...SHARED,
    ...names,
    'nesting',
    'safeMode',
    'toolConcurrency',
  )
  const events = await Array.fromAsync(query({ ...own, model: new ScriptedModel(['Yes.']), prompt: 'Is it?' }))
  expect(events.at(-1)).toMatchObject({ type: 'complete', result: { text: 'Yes.', finishReason: 'stop' } })
})

describe('a home that cannot be written', () => {
  // A file is not a folder, not even for root.
  beforeEach(() => vi.stubEnv('CRIA_HOME', fileURLToPath(new URL('home', import.meta.url + '/'))))
  const bot = (): SimpleBot => new SimpleBot({ model: new ScriptedModel(['Yes.', 'Yes.']), streamTarget: 'none' })

  it('CORE-SIMPLE-025 a bot answers without a journal, and says so once', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (const each of [bot(), bot()]) expect((await each.ask('Is it?')).content).toBe('Yes.')
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^Turns are not recorded: .*home.*recorder: false/), 'CriaJournalWarning'],
    ])
  })

  it('CORE-SIMPLE-025 a session cannot continue without the journal that holds it', async () => {
    await expect(bot().ask('Is it?', { sessionId: 's1' })).rejects.toMatchObject({ code: 'store_failed' })
  })
})
