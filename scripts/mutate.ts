/**
 * Mutation testing: changes the code one token at a time and counts the mutants that no test detects.
 *
 *     npm run mutate                                    a sample of each critical folder
 *     npm run mutate -- src/engine --sample 40 --seed 7
 *
 * Each mutant is written into a copy of the project, never into the project itself. The tests of its folder run until the first failure;
 * if none fails, the tests of whole turns run.
 * The score is the share of detected mutants. A mutant that survives is printed as `file:line  before → after`.
 */

import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Visitor, parseSync } from 'rolldown/utils'
import { lineOf, projectFiles, ROOT } from './files.ts'

interface Mutant {
  readonly file: string
  readonly start: number
  readonly end: number
  readonly to: string
}

interface Node {
  readonly start: number
  readonly end: number
}

const ROOMS = ['src/engine', 'src/model', 'src/tools', 'src/bots', 'src/recorders']
/** Tests of whole turns in this process. Tests of the command line are too slow for a sample of mutants. */
const TURNS = ['src/engine', 'src/bots', 'src/app', 'test/scenarios/faults']
/** Time limit of the tests, as a multiple of their time without a mutant. Exceeding it counts as detected. */
const PATIENCE = 4
const OPERATORS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '&&': '||',
  '||': '&&',
  '??': '&&',
}

/** Returns the mutants of a file: swapped operators and booleans, fixed conditions, raised numbers, removed calls whose result is unused. */
export function mutantsOf(file: string, code: string): Mutant[] {
  const mutants: Mutant[] = []
  /** Offsets of literals in types, which no test can detect. */
  const types = new Set<number>()
  const add = ({ start, end }: Node, to: string): void => void mutants.push({ file, start, end, to })
  const operator = (node: Node & { left: Node; right: Node; operator: string }): void => {
    const to = OPERATORS[node.operator]
    // `a && b ?? c` is a syntax error.
    if (node.operator === '??') {
      const [left, right] = [node.left, node.right].map(({ start, end }) => code.slice(start, end))
      add(node, `((${left}) ${to} (${right}))`)
      return
    }
    const at = code.indexOf(node.operator, node.left.end)
    if (to !== undefined && at < node.right.start) add({ start: at, end: at + node.operator.length }, to)
  }
  const condition = ({ test }: { test: Node | null }): void => {
    if (test !== null) for (const to of ['true', 'false']) add(test, to)
  }
  new Visitor({
    BinaryExpression: operator,
    LogicalExpression: operator,
    IfStatement: condition,
    ConditionalExpression: condition,
    TSLiteralType({ literal }) {
      types.add(literal.start)
    },
    Literal(node) {
      if (types.has(node.start)) return
      if (typeof node.value === 'boolean') add(node, String(!node.value))
      else if (typeof node.value === 'number') add(node, `(${node.value} + 1)`)
    },
    ExpressionStatement({ expression, start, end }) {
      const called = expression.type === 'AwaitExpression' ? expression.argument : expression
      if (called.type === 'CallExpression') add({ start, end }, ';')
    },
  }).visit(parseSync(file, code).program)
  return mutants
}

/** Returns a generator of numbers in [0, 1), reproducible by seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns a random sample of the mutants of a folder of the copy, without repetition: the project may change meanwhile. */
function sampleOf(copy: string, files: readonly string[], size: number, seed: number): Mutant[] {
  const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(copy, file), 'utf8')))
  const random = randomFrom(seed)
  return all
    .map((mutant) => ({ mutant, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .slice(0, size)
    .map(({ mutant }) => mutant)
}

/** Resolves to the test files of some folders that fail in a copy of the project; `undefined` if they take longer than `timeout` milliseconds. */
function failuresOf(copy: string, folders: readonly string[], timeout?: number): Promise<readonly string[] | undefined> {
  const { promise, resolve } = Promise.withResolvers<readonly string[] | undefined>()
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const words = ['run', '--bail=1', '--reporter=json', `--outputFile=${report}`, ...folders]
  const child = spawn(process.execPath, [join(copy, 'node_modules/vitest/vitest.mjs'), ...words], {
    cwd: copy,
    stdio: 'ignore',
    detached: true,
  })
  /** Kills the workers too: an endless loop would otherwise keep one running. */
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The processes have ended.
    }
  }
  const timer = timeout === undefined ? undefined : setTimeout(kill, timeout)
  process.once('exit', kill)
  child.once('close', (code) => {
    clearTimeout(timer)
    process.off('exit', kill)
    if (code === 0) resolve([])
    else if (existsSync(report)) resolve(failedIn(JSON.parse(readFileSync(report, 'utf8')) as Report))
    else resolve(undefined)
  })
  return promise
}

/** Vitest's JSON report, as far as it is read here. */
interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string }[]
}

function failedIn({ testResults }: Report): readonly string[] | undefined {
  const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
  return files.length === 0 ? undefined : files
}

/** Resolves to whether tests detect the change that was made to a copy. A failing file must fail again by itself: a loaded machine fails tests, too. */
async function detects(copy: string, folders: readonly string[], timeout: number): Promise<boolean> {
  const failed = await failuresOf(copy, folders, timeout)
  if (failed === undefined) return true
  return failed.length > 0 && (await failuresOf(copy, failed, timeout))?.length !== 0
}

function copyOfProject(files: readonly string[]): string {
  const copy = mkdtempSync(join(tmpdir(), 'cria-mutants-'))
  for (const file of files) cpSync(join(ROOT, file), join(copy, file))
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

const shown = (code: string): string => code.replaceAll(/\s+/g, ' ').slice(0, 60)

async function measure(room: string, size: number, seed: number): Promise<void> {
  const files = projectFiles()
  const mutated = files.filter((file) => file.startsWith(`${room}/`) && /(?<!\.test)\.ts$/.test(file))
  if (mutated.length === 0) throw new Error(`${room} has no TypeScript files: expected a folder such as src/engine.`)
  const copy = copyOfProject(files)
  const remove = (): void => rmSync(copy, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const others = TURNS.filter((folder) => folder !== room)
    const begun = performance.now()
    const failed = await failuresOf(copy, [room, ...others])
    if (failed?.length !== 0) throw new Error(`Tests of ${room} fail without any mutant: ${String(failed)}`)
    const timeout = Math.ceil(PATIENCE * (performance.now() - begun))
    const mutants = sampleOf(copy, mutated, size, seed)
    let noticed = 0
    for (const [number, { file, start, end, to }] of mutants.entries()) {
      const path = join(copy, file)
      const code = readFileSync(path, 'utf8')
      writeFileSync(path, code.slice(0, start) + to + code.slice(end))
      const survives = !(await detects(copy, [room], timeout)) && !(await detects(copy, others, timeout))
      writeFileSync(path, code)
      if (survives) {
        process.stdout.write(`\r${file}:${lineOf(code, start)}  ${shown(code.slice(start, end))} → ${shown(to)}\n`)
      } else noticed++
      if (process.stdout.isTTY) process.stdout.write(`\r${number + 1} of ${mutants.length}`)
    }
    process.stdout.write(`${room}: ${noticed} of ${mutants.length} noticed (${Math.round((100 * noticed) / mutants.length)} %)\n`)
  } finally {
    process.off('exit', remove)
    remove()
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { sample: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
  })
  // Ends the tests, and removes the copy.
  process.once('SIGINT', () => process.exit(130))
  for (const room of positionals.length === 0 ? ROOMS : positionals)
    await measure(room.replace(/\/+$/, ''), Number(values.sample), Number(values.seed))
}
