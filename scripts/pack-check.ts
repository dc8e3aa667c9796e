/**
 * Installs what `npm pack` makes of this project into an empty one and uses it there: the command, the library, its types, its threads.
 *
 *     npm run pack:check
 */

import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ROOT } from './files.ts'
import { listing, resultsOf } from './pack-results.ts'

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

const project = mkdtempSync(join(tmpdir(), 'cria-pack-'))
const home = join(project, 'home')

function run(command: string, args: readonly string[], options: Partial<ExecFileSyncOptionsWithStringEncoding> = {}): string {
  const env: NodeJS.ProcessEnv = {
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: process.env['HOME'],
    CRIA_HOME: home,
    OLLAMA_HOST: 'http://127.0.0.1:9',
    CRIA_MODEL: 'builtin/extractive',
  }
  return execFileSync(command, args, {
    cwd: project,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 300_000,
    ...options,
  })
}

function step(name: string, work: () => string): void {
  const started = performance.now()
  const note = work()
  console.log(`ok   ${name.padEnd(14)}${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${note}`)
}

function install(): string {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', project], { cwd: ROOT })) as [
    { filename: string; size: number; files: { path: string }[] },
  ]
  const stray = packed.files.filter(
    ({ path }) => !/^(dist\/|package\.json$|README\.md$|LICENSE$|CHANGELOG\.md$)/.test(path) || path.includes('.test.'),
  )
  if (stray.length > 0)
    throw new Error(`the package contains what does not belong there: ${stray.map(({ path }) => path).join(', ')}`)
  writeFileSync(join(project, 'package.json'), '{ "name": "somebody", "private": true, "type": "module" }\n')
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', join(project, packed.filename)])
  return `${(packed.size / 1024).toFixed(0)} kB, ${packed.files.length} files`
}

/** The command answers a question over a folder, without a key. */
function useCommand(): string {
  const cria = join(project, 'node_modules/.bin/cria')
  if (!run(cria, ['--help']).includes('cria ask')) throw new Error('`cria --help` does not mention `cria ask`')
  mkdirSync(join(project, 'docs'))
  writeFileSync(
    join(project, 'docs/llamas.md'),
    '# Llamas\n\nA young llama is called a cria. It weighs about ten kilograms at birth.\n',
  )
  const { answer } = JSON.parse(run(cria, ['ask', 'What is a young llama called?', '--docs', 'docs', '--json'])) as {
    answer: string
  }
  if (!answer.includes('cria')) throw new Error(`the answer does not name a cria: ${answer}`)
  return JSON.stringify(answer)
}

/** A bot whose documents are searched in a thread: the file of the thread has to be found where the library was installed. */
function useThread(): string {
  const script = `
    import { AsyncQueryBot, SqliteDocumentStore } from 'cria'
    const docstore = await SqliteDocumentStore.open({ path: 'thread.db' })
    await docstore.append({ source: 'llamas.md', text: 'A young llama is called a cria.' })
    const { content } = await new AsyncQueryBot({ docstore, recorder: false }).ask('What is a young llama called?')
    console.log(content)`
  const answer = run('node', ['--input-type=module', '--eval', script]).trim()
  if (!answer.includes('cria')) throw new Error(`the answer does not name a cria: ${answer}`)
  return JSON.stringify(answer)
}

/** Every entry can be imported, has types, and TypeScript accepts it under both ways of resolving. */
function useLibrary(): string {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
  const entries = Object.entries(exports).filter(([, target]) => typeof target !== 'string')
  const specifiers = entries.map(([path]) => join('cria', path))
  const source = specifiers.map((specifier, index) => `import * as entry${index} from '${specifier}'`).join('\n')
  writeFileSync(
    join(project, 'use.ts'),
    `${source}\nconsole.log([${specifiers.map((_, index) => `Object.keys(entry${index}).length`).join(', ')}].join(' '))\n`,
  )
  const names = run('node', ['use.ts']).trim()
  if (names.split(' ').includes('0')) throw new Error(`an entry exports nothing: ${specifiers.join(' ')} have ${names} names`)
  cpSync(join(ROOT, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'), { recursive: true })
  cpSync(join(ROOT, 'node_modules/undici-types'), join(project, 'node_modules/undici-types'), { recursive: true })
  const listed = run('node', ['--input-type=module', '--eval', listing(specifiers)])
  writeFileSync(join(project, 'results.ts'), resultsOf(specifiers, listed, join(project, 'node_modules/cria/dist/lib')))
  for (const resolution of ['nodenext', 'bundler']) {
    const flags = ['--strict', '--target', 'es2024', '--module', resolution === 'bundler' ? 'esnext' : 'nodenext']
    const output = ['--declaration', '--emitDeclarationOnly', '--outDir', 'types', '--types', 'node']
    run(join(ROOT, 'node_modules/.bin/tsc'), [...flags, '--moduleResolution', resolution, ...output, 'use.ts', 'results.ts'], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  }
  return `${specifiers.join(' ')}: ${names} names`
}

try {
  if (!existsSync(join(ROOT, 'src/cli/main.ts'))) {
    console.log('skipped: src/cli/main.ts does not exist yet, so there is no command to pack')
  } else {
    step('build', () => {
      run('node', [join(ROOT, 'scripts/build.ts')], { cwd: ROOT })
      return `${(statSync(join(ROOT, 'dist/cli/main.js')).size / 1024).toFixed(0)} kB in main.js`
    })
    step('install', install)
    step('command', useCommand)
    step('library', useLibrary)
    step('thread', useThread)
  }
} finally {
  rmSync(project, { recursive: true, force: true })
}
