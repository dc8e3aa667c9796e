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
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { Visitor, parseSync } from 'rolldown/utils'
import { ROOT } from './files.ts'

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
  const add = ({ start, end }: Node, to: string): void => void mutants.push({ file, start, end, to })
  const operator = (node: Node & { left: Node; right: Node; operator: string }): void => {
    const to = OPERATORS[node.operator]
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
    Literal(node) {
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

/** Returns a random sample of the mutants of a folder, without repetition. */
function sampleOf(room: string, size: number, seed: number): Mutant[] {
  const files = globSync(`${room}/**/*.ts`, { cwd: ROOT })
    .filter((file) => !file.endsWith('.test.ts'))
    .toSorted()
  const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(ROOT, file), 'utf8')))
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
  const child = spawn(
    process.execPath,
    [join(copy, 'node_modules/vitest/vitest.mjs'), 'run', '--bail=1', '--reporter=json', `--outputFile=${report}`, ...folders],
    {
      cwd: copy,
      stdio: 'ignore',
      ...(timeout === undefined ? {} : { timeout }),
      killSignal: 'SIGKILL',
    },
  )
  child.once('close', (code) => {
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

function copyOfProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'cria-mutants-'))
  for (const name of [
    'src',
    'test',
    'scripts',
    'docs',
    'examples',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
    'README.md',
  ])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

const shown = (code: string): string => code.replaceAll(/\s+/g, ' ').slice(0, 60)

async function measure(room: string, size: number, seed: number): Promise<void> {
  const copy = copyOfProject()
  try {
    const begun = performance.now()
    const failed = await failuresOf(copy, [room, ...TURNS])
    if (failed?.length !== 0) throw new Error(`Tests of ${room} fail without any mutant: ${String(failed)}`)
    const timeout = Math.ceil(PATIENCE * (performance.now() - begun))
    const mutants = sampleOf(room, size, seed)
    let noticed = 0
    for (const [number, { file, start, end, to }] of mutants.entries()) {
      const path = join(copy, file)
      const code = readFileSync(path, 'utf8')
      writeFileSync(path, code.slice(0, start) + to + code.slice(end))
      const survives = !(await detects(copy, [room], timeout)) && !(await detects(copy, TURNS, timeout))
      writeFileSync(path, code)
      if (survives) {
        const line = code.slice(0, start).split('\n').length
        process.stdout.write(`\r${file}:${line}  ${shown(code.slice(start, end))} → ${to}\n`)
      } else noticed++
      if (process.stdout.isTTY) process.stdout.write(`\r${number + 1} of ${mutants.length}`)
    }
    process.stdout.write(`${room}: ${noticed} of ${mutants.length} noticed (${Math.round((100 * noticed) / mutants.length)} %)\n`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

if (process.argv[1] !== undefined && relative(dirname(process.argv[1]), import.meta.filename) === 'mutate.ts') {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { sample: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
  })
  for (const room of positionals.length === 0 ? ROOMS : positionals)
    await measure(room, Number(values.sample), Number(values.seed))
}
