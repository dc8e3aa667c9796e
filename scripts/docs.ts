/**
 * Type-checks and runs the code blocks of the documentation, and the examples, against the source.
 *
 *     npm run docs                    everything
 *     npm run docs -- docs/tools.md   only these pages and examples
 *
 * In README.md and the pages under docs/ the word after the language of a fenced block selects how it is checked:
 *
 *     ```ts run      type-checked and executed; `import … from 'cria'` means the source
 *     ```ts check    type-checked only: it needs a key or a server
 *     ```sh run      executed by bash, where `cria` means the source
 *
 * The blocks of a page run in order, in a folder with copies of README.md and docs/, with an empty home and no keys.
 * examples/*.ts run the same way, unless their first line is `// not run: reason`.
 */

import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { lineOf, projectFiles, ROOT } from './files.ts'

/** Time limit of a block, in milliseconds. */
const TIME_LIMIT = 60_000
/** Makes Node and tsc resolve `cria` to src/ (`exports` in package.json). */
const CONDITION = 'cria-source'

export interface Block {
  readonly line: number
  readonly language: 'ts' | 'sh'
  readonly execute: boolean
  readonly code: string
}

/** Returns the marked blocks of a page. @throws Error for an unknown mark, which would otherwise be ignored silently. */
export function readBlocks(file: string, text: string): Block[] {
  return [...text.matchAll(/^```([\w-]+)[ \t]+(\S[^\n]*)\n([\s\S]*?)^```[ \t]*$/gm)].map((match) => {
    const [, language, mark = '', code = ''] = match
    const line = lineOf(text, match.index)
    if (language === 'ts' && (mark === 'run' || mark === 'check')) return { line, language, execute: mark === 'run', code }
    if (language === 'sh' && mark === 'run') return { line, language, execute: true, code }
    throw new Error(`${file}:${line}: "${language} ${mark}": expected "ts run", "ts check", "sh run" or a language alone`)
  })
}

/** A command to execute, and the place of its code in the documentation. */
interface Job {
  readonly place: string
  readonly folder: string
  readonly command: readonly [string, ...string[]]
}

/** Creates a folder outside the repository that resembles a user's project: ESM, with `cria` and its packages installed. */
function createSandbox(): string {
  const sandbox = mkdtempSync(join(tmpdir(), 'cria-docs-'))
  const modules = join(sandbox, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  symlinkSync(ROOT, join(modules, 'cria'))
  writeFileSync(join(sandbox, 'package.json'), '{ "type": "module" }\n')
  const compilerOptions = { isolatedDeclarations: false, declaration: false, noUnusedLocals: false, types: ['node'] }
  writeFileSync(
    join(sandbox, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['pages/**/*.block.ts'] }),
  )
  const commands = join(sandbox, 'bin')
  mkdirSync(commands)
  writeFileSync(join(commands, 'cria'), `#!/bin/sh\nexec node "${join(ROOT, 'src/cli/main.ts')}" "$@"\n`, { mode: 0o755 })
  return sandbox
}

/** Creates the folder in which the blocks of a page run; the files of the blocks lie above it, so that blocks do not see them. */
function createFolder(sandbox: string, page: string): string {
  const folder = join(sandbox, 'pages', page.replaceAll(/[^\w-]+/g, '-'), 'project')
  mkdirSync(folder, { recursive: true })
  for (const name of ['README.md', 'docs']) {
    if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  }
  return folder
}

function jobsOfPage(sandbox: string, page: string): { jobs: Job[]; typed: boolean } {
  const blocks = readBlocks(page, readFileSync(join(ROOT, page), 'utf8'))
  if (blocks.length === 0) return { jobs: [], typed: false }
  const folder = createFolder(sandbox, page)
  const jobs: Job[] = []
  for (const { line, language, execute, code } of blocks) {
    const file = join(folder, '..', `line-${line}.block.${language}`)
    writeFileSync(file, code)
    if (execute)
      jobs.push({
        place: `${page}:${line}`,
        folder,
        command: language === 'ts' ? ['node', file] : ['bash', '-euo', 'pipefail', file],
      })
  }
  return { jobs, typed: blocks.some(({ language }) => language === 'ts') }
}

function jobOfExample(sandbox: string, path: string): Job | undefined {
  const reason = /^\/\/ not run: (.+)/.exec(readFileSync(join(ROOT, path), 'utf8'))?.[1]
  if (reason === undefined) return { place: path, folder: createFolder(sandbox, path), command: ['node', join(ROOT, path)] }
  console.log(`skipped ${path}: ${reason}`)
  return undefined
}

/** The environment of blocks: only what a program needs to start; no keys, proxies or user configuration. */
function environment(sandbox: string, folder: string): NodeJS.ProcessEnv {
  const home = join(folder, '..', 'home')
  mkdirSync(home, { recursive: true })
  return {
    PATH: [join(sandbox, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: home,
    CRIA_HOME: join(home, '.cria'),
    NODE_OPTIONS: `--conditions=${CONDITION}`,
    // Port 9 (discard) refuses connections, so that examples do not find an Ollama that runs on this machine.
    OLLAMA_HOST: 'http://127.0.0.1:9',
    NO_COLOR: '1',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
  }
}

/** Runs a job; returns its output if it failed, else `undefined`. */
function failureOf(sandbox: string, job: Job): string | undefined {
  const [command, ...args] = job.command
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd: job.folder,
    env: environment(sandbox, job.folder),
    encoding: 'utf8',
    input: '',
    timeout: TIME_LIMIT,
  })
  if (status === 0) return undefined
  const end = error?.message ?? (signal === null ? `exit code ${status}` : `ended by ${signal}`)
  return `${job.place}  ${end}\n${`${stdout}${stderr}`.trimEnd().replaceAll(/^/gm, '    ')}`
}

function main(wanted: readonly string[]): void {
  const files = projectFiles().filter((path) => wanted.length === 0 || wanted.includes(path))
  const pages = files.filter((path) => path === 'README.md' || /^docs\/.*\.md$/.test(path))
  const examples = files.filter((path) => /^examples\/[^/]+\.ts$/.test(path))
  const sandbox = createSandbox()
  try {
    const prepared = pages.map((page) => jobsOfPage(sandbox, page))
    const jobs = [
      ...prepared.flatMap(({ jobs: ofPage }) => ofPage),
      ...examples.map((path) => jobOfExample(sandbox, path)).filter((job) => job !== undefined),
    ]
    const failures: string[] = []
    if (prepared.some(({ typed }) => typed)) {
      const types = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', sandbox, '--pretty', 'false'], {
        cwd: sandbox,
        encoding: 'utf8',
      })
      // Removes the prefix of block files: the rest of the path names page and line.
      if (types.status !== 0) failures.push(types.stdout.replaceAll(/^pages\//gm, ''))
    }
    for (const job of jobs) {
      const failure = failureOf(sandbox, job)
      if (failure !== undefined) failures.push(failure)
    }
    for (const failure of failures) console.error(failure)
    console.log(`${pages.length} pages, ${examples.length} examples, ${jobs.length} executed, ${failures.length} failures`)
    if (failures.length > 0) process.exitCode = 1
  } finally {
    rmSync(sandbox, { recursive: true, force: true })
  }
}

if (import.meta.main) main(process.argv.slice(2))
