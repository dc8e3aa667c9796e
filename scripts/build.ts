/**
 * Builds dist/: the library as a few ES modules with types (dist/lib), and the command as a bundle that starts fast (dist/cli). Both include
 * the packages that they need.
 *
 *     npm run build
 */

import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { rolldown, type InputOptions, type Plugin } from 'rolldown'
import { minifySync } from 'rolldown/utils'
import { openOptional, reachableFrom } from './declarations.ts'
import { priceText } from '../src/providers/price-data.ts'
import { ROOT } from './files.ts'

const LIBRARY = join(ROOT, 'dist/lib')
const COMMAND = join(ROOT, 'dist/cli')

const MODULE_URL = /new URL\((['"])(\.{0,2}[^'"]*)\.ts\1,\s*import\.meta\.url\)/g

/** Renames worker files: `new URL('./search-worker.ts', import.meta.url)` becomes JavaScript in dist/. */
export function renameWorkers(code: string, rename: (specifier: string) => string = (specifier) => `${specifier}.js`): string {
  return code.replaceAll(
    MODULE_URL,
    (_match, quote: string, specifier: string) => `new URL(${quote}${rename(specifier)}${quote}, import.meta.url)`,
  )
}

/** Entries of the library: maps the file name in dist/lib to its source. */
const ENTRIES = { index: join(ROOT, 'src/index.ts'), testing: join(ROOT, 'src/testing.ts') }

interface Manifest {
  readonly engines: { readonly node: string }
  readonly peerDependencies: Readonly<Record<string, string>>
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
}

/** Optional packages that users install themselves. */
function isPeer(id: string): boolean {
  return Object.keys(manifest().peerDependencies).some((name) => id === name || id.startsWith(`${name}/`))
}

/** The oldest supported Node, which lacks `using`, for example. */
function oldestNode(): string {
  return `node${manifest().engines.node.replace(/^>=/, '')}`
}

/**
 * Inlines the code of a worker thread where its file is named. Bundlers include imported code, so a bundled program contains the thread and
 * needs no separate file.
 */
const threads: Plugin = {
  name: 'threads',
  resolveId: (id, importer) =>
    id.startsWith('thread:') ? `\0thread:${join(dirname(importer ?? ''), id.slice('thread:'.length))}` : null,
  load(id) {
    if (!id.startsWith('\0thread:')) return null
    return threadCode(id.slice('\0thread:'.length)).then((code) => `export const code = ${JSON.stringify(code)}`)
  },
  transform(code) {
    const named = code.replaceAll(
      MODULE_URL,
      (_match, quote: string, specifier: string) => `import(${quote}thread:${specifier}.ts${quote})`,
    )
    return named === code ? null : named
  },
}

/**
 * Leaves out two warnings of the bundler that are known and harmless. An import on demand of a module that is also imported statically: it
 * still saves time when cria runs from source. And `import.meta.resolve()` in unpdf, which CommonJS does not have: unpdf catches the error, as
 * it does when the optional package pdfjs-dist is missing.
 */
const unexpectedOnly: NonNullable<InputOptions['onLog']> = (level, log, report) => {
  if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') return
  if (log.code === 'EMPTY_IMPORT_META' && log.message.includes('node_modules/unpdf/')) return
  report(level, log)
}

/** Modules whose code is part of a worker's program. */
const inThreads = new Set<string>()

/** Returns the program of a worker thread as text, which the worker evaluates. */
async function threadCode(file: string): Promise<string> {
  const bundle = await rolldown({
    input: file,
    platform: 'node',
    external: isPeer,
    onLog: unexpectedOnly,
    transform: { target: oldestNode() },
  })
  const { output } = await bundle.generate({ format: 'cjs', codeSplitting: false, minify: WITHOUT_SPACE, keepNames: true })
  await bundle.close()
  const [program, ...more] = output
  if (more.length > 0) throw new Error(`${basename(file)} became ${output.length} files, but a thread needs a single file.`)
  for (const id of program.moduleIds) inThreads.add(id)
  return program.code
}

const WITHOUT_SPACE = { mangle: false, compress: false, codegen: { removeWhitespace: true } } as const

async function buildLibrary(): Promise<void> {
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', join(ROOT, 'tsconfig.build.json')], { stdio: 'inherit' })
  const kept = reachableFrom(LIBRARY, ['index.d.ts', 'testing.d.ts'])
  for (const path of globSync('**/*.d.ts', { cwd: LIBRARY })) {
    const file = join(LIBRARY, path)
    if (kept.has(path)) writeFileSync(file, openOptional(path, readFileSync(file, 'utf8')))
    else rmSync(file)
  }
  const always = await modulesOf(['index'])
  const bundle = await rolldown({
    input: ENTRIES,
    platform: 'node',
    external: isPeer,
    onLog: unexpectedOnly,
    plugins: [packedPrices, threads],
    transform: { target: oldestNode() },
  })
  const { output } = await bundle.write({
    dir: LIBRARY,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    keepNames: true,
    // Finding and linking a file takes time: code that every program loads is in one file.
    codeSplitting: { groups: [{ name: 'core', test: (id) => always.has(id) }] },
  })
  await bundle.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  for (const { fileName, code, moduleIds } of chunks) {
    // Minifies dependencies only: our code should be readable in debuggers and stack traces.
    const isOurs = moduleIds.some((id) => id.startsWith(join(ROOT, 'src')))
    writeFileSync(join(LIBRARY, fileName), isOurs ? inAscii(code) : minifySync(fileName, code, WITHOUT_SPACE).code)
  }
  writeFileSync(join(LIBRARY, 'LICENSES.txt'), licenses([...inThreads, ...chunks.flatMap(({ moduleIds }) => moduleIds)]))
}

/** Compresses the model prices, which are a fifth of all code as text. They are unpacked on first use. */
const packedPrices: Plugin = {
  name: 'packed prices',
  load(id) {
    if (id !== join(ROOT, 'src/providers/price-data.ts')) return null
    const packed = deflateRawSync(priceText(), { level: 9 }).toString('base64')
    return `export const priceText = () => process.getBuiltinModule('node:zlib').inflateRawSync(Buffer.from('${packed}', 'base64')).toString()`
  },
}

/** Makes every worker an entry. All chunks are in one folder, so the URL of a worker needs only its file name. */
const workers: Plugin = {
  name: 'workers',
  transform(code, id) {
    const renamed = renameWorkers(code, (specifier) => {
      const name = basename(specifier)
      this.emitFile({ type: 'chunk', id: join(dirname(id), `${specifier}.ts`), fileName: `${name}.js` })
      return `./${name}.js`
    })
    return renamed === code ? null : renamed
  },
}

/** Name of the chunk with the code that every answer needs. */
const ANSWER = 'answer'

/** Modules that `cria ask` loads in nearly every run, although they are imported on demand. */
const ON_THE_WAY = [
  'cli/run',
  'cli/commands/ask',
  'cli/ask',
  'stores/sqlite',
  'recorders/sqlite/recorder',
  'providers/extractive/model',
  'providers/exchange',
  'providers/prepare',
  'providers/wire/read-answer',
  'providers/wire/http-fetch',
  'providers/chat/encode',
  'providers/chat/decode',
  'providers/responses/encode',
  'providers/responses/decode',
  'providers/messages/encode',
  'providers/messages/decode',
  'providers/extractive/answer',
  'engine/verify',
]

/** Returns the ids of these modules and of all modules that they import statically. */
async function modulesOf(names: readonly string[]): Promise<Set<string>> {
  const input = Object.fromEntries(names.map((name) => [name.replaceAll('/', '-'), join(ROOT, `src/${name}.ts`)]))
  const bundle = await rolldown({ input, platform: 'node', external: isPeer, onLog: unexpectedOnly, plugins: [workers] })
  const { output } = await bundle.generate()
  await bundle.close()
  const chunks = new Map(output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file]] : [])))
  const reached = new Set<string>()
  const modules = new Set<string>()
  const follow = (fileName: string): void => {
    const chunk = chunks.get(fileName)
    if (chunk === undefined || reached.has(fileName)) return
    reached.add(fileName)
    for (const id of chunk.moduleIds) modules.add(id)
    chunk.imports.forEach(follow)
  }
  for (const chunk of chunks.values()) if (chunk.isEntry && chunk.name in input) follow(chunk.fileName)
  return modules
}

async function buildCommand(entry: string): Promise<void> {
  const always = await modulesOf(['cli/main'])
  const onTheWay = await modulesOf(ON_THE_WAY)
  const bundle = await rolldown({
    input: { main: entry, 'code-cache': join(ROOT, 'src/util/code-cache.ts') },
    platform: 'node',
    external: isPeer,
    onLog: unexpectedOnly,
    // Grouped modules may add exports to the entry.
    preserveEntrySignatures: 'allow-extension',
    plugins: [packedPrices, workers],
    transform: { target: oldestNode(), define: { 'import.meta.main': 'false' } },
  })
  const { output } = await bundle.write({
    dir: COMMAND,
    // Node loads CommonJS from the compile cache faster than it links ES modules.
    format: 'cjs',
    // A cached script cannot use `import()`; `require` also loads ES modules.
    dynamicImportInCjs: false,
    minify: WITHOUT_SPACE,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // One file is read faster than fifty. Code for `cria --help` stays in the entry.
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: ANSWER, test: (id) => onTheWay.has(id) && !always.has(id) }],
    },
  })
  await bundle.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  for (const { name, fileName, code } of chunks) {
    if (name === ANSWER) {
      writeFileSync(join(COMMAND, `${fileName}.code`), inAscii(code))
      writeFileSync(join(COMMAND, fileName), RUN_CACHED)
    } else {
      writeFileSync(join(COMMAND, fileName), inAscii(code))
    }
  }
  writeFileSync(join(COMMAND, 'package.json'), '{ "type": "commonjs" }\n')
  writeFileSync(join(COMMAND, 'cria.js'), LAUNCHER, { mode: 0o755 })
  writeFileSync(join(COMMAND, 'LICENSES.txt'), licenses(chunks.flatMap(({ moduleIds }) => moduleIds)))
}

/**
 * Escapes non-ASCII characters: Node reads ASCII-only text in half the time and memory. Escapes are equivalent in strings and regular
 * expressions, and `String.raw` is used only for regular expressions.
 */
export function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Replaces a large file. */
const RUN_CACHED = `'use strict'
require('./code-cache.js').runCached(__filename + '.code', process.argv[2] || '', { module, require })
`

/** Enables the compile cache before our first module is loaded; rejects a too old Node in syntax that it can parse. */
const LAUNCHER = `#!/usr/bin/env node
'use strict'
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write('cria needs Node 22.18 or newer, and this is ' + process.version + '.\\n')
  process.exitCode = 2
} else {
  require('node:module').enableCompileCache()
  // All output is written; exits without the clean-up of Node.
  void require('./main.js').main(process.argv.slice(2)).then((code) => process.exit(code))
}
`

/** Collects the licences of the bundled packages. */
function licenses(modules: readonly string[]): string {
  // The model prices are data of this package.
  const folders = new Set([join(ROOT, 'node_modules/@pydantic/genai-prices')])
  for (const id of modules) {
    const match = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)
    if (match !== null) folders.add(match[0])
  }
  const texts = [...folders].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
    const [file] = globSync(['LICEN[CS]E*', 'licen[cs]e*'], { cwd: folder }).toSorted()
    const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
    return `${String(name)} ${String(version)} (${String(license)})\n${text}`
  })
  return `These files contain code of these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n`)}`
}

async function build(): Promise<void> {
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
  await buildLibrary()
  await buildCommand(join(ROOT, 'src/cli/main.ts'))
}

if (import.meta.main) {
  const started = performance.now()
  await build()
  console.log(`dist/ built in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
