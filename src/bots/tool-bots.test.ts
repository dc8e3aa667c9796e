import { describe, expect, it } from 'vitest'
import type { QueryOptions } from '../app/query.ts'
import type { Tool } from '../core/tool.ts'
import { Steering } from '../engine/steering.ts'
import { openJournal } from '../app/journal.ts'
import { ScriptedModel } from '../providers/scripted/scripted-model.ts'
import { AgentBot, AsyncToolBot, ToolBot } from './tool-bots.ts'
import type { AgentBotOptions } from './tool-bots.ts'
import { completionOptionsForMessages } from './completion.ts'
import { SimpleBot } from './simple-bot.ts'

let ran: string[] = []

const weather: Tool<{ town: string }> = {
  name: 'weather',
  description: 'The weather of a town.',
  inputSchema: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
  needsPermission: false,
  call: ({ town }) => {
    ran.push(town)
    return `Fog in ${town}.`
  },
}

const calls = [
  { id: 'a', name: 'weather', input: { town: 'Bergen' } },
  { id: 'b', name: 'weather', input: { city: 'Oslo' } },
  { id: 'c', name: 'wether', input: {} },
  { id: 'd', name: 'functions.weather', input: { town: 'Bodø' } },
]

describe('ToolBot', () => {
  it('CORE-TOOL-001 answers with the checked calls of the model, and runs none', async () => {
    ran = []
    const model = new ScriptedModel([{ text: 'Two towns.', toolCalls: calls }])
    const bot = new ToolBot({ model, tools: [weather], systemPrompt: 'Choose.', toolChoice: 'required', recorder: false })
    const answer = await bot.ask('How is it up there?')
    expect(answer.toolCalls.map(({ id, name, input }) => [id, name, input])).toEqual([
      ['a', 'weather', { town: 'Bergen' }],
      ['d', 'weather', { town: 'Bodø' }],
    ])
    expect(answer.invalidCalls.map(({ id, invalid }) => [id, invalid])).toEqual([
      ['b', expect.stringMatching(/do not fit the schema of weather/)],
      ['c', expect.stringMatching(/no tool called "wether".*Did you mean weather/)],
    ])
    expect(answer).toMatchObject({ content: 'Two towns.', finishReason: 'tool-calls' })
    expect(ran).toEqual([])
    expect(model.requests).toMatchObject([
      { tools: [{ name: 'weather' }], toolChoice: 'required', temperature: 0, stream: false },
    ])
    expect(bot).toBeInstanceOf(SimpleBot)
  })

  it('CORE-TOOL-001 a model that chooses no tool, or writes its call as text', async () => {
    const none = await new ToolBot({ model: new ScriptedModel(['I cannot tell.']), tools: [weather], recorder: false }).ask('Hm?')
    expect(none).toMatchObject({ content: 'I cannot tell.', toolCalls: [], invalidCalls: [], finishReason: 'stop' })
    const model = new ScriptedModel(['{"name": "weather", "arguments": {"town": "Oslo"}}'])
    const written = await new ToolBot({ model, tools: [weather], recorder: false }).ask('Oslo?')
    expect(written.toolCalls).toMatchObject([{ name: 'weather', input: { town: 'Oslo' } }])
  })

  it('CORE-TOOL-001 AsyncToolBot yields one call after the other', async () => {
    ran = []
    const bot = new AsyncToolBot({ model: new ScriptedModel([{ toolCalls: calls }]), tools: [weather], recorder: false })
    const stream = bot.streamAsync('How is it up there?')
    const seen: string[] = []
    let next = await stream.next()
    for (; next.done !== true; next = await stream.next()) seen.push(next.value.id)
    expect(seen).toEqual(['a', 'd'])
    expect(next.value.invalidCalls).toHaveLength(2)
    expect(ran).toEqual([])
    const broken = new AsyncToolBot({
      model: new ScriptedModel([{ toolCalls: calls, finish: null }]),
      tools: [weather],
      retry: { maxRetries: 0 },
      recorder: false,
    })
    await expect(broken.streamAsync('?').next()).rejects.toMatchObject({ code: 'stream_interrupted' })
    for (const name of ['abortSignal', 'signal'] as const) {
      const late = bot.streamAsync('?', { [name]: AbortSignal.abort(new Error('Too late.')) })
      await expect(late.next()).rejects.toMatchObject({ name: 'AbortError', message: 'Too late.' })
    }
  })

  it('CORE-TOOL-001 the turn stands in the journal, and the conversation goes on with a history that providers accept', async () => {
    const model = new ScriptedModel([{ toolCalls: calls.slice(0, 1) }, 'Then not.'])
    const bot = new ToolBot({ model, tools: [weather], name: 'chooser' })
    const { sessionId, turnId } = await bot.ask('Bergen?')
    const journal = await openJournal()
    expect(await journal.read.turn(turnId)).toMatchObject({ turn: { status: 'done', bot: { kind: 'ToolBot', name: 'chooser' } } })
    await bot.ask('And now?', { sessionId })
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
  })

  it('CORE-SIMPLE-003 the helpers see its tools', () => {
    const bot = new ToolBot({ model: new ScriptedModel([]), tools: [weather], toolChoice: { tool: 'weather' }, recorder: false })
    const request = completionOptionsForMessages(bot, 'Bergen?', { stream: true })
    expect(request).toMatchObject({
      tools: [{ name: 'weather', description: 'The weather of a town.' }],
      toolChoice: { tool: 'weather' },
    })
  })

  it('refuses invalid tools at once', () => {
    const model = new ScriptedModel([])
    expect(() => new ToolBot({ model, tools: [] })).toThrow(/ToolBot needs `tools`/)
    expect(() => new AgentBot({ model } as never)).toThrow(/AgentBot needs `tools`/)
    expect(() => new AgentBot({ model, tools: null as never })).toThrow(/AgentBot needs `tools`/)
    expect(() => new ToolBot({ model, tools: [weather, weather] })).toThrow(/Two tools are called "weather"/)
    expect(() => new ToolBot({ model, tools: [{ ...weather, name: 'a b' }] })).toThrow(/"a b" is not a name for a tool/)
    expect(() => new AgentBot({ model, tools: [weather], maxIterations: 0 })).toThrow(/maxIterations/)
  })
})

describe('AgentBot', () => {
  it('CORE-AGENT-001 uses its tools until it has an answer', async () => {
    ran = []
    const model = new ScriptedModel([
      { toolCalls: calls.slice(0, 2) },
      { toolCalls: [{ name: 'weather', input: { town: 'Oslo' } }] },
      'Fog everywhere.',
    ])
    const bot = new AgentBot({ model, tools: [weather], systemPrompt: 'Look first.', streamTarget: 'none', recorder: false })
    expect(await bot.ask('How is it up there?')).toMatchObject({ content: 'Fog everywhere.', finishReason: 'stop' })
    expect(ran).toEqual(['Bergen', 'Oslo'])
    expect(model.requests).toHaveLength(3)
    expect(model.requests[0]?.messages[0]).toMatchObject({ role: 'system', content: 'Look first.' })
  })

  it('CORE-AGENT-001 stops after its iterations, and obeys permissions and rules', async () => {
    ran = []
    const guarded = { ...weather, needsPermission: true }
    const towns = ['Bergen', 'Oslo', 'Bodø']
    const model = new ScriptedModel((_request, call) => ({
      toolCalls: [{ name: 'weather', input: { town: towns[call] as string } }],
    }))
    const bot = new AgentBot({
      model,
      tools: [guarded],
      maxIterations: 3,
      rules: { allow: ['weather(town=B*)'] },
      hasPermissionsToUseTool: () => ({ granted: false, reason: 'Not Oslo.' }),
      streamTarget: 'none',
      recorder: false,
    })
    expect(await bot.ask('Go')).toMatchObject({ finishReason: 'max-steps' })
    expect(ran).toEqual(['Bergen', 'Bodø'])
  })

  it('CORE-AGENT-001 names a tool that nothing in the turn could permit, once, in the notices of its answer', async () => {
    const guarded = { ...weather, needsPermission: true }
    const answered = async (options: Partial<AgentBotOptions>): Promise<readonly unknown[]> => {
      const script = [...['Bergen', 'Oslo'].map((town) => ({ toolCalls: [{ name: 'weather', input: { town } }] })), 'Done.']
      const bot = new AgentBot({
        model: new ScriptedModel(script),
        tools: [guarded],
        recorder: false,
        streamTarget: 'none',
        ...options,
      })
      return (await bot.ask('Fog?')).notices
    }
    expect(await answered({})).toEqual([
      {
        code: 'permission_unanswered',
        message:
          'weather needs permission, and nothing in this turn can give it: set needsPermission: false, pass rules, or pass hasPermissionsToUseTool.',
        details: { tool: 'weather' },
      },
    ])
    expect(await answered({ rules: { ask: ['weather'] } })).toMatchObject([
      { message: 'weather needs permission, and nothing in this turn can give it: pass hasPermissionsToUseTool.' },
    ])
    expect(await answered({ rules: { deny: ['weather'] } })).toEqual([])
    expect(await answered({ hasPermissionsToUseTool: () => false })).toEqual([])
  })

  it('CORE-AGENT-001 asks for permission, one tool at a time in safe mode, and runs so many at once', async () => {
    const work = async (options: Partial<AgentBotOptions>): Promise<readonly [asked: number[], most: number]> => {
      const asked: number[] = []
      let running = 0
      let most = 0
      const slow: Tool<{ town: string }> = {
        ...weather,
        isReadOnly: true,
        needsPermission: true,
        call: async ({ town }) => {
          most = Math.max(most, ++running)
          for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
          running--
          return town
        },
      }
      const towns = ['a', 'b', 'c', 'd'].map((town) => ({ name: 'weather', input: { town } }))
      const bot = new AgentBot({
        model: new ScriptedModel([{ toolCalls: towns }, 'Done.']),
        tools: [slow],
        hasPermissionsToUseTool: (requests) => (asked.push(requests.length), true),
        streamTarget: 'none',
        recorder: false,
        ...options,
      })
      const results: boolean[] = []
      for await (const event of bot.events('Go')) if (event.type === 'tool_result') results.push(event.result.isError)
      expect(results).toEqual([false, false, false, false])
      return [asked, most]
    }
    expect(await work({})).toEqual([[4], 4])
    expect(await work({ toolConcurrency: 2 })).toEqual([[4], 2])
    expect(await work({ safeMode: true })).toEqual([[1, 1, 1, 1], 1])
  })

  it('CORE-AGENT-001 streams text, and every event to those who want them', async () => {
    const model = new ScriptedModel([
      { text: 'Looking. ', toolCalls: calls.slice(0, 1) },
      'Fog.',
      { toolCalls: calls.slice(0, 1) },
      'Fog again.',
    ])
    const bot = new AgentBot({ model, tools: [weather], recorder: false })
    let text = ''
    for await (const delta of bot.stream('Bergen?')) text += delta
    expect(text).toBe('Looking. Fog.')
    const types: string[] = []
    for await (const event of bot.events('Bergen?')) types.push(event.type)
    expect(types).toContain('tool_result')
    expect(types.at(-1)).toBe('complete')
  })
})

describe('options of AgentBot', () => {
  /** Options that the bot itself, or `ask()`, passes to `query()`. */
  type Elsewhere =
    | 'prompt'
    | 'messages'
    | 'system'
    | 'sessionId'
    | 'abortSignal'
    | 'span'
    | 'steering'
    | 'userId'
    | 'decide'
    | 'tags'
    | 'operation'
    | 'bot'
    | 'notices'
    | 'review'
    | 'unasked'
    | 'maxSteps'
    | 'responseFormat'
    | 'stream'
    | 'executeTools'
    | 'clock'
    | 'createId'
    | 'random'
  // The compiler reports missing options of query().
  const taken: Record<Exclude<keyof QueryOptions, Elsewhere>, keyof AgentBotOptions> = {
    model: 'model',
    fallbackModels: 'fallbackModels',
    fallbackOn: 'fallbackOn',
    specialist: 'specialist',
    switchModels: 'switchModels',
    tools: 'tools',
    toolChoice: 'toolChoice',
    hasPermissionsToUseTool: 'hasPermissionsToUseTool',
    rules: 'rules',
    hooks: 'hooks',
    repairToolCall: 'repairToolCall',
    onUpdateUsage: 'onUpdateUsage',
    enableThinking: 'enableThinking',
    showThinking: 'showThinking',
    safeMode: 'safeMode',
    prepareStep: 'prepareStep',
    stopWhen: 'stopWhen',
    nesting: 'nesting',
    toolConcurrency: 'toolConcurrency',
    retrieve: 'retrieve',
    context: 'context',
    cache: 'cache',
    retry: 'retry',
    timeouts: 'timeouts',
    budget: 'budget',
    recorder: 'recorder',
    onQueryCompleted: 'onQueryCompleted',
    slowAfter: 'slowAfter',
    temperature: 'temperature',
    maxOutputTokens: 'maxOutputTokens',
    topP: 'topP',
    topK: 'topK',
    presencePenalty: 'presencePenalty',
    frequencyPenalty: 'frequencyPenalty',
    stopSequences: 'stopSequences',
    seed: 'seed',
    providerOptions: 'providerOptions',
    answerLimits: 'answerLimits',
    verify: 'verify',
  }

  it('CORE-TOOL-001 are all useful ones of query(), and reach it', async () => {
    expect(Object.keys(taken).length).toBeGreaterThan(30)
    const seen: unknown[] = []
    const model = new ScriptedModel([{ toolCalls: [{ name: 'weather', input: {} }] }, 'Fog.'])
    const bot = new AgentBot({
      model,
      tools: [weather],
      recorder: false,
      streamTarget: 'none',
      repairToolCall: () => ({ input: { town: 'Bergen' } }),
      hooks: { onToolCall: ({ input }) => void seen.push(input) },
      prepareStep: ({ step }) => (step === 1 ? { toolChoice: 'required' } : undefined),
      onUpdateUsage: () => void seen.push('usage'),
      context: { compaction: false },
      slowAfter: 5,
    })
    const steering = new Steering()
    steering.steer('Only today.')
    const answer = await bot.ask('How is it?', { steering })
    expect(answer.content).toBe('Fog.')
    expect(seen).toEqual(['usage', { town: 'Bergen' }, 'usage'])
    expect(model.requests[0]).toMatchObject({ toolChoice: 'required' })
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['Only today.', 'How is it?'])
  })
})
