/**
 * Measures the start of the built `cria chat`: time until it accepts input, and until the model is loaded. Runs in its own terminal
 * (script of util-linux), with a warm compile cache, no key and no network.
 *
 *     npm run build && npm run bench -- chat [RUNS]
 */

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const COMMAND = fileURLToPath(new URL('../dist/cli/cria.js', import.meta.url))
const RUNS = Number(process.argv[2] ?? 21)
/** Milliseconds. */
const GOAL = 150
const MODEL = 'openai-compatible/none'

if (!existsSync(COMMAND) || !existsSync('/usr/bin/script')) {
  console.error('Missing dist/cli/cria.js (run `npm run build` first) or /usr/bin/script (install util-linux).')
  process.exit(2)
}

interface Times {
  readonly prompt: number
  readonly model: number
}

const home = mkdtempSync(join(tmpdir(), 'cria-chat-'))
try {
  const times: Times[] = []
  for (let run = -2; run < RUNS; run++) {
    const measured = await start()
    // The first two runs fill the caches.
    if (run >= 0) times.push(measured)
  }
  console.log(`${RUNS} runs\n\n| until | median ms | fastest ms | goal |\n|---|---|---|---|`)
  const row = (name: string, all: readonly number[], goal: string): void => {
    const sorted = all.toSorted((a, b) => a - b)
    console.log(`| ${name} | ${Math.round(sorted[sorted.length >> 1] ?? 0)} | ${Math.round(sorted[0] ?? 0)} | ${goal} |`)
  }
  row(
    'the prompt',
    times.map(({ prompt }) => prompt),
    String(GOAL),
  )
  row(
    'the model is there',
    times.map(({ model }) => model),
    '',
  )
} finally {
  rmSync(home, { recursive: true })
}

async function start(): Promise<Times> {
  const env = {
    ...process.env,
    CRIA_HOME: home,
    NODE_COMPILE_CACHE: join(home, 'compile-cache'),
    OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
    OPENAI_COMPATIBLE_API_KEY: 'none',
    TERM: 'xterm-256color',
  }
  const started = performance.now()
  const child = spawn(
    '/usr/bin/script',
    ['--quiet', '--return', '--command', `'${process.execPath}' '${COMMAND}' chat -m ${MODEL}`, '/dev/null'],
    { env },
  )
  let shown = ''
  let prompt = Number.NaN
  let model = Number.NaN
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    if (Number.isNaN(prompt) && shown.includes('> ')) prompt = performance.now() - started
    if (Number.isNaN(model) && shown.includes(MODEL)) {
      model = performance.now() - started
      child.stdin.write('\u0004')
    }
  })
  await new Promise((resolve) => {
    child.on('close', resolve)
  })
  if (Number.isNaN(model)) throw new Error(`The chat ended without a prompt: ${shown}`)
  return { prompt, model }
}
