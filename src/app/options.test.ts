import { expect, test } from 'vitest'
import {
  AgentBot,
  builtinTools,
  ChatMemory,
  chunkDocument,
  connectMcp,
  createEmbeddingModel,
  createModel,
  defineTool,
  loadDocuments,
  MemoryDocumentStore,
  openRecorder,
  query,
  QueryBot,
  ResponseCache,
  retryWithBackoff,
  SimpleBot,
  SqliteDocumentStore,
  StructuredBot,
  system,
  ToolBot,
  toolResult,
  user,
} from '../index.ts'
import { ScriptedModel } from '../testing.ts'

/** Passes any value, as untyped JavaScript can. */
const unchecked = (value?: unknown): never => value as never
const docstore = new MemoryDocumentStore()
const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, call: (): string => 'a hill' }
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
    'a recorder that was not awaited',
    () => query(unchecked({ prompt: 'hi', model: model(), recorder: Promise.resolve({}) })),
    '`recorder` must be what openRecorder() resolves to, but is a promise: await it.',
  ],
  [
    'a document store of another type',
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
    'an unknown policy, which would have no effect',
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
])('ENG-ERR-001 rejects a mistake of untyped code at once: %s', (_, call, message) => {
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
])('ENG-ERR-001 functions that open something reject it too: %s', async (_, call, message) => {
  await expect(call()).rejects.toThrow(expect.objectContaining({ code: 'configuration', message }))
})

test.each<[what: string, call: () => unknown, message: string]>([
  ['of query()', () => query(unchecked({ prompt: 'hi', model: model(), tenant: 'x' })), 'query() has no option `tenant`.'],
  [
    'of another call in query()',
    () => query(unchecked({ prompt: 'hi', model: model(), docstore })),
    'query() has no option `docstore`: write `retrieve: { docstore }`.',
  ],
  [
    'of another call in a bot',
    () => new SimpleBot(unchecked({ sessionId: 'x' })),
    'A bot has no option `sessionId`: write `ask(input, { sessionId })`.',
  ],
  [
    'the name in another library, of a bot with options of its own',
    () => new StructuredBot(unchecked({ schema: {}, maxTokens: 3 })),
    'StructuredBot has no option `maxTokens`: write `maxOutputTokens`.',
  ],
  [
    'of ask() in a bot',
    () => new QueryBot(unchecked({ docstore, nResults: 5 })),
    'QueryBot has no option `nResults`: write `ask(question, { nResults })`.',
  ],
  ['of createModel()', () => createModel('openai/gpt-5', unchecked({ timeout: 3 })), 'createModel() has no option `timeout`.'],
  [
    'of the facts of a model',
    () => createModel('openai/gpt-5', unchecked({ facts: { contextwindow: 3 } })),
    '`facts` has no option `contextwindow`: did you mean `contextWindow`?',
  ],
  [
    'of context',
    () => query(unchecked({ prompt: 'hi', model: model(), context: { gitstatus: true } })),
    '`context` has no option `gitstatus`: did you mean `gitStatus`?',
  ],
  [
    'of a store in place of the options of retrieval',
    () => query(unchecked({ prompt: 'hi', model: model(), retrieve: docstore })),
    '`retrieve` has no option `name`.',
  ],
  [
    'of a tool, which would need permission',
    () => defineTool(unchecked({ ...look, needPermission: false })),
    'Tool "look" has no option `needPermission`: did you mean `needsPermission`?',
  ],
  [
    'of a memory',
    () => new ChatMemory(unchecked({ maxTurn: 3 })),
    'ChatMemory has no option `maxTurn`: did you mean `maxTurns`?',
  ],
  ['of a store', () => new MemoryDocumentStore(unchecked({ path: 'x.db' })), 'MemoryDocumentStore has no option `path`.'],
  [
    'of the chunker',
    () => chunkDocument({ source: 'a.md', text: 'A hill.' }, unchecked({ maxchars: 100 })),
    'chunkDocument() has no option `maxchars`: did you mean `maxChars`?',
  ],
  ['of a cache', () => new ResponseCache(unchecked({ maxAge: 3 })), 'ResponseCache has no option `maxAge`.'],
  ['of the built-in tools', () => builtinTools(unchecked({ folder: '.' })), 'builtinTools() has no option `folder`.'],
])('ENG-ERR-001 rejects an unknown option at once: %s', (_, call, message) => {
  expect(call).toThrow(expect.objectContaining({ code: 'configuration', message }))
})

test.each<[what: string, call: () => Promise<unknown>, message: string]>([
  [
    'ask()',
    () => new SimpleBot({ model: model(), recorder: false }).ask('hi', unchecked({ sessionID: 'x' })),
    'ask() of SimpleBot has no option `sessionID`: did you mean `sessionId`?',
  ],
  [
    'ask() of QueryBot',
    () => new QueryBot({ docstore, model: model(), recorder: false }).ask('hi', unchecked({ abortSignal: null })),
    '`abortSignal` must be an AbortSignal, such as the `signal` of an AbortController.',
  ],
  [
    'a number for options',
    () => new QueryBot({ docstore, recorder: false }).ask('hi', unchecked(5)),
    'ask() of QueryBot takes an object of options.',
  ],
  ['connectMcp()', () => connectMcp(unchecked({ server: {} })), 'connectMcp() has no option `server`: did you mean `servers`?'],
  [
    'connectMcp() without any',
    () => connectMcp(unchecked()),
    '`servers` must be an object: { name: { command, args } } or { name: { url } }.',
  ],
  [
    'a store with an unknown value',
    () => SqliteDocumentStore.open(unchecked({ path: ':memory:', synchronous: 'off' })),
    '`synchronous` must be normal or full, but is "off".',
  ],
  [
    'a recorder with an unknown value',
    () => openRecorder(unchecked({ path: ':memory:', synchronous: 'off' })),
    '`synchronous` must be one of normal, full, but is "off".',
  ],
  ['search()', () => docstore.search('hill', unchecked({ nResults: 3 })), 'search() has no option `nResults`: write `limit`.'],
  ['loadDocuments()', () => loadDocuments('.', unchecked({ recursive: true })), 'loadDocuments() has no option `recursive`.'],
  [
    'retryWithBackoff()',
    () => retryWithBackoff(async function* () {}, unchecked({ retries: 3 })).next(),
    'retryWithBackoff() has no option `retries`.',
  ],
  [
    'retryWithBackoff() of a promise',
    () => retryWithBackoff(unchecked(async () => 5)).next(),
    'retryWithBackoff() takes a function that returns an async generator, but got one that returns a promise.',
  ],
])('ENG-ERR-001 an unknown option is rejected by %s', async (_, call, message) => {
  await expect(call()).rejects.toThrow(expect.objectContaining({ code: 'configuration', message }))
})

test.each<[what: string, call: () => unknown, message: string]>([
  [
    'a flag as text',
    () => query(unchecked({ prompt: 'hi', model: model(), safeMode: 'no' })),
    '`safeMode` must be true or false, but is "no".',
  ],
  [
    'a permission that is not a function',
    () => query(unchecked({ prompt: 'hi', model: model(), hasPermissionsToUseTool: true })),
    '`hasPermissionsToUseTool` must be a function, but is true.',
  ],
  [
    'a message for a text',
    () => query(unchecked({ prompt: 'hi', model: model(), system: user('x') })),
    '`system` must be a text, but is an object.',
  ],
  [
    'an unknown choice',
    () => query(unchecked({ prompt: 'hi', model: model(), retry: { afterOutput: 'fail' } })),
    '`retry.afterOutput` must be one of retry, error, but is "fail".',
  ],
  [
    'an unknown effort',
    () => new SimpleBot(unchecked({ enableThinking: 'lots' })),
    "`enableThinking` must be true, false, 'off', 'low', 'medium' or 'high', but is \"lots\".",
  ],
  [
    'a choice of a tool that is not offered',
    () => query({ prompt: 'hi', model: model(), tools: [look], toolChoice: { tool: 'hear' } }),
    '`toolChoice` names the tool "hear", which is not one of `tools`.',
  ],
  [
    'a temperature as text',
    () => new SimpleBot(unchecked({ temperature: '1' })),
    '`temperature` must be a number of at least 0, but is "1".',
  ],
  [
    'one stop sequence in place of a list',
    () => new SimpleBot(unchecked({ stopSequences: 'END' })),
    '`stopSequences` must be a list of texts, but is "END".',
  ],
  [
    'time-outs of a bot',
    () => new SimpleBot(unchecked({ timeouts: { idle: 0 } })),
    '`timeouts.idle` must be a number of at least 1, but is 0.',
  ],
  [
    'a fallback model of a bot',
    () => new SimpleBot({ model: model(), fallbackModels: ['opnai/gpt-5'] }),
    'There is no provider "opnai"; did you mean "openai/gpt-5"?',
  ],
  [
    'a recorder of a bot that was not awaited',
    () => new SimpleBot(unchecked({ recorder: Promise.resolve() })),
    '`recorder` must be what openRecorder() resolves to, but is a promise: await it.',
  ],
  [
    'a document store that was not awaited',
    () => new QueryBot(unchecked({ docstore: Promise.resolve() })),
    '`docstore` must be what SqliteDocumentStore.open() resolves to, but is a promise: await it.',
  ],
  [
    'an invalid number of attempts',
    () => new StructuredBot({ schema: {}, numAttempts: 0 }),
    '`numAttempts` must be a number of at least 1, but is 0.',
  ],
  ['a header', () => createModel('openai/gpt-5', unchecked({ headers: { a: 5 } })), '`headers["a"]` must be a text, but is 5.'],
  [
    'a tool that calls itself read-only by a function, which would be true',
    () => defineTool(unchecked({ ...look, isReadOnly: () => false })),
    '`isReadOnly` of tool "look" must be true or false, but is function.',
  ],
  [
    'retrieval without a store',
    () => query({ prompt: 'hi', model: model(), retrieve: { nResults: 3 } }),
    '`retrieve` needs a `docstore`, a `memory`, or both: there is nothing to search.',
  ],
  [
    'null for retrieval',
    () => query(unchecked({ prompt: 'hi', model: model(), retrieve: null })),
    '`retrieve` takes an object of options.',
  ],
  [
    'a session without a name',
    () => query({ prompt: 'hi', model: model(), sessionId: '' }),
    '`sessionId` is empty: leave it out to begin a session.',
  ],
  [
    'an unknown format',
    () => query(unchecked({ prompt: 'hi', model: model(), responseFormat: { type: 'json_object' } })),
    '`responseFormat.type` must be json, but is "json_object".',
  ],
  [
    'a list of files as context',
    () => query(unchecked({ prompt: 'hi', model: model(), context: { recentFiles: ['a.md'] } })),
    '`context.recentFiles` must be true, false or { maxTokens }, but is a list.',
  ],
  [
    'one store in place of a list',
    () => builtinTools(unchecked({ root: '.', stores: docstore })),
    '`stores` must be a list of document stores, but is an object.',
  ],
  [
    'an option of an embedding model',
    () => createEmbeddingModel('openai/x', unchecked({ dimension: 3 })),
    'createEmbeddingModel() has no option `dimension`: did you mean `dimensions`?',
  ],
  ['a system prompt', () => system(unchecked(5)), 'system() takes a text or a list of parts, but got number.'],
  ['a message without words', () => user(unchecked()), 'user() takes a text or a list of parts, but got undefined.'],
  [
    'a result without content',
    () => toolResult(unchecked({ id: '1', name: 'look', output: 'x' })),
    'toolResult()[0] is a part of type tool-result whose content must be a string, but is undefined.',
  ],
  [
    'a script of one text',
    () => new ScriptedModel(unchecked('ok')),
    'A script must be a list with one answer for each request, or a function.',
  ],
])('ENG-ERR-001 rejects an invalid value at once: %s', (_, call, message) => {
  expect(call).toThrow(expect.objectContaining({ code: 'configuration', message }))
})

test.each([docstore, new ChatMemory()])('ENG-ERR-001 %o rejects a value that is not a document', async (store) => {
  const refused = { code: 'invalid_request', message: expect.stringMatching(/^A document must be a string or/) as string }
  for (const document of [null, 5, { source: 'a.md', content: 'x' }, { source: 'a.md', text: 'x', metadata: 'y' }])
    await expect(async () => store.append(unchecked(document))).rejects.toMatchObject(refused)
})

test('ENG-ERR-001 an undefined option counts as absent, and the hint lists the known options', () => {
  expect(() => query(unchecked({ prompt: 'hi', model: model(), tenant: undefined }))).not.toThrow()
  expect(() => new ChatMemory(unchecked({ tenant: 'north' }))).toThrow(
    expect.objectContaining({ hint: 'There are name, maxTurns, maxChars.' }),
  )
})
