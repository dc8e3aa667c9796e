/**
 * Makes dist/: the library as plain ES modules with types (dist/lib), the command as a bundle that starts fast (dist/cli), and what both load of packages
 * that are not installed (dist/vendor).
 *
 *     npm run build
 */

import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { rolldown, type OutputChunk, type Plugin } from 'rolldown'
import { VENDORED } from './bundled.ts'
import { ROOT } from './files.ts'

const LIBRARY = join(ROOT, 'dist/lib')
const COMMAND = join(ROOT, 'dist/cli')
const VENDOR = join(ROOT, 'dist/vendor')

/** Large packages that load no faster from a bundle, and one that is only required at run time (docs/decisions/0002-runtime-and-toolchain.md). */
const NOT_BUNDLED = ['unpdf', '@pydantic/genai-prices', '@cfworker/json-schema']

const MODULE_URL = /new URL\((['"])(\.{0,2}[^'"]*)\.ts\1,\s*import\.meta\.url\)/g

/** A worker is named by its source, `new URL('./search-worker.ts', import.meta.url)`; in dist/ it is JavaScript. */
export function renameWorkers(code: string, rename: (specifier: string) => string = (specifier) => `${specifier}.js`): string {
  return code.replaceAll(
    MODULE_URL,
    (_match, quote: string, specifier: string) => `new URL(${quote}${rename(specifier)}${quote}, import.meta.url)`,
  )
}

function buildLibrary(): void {
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', join(ROOT, 'tsconfig.build.json')], { stdio: 'inherit' })
  for (const path of globSync('**/*.js', { cwd: LIBRARY })) {
    const file = join(LIBRARY, path)
    const code = readFileSync(file, 'utf8')
    const renamed = renameVendored(renameWorkers(code), '../'.repeat(path.split('/').length))
    if (renamed !== code) writeFileSync(file, renamed)
  }
}

/** `import('mammoth')` of the source loads a file of ours in dist/. @param root from the file to dist/, with a slash at its end. */
export function renameVendored(code: string, root: string): string {
  return code.replaceAll(/\bimport\((['"])([^'"]+)\1\)/g, (whole, quote: string, id: string) => {
    const vendored = VENDORED[id]
    return vendored === undefined ? whole : `import(${quote}${root}vendor/${vendored.name}.js${quote})`
  })
}

/** One file for each; they load nothing but Node's own modules. */
async function buildVendor(): Promise<void> {
  const chunks: OutputChunk[] = []
  for (const [id, { name, exports }] of Object.entries(VENDORED)) {
    const entry = `vendored:${name}`
    const bundle = await rolldown({
      input: { [name]: entry },
      platform: 'node',
      plugins: [
        {
          name: 'vendored',
          resolveId: (source) => (source === entry ? entry : null),
          load: (source) => (source === entry ? `export { ${exports.join(', ')} } from '${id}'` : null),
        },
      ],
    })
    const { output } = await bundle.write({ dir: VENDOR, minify: true, entryFileNames: '[name].js', codeSplitting: false })
    await bundle.close()
    chunks.push(...output.filter((file) => file.type === 'chunk'))
  }
  writeFileSync(join(VENDOR, 'LICENSES.txt'), licenses(chunks))
}

/** Makes an entry of every worker. All chunks lie in one folder, so the name of a worker's file is all that its URL needs. */
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

/** The file of what every answer needs. */
const ANSWER = 'answer'

/** What `cria ask` needs at nearly every start, over a store or of a provider, though it is imported when it is needed. */
const ON_THE_WAY = [
  'cli/run',
  'cli/commands/ask',
  'cli/ask',
  'stores/sqlite',
  'recorders/sqlite/recorder',
  'providers/extractive/model',
  'providers/exchange',
  'providers/prepare',
  'providers/wire/answer-source',
  'providers/wire/http-fetch',
  'providers/chat/encode',
  'providers/chat/decode',
  'providers/responses/encode',
  'providers/responses/decode',
  'providers/messages/encode',
  'providers/messages/decode',
]

/** The modules that these and what they import statically are made of; of ours alone. */
async function modulesOf(names: readonly string[], external: (id: string) => boolean): Promise<Set<string>> {
  const input = Object.fromEntries(names.map((name) => [name.replaceAll('/', '-'), join(ROOT, `src/${name}.ts`)]))
  const bundle = await rolldown({ input, platform: 'node', external, plugins: [workers] })
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
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string> | undefined
  >
  const external = [...NOT_BUNDLED, ...Object.keys(manifest['peerDependencies'] ?? {})]
  const isExternal = (id: string): boolean => external.some((name) => id === name || id.startsWith(`${name}/`))
  const always = await modulesOf(['cli/main'], isExternal)
  const onTheWay = await modulesOf(ON_THE_WAY, isExternal)
  const bundle = await rolldown({
    input: { main: entry, 'code-cache': join(ROOT, 'src/util/code-cache.ts') },
    platform: 'node',
    external: isExternal,
    // Grouped modules may leave names in the entry that nobody else asks for.
    preserveEntrySignatures: 'allow-extension',
    plugins: [workers],
    transform: { define: { 'import.meta.main': 'false' } },
  })
  const { output } = await bundle.write({
    dir: COMMAND,
    // Node loads CommonJS from the compile cache in less time than it takes to link ES modules.
    format: 'cjs',
    // A script out of the cache cannot import, and Node requires ES modules as well.
    dynamicImportInCjs: false,
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // One file is read faster than fifty. What `cria --help` needs is left out of it.
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
  writeFileSync(join(COMMAND, 'LICENSES.txt'), licenses(chunks))
}

/**
 * Node reads text of ASCII alone in half the time, and keeps it in half the room. The escape means the same in strings and patterns;
 * `String.raw` holds nothing but patterns.
 */
export function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Stands in the place of a large file. */
const RUN_CACHED = `'use strict'
require('./code-cache.js').runCached(__filename + '.code', process.argv[2] || '', { module, require })
`

/** The compile cache must be on before the first module of ours is loaded; a Node that is too old is told so in words it understands. */
const LAUNCHER = `#!/usr/bin/env node
'use strict'
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write('cria needs Node 22.18 or newer, and this is ' + process.version + '.\\n')
  process.exitCode = 2
} else {
  require('node:module').enableCompileCache()
  // Everything has been written: what Node would tidy up now ends with the process anyway.
  void require('./main.js').main(process.argv.slice(2)).then((code) => process.exit(code))
}
`

/** The licences of the packages whose code became part of the bundle. */
function licenses(chunks: readonly OutputChunk[]): string {
  const folders = new Set<string>()
  for (const id of chunks.flatMap((chunk) => chunk.moduleIds)) {
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
  buildLibrary()
  await buildVendor()
  const entry = join(ROOT, 'src/cli/main.ts')
  if (existsSync(entry)) await buildCommand(entry)
  else console.log('src/cli/main.ts does not exist yet: no command was built')
}

if (import.meta.main) {
  const started = performance.now()
  await build()
  console.log(`dist/ built in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
