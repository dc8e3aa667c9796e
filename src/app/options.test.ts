import { expect, test } from 'vitest'
import { AgentBot, QueryBot, query, SimpleBot, SqliteDocumentStore, openRecorder, StructuredBot, ToolBot } from '../index.ts'
import { ScriptedModel } from '../testing.ts'

/** What JavaScript lets through: the compiler is not asked. */
const unchecked = (value?: unknown): never => value as never
const model = (): ScriptedModel => new ScriptedModel(() => ({ text: ['ok'] }))

test.each<[what: string, call: () => unknown, message: string]>([
  ['query() without options', () => query(unchecked()), 'query() takes an object of options.'],
  ['query() with only a question', () => query(unchecked('hi')), 'query() takes an object of options.'],
  ['a bot with only a prompt', () => new SimpleBot(unchecked('Be kind.')), 'A bot takes an object of options.'],
  ['QueryBot without options', () => new QueryBot(unchecked()), 'QueryBot takes an object of options.'],
  [
    'a misspelt option',
    () => query(unchecked({ prompt: 'hi', model: model(), maxStep: 3 })),
    'query() has no option `maxStep`: did you mean `maxSteps`?',
  ],
  [
    'a misspelt option in an option',
    () => query(unchecked({ prompt: 'hi', model: model(), timeouts: { firstTokens: 3 } })),
    '`timeouts` has no option `firstTokens`: did you mean `firstToken`?',
  ],
  [
    'a misspelt option of a bot',
    () => new SimpleBot(unchecked({ system_prompt: 'Be kind.' })),
    'A bot has no option `system_prompt`: did you mean `systemPrompt`?',
  ],
  [
    'a misspelt option of AgentBot',
    () => new AgentBot(unchecked({ tools: [], maxIteration: 3 })),
    'AgentBot has no option `maxIteration`: did you mean `maxIterations`?',
  ],
  [
    'a misspelt option of ToolBot',
    () => new ToolBot(unchecked({ tools: [], toolchoice: 'auto' })),
    'ToolBot has no option `toolchoice`: did you mean `toolChoice`?',
  ],
  [
    'a misspelt option of StructuredBot',
    () => new StructuredBot(unchecked({ schema: {}, numAttempt: 3 })),
    'StructuredBot has no option `numAttempt`: did you mean `numAttempts`?',
  ],
  [
    'a recorder that nobody waited for',
    () => query(unchecked({ prompt: 'hi', model: model(), recorder: Promise.resolve({}) })),
    '`recorder` must be what openRecorder() resolves to, but is a promise: await it.',
  ],
  [
    'a document store that is none',
    () => query(unchecked({ prompt: 'hi', model: model(), retrieve: { docstore: 'docs.db' } })),
    '`retrieve.docstore` must be what SqliteDocumentStore.open() resolves to, but is "docs.db".',
  ],
  [
    'a controller in place of its signal',
    () => query(unchecked({ prompt: 'hi', model: model(), abortSignal: new AbortController() })),
    '`abortSignal` must be an AbortSignal, such as the `signal` of an AbortController.',
  ],
  [
    'one fallback model in place of a list',
    () => query(unchecked({ prompt: 'hi', model: model(), fallbackModels: 'openai/x' })),
    '`fallbackModels` must be a list of models, but is "openai/x".',
  ],
  [
    'one tool in place of a list',
    () => query(unchecked({ prompt: 'hi', model: model(), tools: { name: 'look' } })),
    '`tools` must be a list of tools, but is an object.',
  ],
  [
    'one tool of a bot in place of a list',
    () => new AgentBot(unchecked({ tools: { name: 'look' } })),
    '`tools` must be a list of tools, but is an object.',
  ],
  [
    'one rule in place of a list',
    () => query(unchecked({ prompt: 'hi', model: model(), rules: { deny: 'read_file' } })),
    '`rules.deny` must be a list of rules, but is "read_file".',
  ],
  [
    'a misspelt list of rules, which would forbid nothing',
    () => query(unchecked({ prompt: 'hi', model: model(), rules: { denny: ['read_file'] } })),
    '`rules` has no option `denny`: did you mean `deny`?',
  ],
  [
    'a policy that there is not, which would be none',
    () => query(unchecked({ prompt: 'hi', model: model(), rules: { afterUntrusted: 'Ask' } })),
    '`rules.afterUntrusted` must be one of ask, trust, but is "Ask".',
  ],
  [
    'a misspelt option of compaction',
    () => query(unchecked({ prompt: 'hi', model: model(), context: { compaction: { keepTurn: 3 } } })),
    '`context.compaction` has no option `keepTurn`: did you mean `keepTurns`?',
  ],
  [
    'one source of context in place of a list',
    () => query(unchecked({ prompt: 'hi', model: model(), context: { sources: { name: 'wiki' } } })),
    '`context.sources` must be a list of sources, but is an object.',
  ],
  [
    'a number as text',
    () => query(unchecked({ prompt: 'hi', model: model(), maxSteps: '5' })),
    '`maxSteps` must be a number of at least 1, but is "5".',
  ],
])('ENG-ERR-001 a mistake that only JavaScript can make is told at once: %s', (_, call, message) => {
  expect(call).toThrow(expect.objectContaining({ code: 'configuration', message }))
})

test.each<[what: string, call: () => Promise<unknown>, message: string]>([
  [
    'open() without options',
    () => SqliteDocumentStore.open(unchecked()),
    'A document store needs the path of its file: SqliteDocumentStore.open({ path }).',
  ],
  [
    'a misspelt option of a store',
    () => SqliteDocumentStore.open(unchecked({ path: ':memory:', readonly: true })),
    'A document store has no option `readonly`: did you mean `readOnly`?',
  ],
  ['openRecorder(null)', () => openRecorder(unchecked(null)), 'openRecorder() takes an object of options.'],
  [
    'a misspelt option of a recorder',
    () => openRecorder(unchecked({ readonly: true })),
    'openRecorder() has no option `readonly`: did you mean `readOnly`?',
  ],
])('ENG-ERR-001 what is opened tells such a mistake too: %s', async (_, call, message) => {
  await expect(call()).rejects.toThrow(expect.objectContaining({ code: 'configuration', message }))
})

test("a name that is like none of ours is the caller's own", async () => {
  const events = query(unchecked({ prompt: 'hi', model: model(), tenant: 'north' }))
  const seen = await Array.fromAsync(events)
  expect(seen.at(-1)?.type).toBe('complete')
})
