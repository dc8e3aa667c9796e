import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const CODE_CACHE = fileURLToPath(new URL('./code-cache.ts', import.meta.url))
const SCRIPT = `
function greet(name) { return 'Good day, ' + name + '.' }
exports.greet = greet
exports.place = [__filename, __dirname]
exports.trace = () => new Error('here').stack.split('\\n')[1]
exports.sum = require('./sum.cjs')(1, 2)`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-code-'))
  writeFileSync(join(folder, 'large.js.code'), SCRIPT)
  writeFileSync(join(folder, 'sum.cjs'), 'module.exports = (a, b) => a + b')
  writeFileSync(
    join(folder, 'large.cjs'),
    `require(${JSON.stringify(CODE_CACHE)}).runCached(__dirname + '/large.js.code', process.argv[2], { module, require })`,
  )
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a script runs under its own path, from source and from the cache', () => {
  const program = `
    const { greet, place, sum, trace } = require('./large.cjs')
    console.log(JSON.stringify([greet('Ada'), place, sum, trace()]))`
  const first = run(program)
  const [greeting, place, sum, trace] = JSON.parse(first)
  expect([greeting, place, sum]).toEqual(['Good day, Ada.', [join(folder, 'large.js.code'), folder], 3])
  expect(trace).toContain(`${join(folder, 'large.js.code')}:5:`)

  const { mtimeMs, mode } = statSync(cacheFile())
  expect(mode & 0o777).toBe(0o600)
  expect(run(program)).toBe(first)
  expect(statSync(cacheFile()).mtimeMs).toBe(mtimeMs)
})

test('each variant has its own cache, under any name', () => {
  for (const use of ['ask', 'retrieve', '../../x', '']) run(GREET, use)
  expect(cacheFiles()).toEqual(['large.js.code.ask', 'large.js.code.other', 'large.js.code.retrieve'])
})

test('a run that fails leaves no cache', () => {
  run(`${GREET}; process.exitCode = 1`)
  expect(cacheFiles()).toEqual([])
})

test('a script runs without a compile cache', () => {
  expect(run(GREET, 'ask', { NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('Good day, Ada.')
  expect(cacheFiles()).toEqual([])
})

test('an unusable cache is rewritten', () => {
  run(GREET)
  const made = readFileSync(cacheFile())
  // V8 checks only lengths and versions in its header: damaged code after it would crash or hang.
  const holes = [64, 128, made.length >> 1, made.length - 8].map((at) => Buffer.from(made).fill(0, at))
  for (const broken of [Buffer.alloc(0), Buffer.from('not this'), made.subarray(0, 100), ...holes]) {
    writeFileSync(cacheFile(), broken)
    expect(run(GREET)).toBe('Good day, Ada.')
    const rewritten = readFileSync(cacheFile())
    expect(rewritten.length).toBeGreaterThan(100)
    expect(rewritten.equals(broken)).toBe(false)
  }
})

test('a cache is extended once a day with functions that later runs compiled', () => {
  run(GREET)
  const yesterday = Date.now() / 1000 - 25 * 60 * 60
  utimesSync(cacheFile(), yesterday, yesterday)
  run(GREET)
  expect(statSync(cacheFile()).mtimeMs / 1000).toBeGreaterThan(yesterday + 3600)
})

test.skipIf(process.getuid === undefined)('a cache that other users could have written is ignored', () => {
  const other = SCRIPT.replace('Good day', 'Bad luck')
  writeFileSync(join(folder, 'large.js.code'), other)
  run(GREET)
  writeFileSync(join(folder, 'large.js.code'), SCRIPT)
  // V8 compares only the length of the source, so a forged cache would run.
  expect(run(GREET)).toBe('Bad luck, Ada.')
  chmodSync(cacheFile(), 0o622)
  expect(run(GREET)).toBe('Good day, Ada.')
})

test('a thread does not change the cache of the command', () => {
  const program = `
    const { Worker } = require('node:worker_threads')
    new Worker("process.chdir; require('node:module').enableCompileCache(); require('./large.cjs').greet('Ada')", { eval: true })`
  run(program)
  expect(cacheFiles()).toEqual([])
})

const GREET = `console.log(require('./large.cjs').greet('Ada'))`

function run(program: string, use = 'ask', env: Record<string, string> = {}): string {
  writeFileSync(join(folder, 'main.cjs'), `require('node:module').enableCompileCache(); ${program}`)
  const { stdout, stderr } = spawnSync(process.execPath, ['main.cjs', use], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 20_000,
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache'), ...env },
  })
  expect(stderr).toBe('')
  return stdout.trim()
}

function cacheFiles(): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.startsWith('cache') && name.includes('large.js.code.'))
    .map((name) => name.slice(name.lastIndexOf('large.js')))
    .toSorted()
}

function cacheFile(): string {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => name.includes('large.js.code.'))
  return join(folder, found ?? 'no cache')
}
