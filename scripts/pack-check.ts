/**
 * Installs the output of `npm pack` into an empty project and checks the command, the library, its types, its worker threads, and
 * programs bundled with it.
 *
 *     npm run pack:check
 */

import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ROOT } from './files.ts'
import { bundlersIn, checkBundles } from './pack-bundles.ts'
import { listing, resultsOf } from './pack-results.ts'

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

/** Tools that only this check needs, installed when it runs. */
const TOOLS = {
  esbuild: '0.28.2',
  publint: '0.3.25',
  '@arethetypeswrong/cli': '0.18.5',
  'ts5.7': 'npm:typescript@5.7.3',
  'ts5.9': 'npm:typescript@5.9.3',
  'ts6.0': 'npm:typescript@6.0.3',
}

const project = mkdtempSync(join(tmpdir(), 'cria-pack-'))
const home = join(project, 'home')
const tools = mkdtempSync(join(tmpdir(), 'cria-pack-tools-'))

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

async function step(name: string, work: () => string | Promise<string>): Promise<void> {
  const started = performance.now()
  const note = await work()
  console.log(`ok   ${name.padEnd(14)}${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${note}`)
}

function install(): string {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', project], { cwd: ROOT })) as [
    { filename: string; size: number; files: { path: string }[] },
  ]
  const stray = packed.files.filter(
    ({ path }) =>
      !/^(dist\/|package\.json$|docs\/|examples\/|README\.md$|LICENSE$|CHANGELOG\.md$)/.test(path) || path.includes('.test.'),
  )
  if (stray.length > 0)
    throw new Error(`the package contains what does not belong there: ${stray.map(({ path }) => path).join(', ')}`)
  writeFileSync(join(project, 'package.json'), '{ "name": "application", "private": true, "type": "module" }\n')
  run('npm', [...INSTALL, '--omit=dev', join(project, packed.filename)])
  const [size = ''] = run('du', ['-sm', 'node_modules']).split('\t')
  const packages = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.')).length
  return `${(packed.size / 1024).toFixed(0)} kB, ${packed.files.length} files; installed ${size} MB in ${packages} packages`
}

const INSTALL = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

function installTools(): string {
  writeFileSync(join(tools, 'package.json'), JSON.stringify({ private: true, devDependencies: TOOLS }))
  run('npm', INSTALL, { cwd: tools })
  return Object.keys(TOOLS).join(', ')
}

/** Checks the manifest and the types with external tools, for every module resolution. */
function lint(): string {
  const packed = readdirSync(project).find((name) => name.endsWith('.tgz')) ?? ''
  run(join(tools, 'node_modules/.bin/publint'), ['run', '--strict', join(project, packed)])
  run(join(tools, 'node_modules/.bin/attw'), [join(project, packed), '--profile', 'esm-only', '--format', 'table-flipped'])
  return 'publint, attw'
}

/** Checks that the command answers a question over a folder without a key. */
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

/** Checks that a bot can search in a worker thread, whose file has to be found in the installed library. */
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

/** A program that passes on optional values, compiled with `exactOptionalPropertyTypes`. */
const UNDEFINED = `
  import { AsyncQueryBot, createModel, defineTool, MemoryDocumentStore, query, SimpleBot } from 'cria'
  const nothing = undefined
  export const bot = new SimpleBot({ systemPrompt: nothing, model: nothing, temperature: nothing, memory: nothing, recorder: nothing, budget: { tokens: nothing } })
  export const rag = new AsyncQueryBot({ docstore: new MemoryDocumentStore({ name: nothing }), retry: { maxRetries: nothing }, timeouts: { idle: nothing } })
  export const answer = () => rag.ask('?', { nResults: nothing, filter: nothing, signal: nothing })
  export const model = createModel('ollama/x', { baseURL: nothing, apiKey: nothing, headers: nothing, fetch: nothing })
  export const turn = () => query({ prompt: '?', tools: nothing, abortSignal: nothing, hasPermissionsToUseTool: nothing, hooks: nothing })
  export const tool = defineTool({ name: 'x', description: 'x', inputSchema: {}, timeout: nothing, isReadOnly: nothing, preview: nothing, call: () => '' })
`

/** Checks that every entry can be imported and that TypeScript accepts its types under both module resolutions. */
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
  writeFileSync(join(project, 'undefined.ts'), UNDEFINED)
  writeFileSync(join(project, 'results.ts'), resultsOf(specifiers, listed, join(project, 'node_modules/cria/dist/lib')))
  const compilers = { 'ts5.7': 'ts5.7', 'ts5.9': 'ts5.9', 'ts6.0': 'ts6.0', ts7: undefined }
  for (const [name, folder] of Object.entries(compilers)) {
    const tsc = folder === undefined ? join(ROOT, 'node_modules/.bin/tsc') : join(tools, 'node_modules', folder, 'bin/tsc')
    for (const resolution of ['nodenext', 'bundler']) {
      const module = resolution === 'bundler' ? 'esnext' : 'nodenext'
      const output = ['--declaration', '--emitDeclarationOnly', '--outDir', `types/${name}`, '--types', 'node']
      // TypeScript 5.7 cannot name all types that it infers for arguments of our functions.
      const files = ['use.ts', 'undefined.ts', ...(name === 'ts5.7' ? [] : ['results.ts'])]
      const flags = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--target', 'es2024']
      run('node', [tsc, ...flags, '--module', module, '--moduleResolution', resolution, ...output, ...files], {
        stdio: ['ignore', 'inherit', 'inherit'],
      })
    }
  }
  return `${specifiers.join(' ')}: ${names} names, on ${Object.keys(compilers).join(', ')}`
}

try {
  await step('build', () => {
    run('node', [join(ROOT, 'scripts/build.ts')], { cwd: ROOT })
    return `${(statSync(join(ROOT, 'dist/cli/main.js')).size / 1024).toFixed(0)} kB in main.js`
  })
  await step('install', install)
  await step('tools', installTools)
  await step('command', useCommand)
  await step('lint', lint)
  await step('library', useLibrary)
  await step('thread', useThread)
  await step('bundles', async () =>
    checkBundles(project, await bundlersIn(tools), (file, folder) => run('node', [file], { cwd: folder })),
  )
} finally {
  for (const folder of [project, tools]) rmSync(folder, { recursive: true, force: true })
}
