/**
 * Runs all checks that must pass before a change is shared, fast checks first. Stops at the first failure.
 *
 *     npm run check
 *     npm run check -- types layers   only these steps
 */

import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { ROOT } from './files.ts'

interface Step {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** Advice printed when the step fails. */
  readonly remedy: string
  /** Show the output as it arrives, not only after a failure. */
  readonly live?: true
}

const STEPS: readonly Step[] = [
  { name: 'format', command: ['oxfmt', '--list-different'], remedy: 'these files are not formatted: `npm run format`' },
  { name: 'lint', command: ['oxlint'], remedy: '`npm run lint` fixes what can be fixed automatically' },
  { name: 'types', command: ['tsc', '--pretty'], remedy: '`npm run types` shows this again' },
  { name: 'layers', command: ['node', 'scripts/layers.ts'], remedy: 'scripts/layers.ts has the table of allowed imports' },
  {
    name: 'docstrings',
    command: ['node', 'scripts/docstrings.ts'],
    remedy: '`npm run docstrings -- --list` lists the exports without a docstring',
  },
  {
    name: 'traceability',
    command: ['node', 'scripts/traceability.ts', '--check'],
    remedy: '`npm run traceability` updates the page',
  },
  { name: 'links', command: ['node', 'scripts/links.ts'], remedy: 'a link in a Markdown file is broken' },
  { name: 'words', command: ['node', 'scripts/words.ts'], remedy: 'a file names the machine it was written on' },
  { name: 'docs', command: ['node', 'scripts/docs.ts'], remedy: '`npm run docs -- PAGE` runs the examples of one page' },
  { name: 'tests', command: ['vitest', 'run'], remedy: '`npx vitest run FILE` runs one file', live: true },
]

/** Turns colours on or off explicitly, because not every tool notices that its output goes to a file. */
const colours: NodeJS.ProcessEnv = process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }

function run(step: Step): boolean {
  const [command, ...args] = step.command
  const started = performance.now()
  if (step.live) console.log(`     ${step.name}`)
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd: ROOT,
    env: { ...process.env, PATH: [join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter), ...colours },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: step.live ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
  })
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6)
  const passed = status === 0
  if (!passed && !step.live) process.stdout.write(`${stdout ?? ''}${stderr ?? ''}\n`)
  console.log(`${passed ? 'ok  ' : 'FAIL'} ${step.name.padEnd(14)}${seconds} s`)
  if (!passed) {
    const end = error?.message ?? (signal === null ? `exit code ${status}` : `ended by ${signal}`)
    console.log(`\nThe check stopped at "${step.name}" (${end}): ${step.remedy}.`)
  }
  return passed
}

function main(wanted: readonly string[]): number {
  const unknown = wanted.find((name) => !STEPS.some((step) => step.name === name))
  if (unknown !== undefined) {
    console.error(`There is no step "${unknown}": expected ${STEPS.map(({ name }) => name).join(', ')}.`)
    return 2
  }
  const steps = STEPS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  return steps.every(run) ? 0 : 1
}

process.exitCode = main(process.argv.slice(2))
