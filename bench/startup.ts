/**
 * Measures the time of the built command, compared with bare Node: `cria --help`, and `cria ask` over 20,000 chunks.
 *
 *     npm run build && npm run bench -- startup [RUNS]
 *
 * Also measures the time from the start of `cria ask` to its request to a provider, compared with short scripts that call `fetch` and
 * `streamText` of the AI SDK.
 *
 * Runs with a warm compile cache, output to a pipe, no key and no network. Runs are interleaved, so that other load affects all of them;
 * the result is the ratio of the medians.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SourceDocument } from '../src/core/store.ts'
import { SqliteDocumentStore } from '../src/stores/sqlite.ts'

const COMMAND = fileURLToPath(new URL('../dist/cli/cria.js', import.meta.url))
const RUNS = Number(process.argv[2] ?? 21)
const DOCUMENTS = 4000
const QUESTION = 'Which harbour did the lamp of the northern tower belong to?'
const GOALS: Readonly<Record<string, number>> = { 'cria --help': 1.5, 'cria ask': 4 }

if (!existsSync(COMMAND)) {
  console.error('There is no dist/cli/cria.js: run `npm run build` first.')
  process.exit(2)
}

const home = mkdtempSync(join(tmpdir(), 'cria-startup-'))
try {
  const chunks = await fillStore(home)
  const env = {
    ...process.env,
    CRIA_HOME: home,
    CRIA_MODEL: 'builtin/extractive',
    NODE_COMPILE_CACHE: join(home, 'compile-cache'),
  }
  const cases: Readonly<Record<string, readonly string[]>> = {
    'node -e 0': ['-e', '0'],
    'cria --help': [COMMAND, '--help'],
    'cria retrieve': [COMMAND, 'retrieve', QUESTION],
    'cria ask': [COMMAND, 'ask', QUESTION],
  }
  const times = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]))
  for (let run = -2; run < RUNS; run++) {
    for (const [name, words] of Object.entries(cases)) {
      const started = performance.now()
      const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
      if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`)
      // The first two fill the caches.
      if (run >= 0) times.get(name)?.push(performance.now() - started)
    }
  }

  await measureFirstRequest(home)

  const bare = median(times.get('node -e 0') ?? [])
  console.log(`${chunks} chunks, ${RUNS} runs\n`)
  console.log('| command | median ms | fastest ms | times bare node | goal |\n|---|---|---|---|---|')
  for (const [name, measured] of times) {
    const middle = median(measured)
    const goal = GOALS[name]
    const cells = [
      name,
      middle.toFixed(0),
      Math.min(...measured).toFixed(0),
      (middle / bare).toFixed(2),
      goal === undefined ? '' : String(goal),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** Milliseconds from the start of a process to the request that it sends. */
async function measureFirstRequest(folder: string): Promise<void> {
  let arrived: (at: number) => void = () => {}
  const server = createServer((request, response) => {
    arrived(performance.now())
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const choice = { index: 0, delta: { content: 'Yes.' }, finish_reason: 'stop' }
    response.end(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice] })}\n\ndata: [DONE]\n\n`,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  // Scripts of plain JavaScript inside this folder, where the packages are found: neither pays for stripping types.
  const scripts = mkdtempSync(join(import.meta.dirname, 'startup-'))
  const [bare, sdk] = [join(scripts, 'fetch.mjs'), join(scripts, 'ai.mjs')]
  const cache = "import { enableCompileCache } from 'node:module'\nenableCompileCache()\n"
  writeFileSync(
    bare,
    `${cache}const response = await fetch('${baseURL}/chat/completions', { method: 'POST', body: JSON.stringify({ model: 'm', stream: true, messages: [] }) })
for await (const bytes of response.body) process.stdout.write(bytes)\n`,
  )
  writeFileSync(
    sdk,
    `${cache}const { streamText } = await import('ai')
const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
const model = createOpenAICompatible({ baseURL: '${baseURL}', apiKey: 'none', name: 'x' })('m')
for await (const text of streamText({ model, prompt: 'Is it?' }).textStream) process.stdout.write(text)\n`,
  )
  const env = {
    ...process.env,
    CRIA_HOME: join(folder, 'first-request'),
    OPENAI_COMPATIBLE_BASE_URL: baseURL,
    OPENAI_COMPATIBLE_API_KEY: 'none',
    NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
  }
  const cases: Readonly<Record<string, readonly string[]>> = {
    'script with fetch': [bare],
    'script with streamText': [sdk],
    'cria ask': [COMMAND, 'ask', QUESTION, '-m', 'openai-compatible/m'],
  }
  const times = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]))
  try {
    for (let run = -2; run < RUNS; run++) {
      for (const [name, words] of Object.entries(cases)) {
        const arrival = new Promise<number>((resolve) => (arrived = resolve))
        const started = performance.now()
        const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
        const ended = once(child, 'exit')
        const at = await Promise.race([arrival, ended.then(() => Number.NaN)])
        if (Number.isNaN(at)) throw new Error(`${name} sent no request.`)
        await ended
        if (run >= 0) times.get(name)?.push(at - started)
      }
    }
  } finally {
    server.close()
    rmSync(scripts, { recursive: true, force: true })
  }
  const base = median(times.get('script with fetch') ?? [])
  console.log('| to the first request | median ms | fastest ms | times the script with fetch |\n|---|---|---|---|')
  for (const [name, measured] of times) {
    const middle = median(measured)
    console.log(`| ${name} | ${middle.toFixed(0)} | ${Math.min(...measured).toFixed(0)} | ${(middle / base).toFixed(2)} |`)
  }
  console.log()
}

async function fillStore(folder: string): Promise<number> {
  mkdirSync(join(folder, 'stores'), { recursive: true })
  const store = await SqliteDocumentStore.open({ path: join(folder, 'stores', 'default.db') })
  await store.extend(documents())
  const { chunks } = await store.stats()
  await store.close()
  return chunks
}

/** Five sections each, in the words of a made-up language whose frequencies fall as those of a real one. */
function* documents(): Generator<SourceDocument> {
  const random = numbers(1)
  const words = Array.from({ length: 30_000 }, (_, index) => spell(index))
  // The first ones are as frequent as function words are; those that the question is about stand in a tenth of the sections.
  words.splice(200, 0, 'harbour', 'lamp', 'northern', 'tower')
  const word = (): string => words[Math.floor(words.length * random() ** 4)] ?? ''
  const sentence = (): string => {
    const text = Array.from({ length: 8 + Math.floor(random() * 14) }, word).join(' ')
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
  }
  const section = (): string => `## ${word()} ${word()}\n\n${Array.from({ length: 12 }, sentence).join(' ')}\n`
  for (let index = 0; index < DOCUMENTS; index++) {
    const text = `# ${word()} ${word()}\n\n${Array.from({ length: 5 }, section).join('\n')}`
    yield { source: `docs/${index}.md`, text, format: 'markdown' }
  }
}

function spell(index: number): string {
  let word = ''
  for (let rest = index + 20; rest > 0; rest = Math.floor(rest / 70))
    word += `${'bdfghklmnprstv'[rest % 14] ?? ''}${'aeiou'[Math.floor(rest / 14) % 5] ?? ''}`
  return word
}

/** A linear congruential generator (Numerical Recipes), from 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
