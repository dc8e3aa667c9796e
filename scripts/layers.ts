/**
 * Checks which folders import which under `src/`, and that there are no circular imports.
 *
 *     npm run layers
 *
 * Type imports, `import()` and worker URLs count like any other import. Tests may import what they test.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isBuiltin } from 'node:module'
import { projectFiles, ROOT } from './files.ts'
import { NOT_INSTALLED } from './bundled.ts'
import { readModule, resolveRelative, type Import, type Module } from './imports.ts'

const STATIONS = ['prepare', 'model', 'tools', 'citations']
const ADAPTERS = ['providers', 'stores', 'recorders']
const BASE = ['core', 'text', 'util']

/** Maps a folder to the folders it may import, beside itself. As in docs/architecture.md. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  util: [],
  text: ['util'],
  prepare: BASE,
  model: BASE,
  tools: BASE,
  citations: BASE,
  providers: BASE,
  stores: BASE,
  recorders: BASE,
  testing: BASE,
  engine: [...STATIONS, ...BASE],
  app: ['engine', ...STATIONS, ...ADAPTERS, ...BASE],
  bots: ['app', 'engine', ...BASE],
  server: ['bots', 'app', 'engine', ...BASE],
  eval: ['core', 'util'],
  cli: ['server', 'bots', 'app', 'eval', 'engine', ...BASE],
}

/** Maps a folder to the only file of it that other folders may import. */
const PORTS: Readonly<Record<string, string>> = { eval: 'src/eval/port.ts' }

/** Entry points that are evaluated at start-up: from here packages may only be imported on first use. */
const START_PATHS = ['src/index.ts', 'src/cli/main.ts']
/** Packages that load in a few milliseconds and may be imported statically on a start path. */
const LIGHT_PACKAGES: ReadonlySet<string> = new Set(['@cfworker/json-schema'])

export interface Violation {
  readonly file: string
  readonly line: number
  readonly import: string
  readonly rule: string
}

export interface Project {
  /** Maps a path relative to the root to its imports; without tests. */
  readonly modules: ReadonlyMap<string, Module>
  /** Names of `dependencies` and `peerDependencies`. */
  readonly packages: ReadonlySet<string>
}

/** Returns the folder directly under `src/`; `undefined` for the entries `src/*.ts`. */
function layerOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/')
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

export function violations(project: Project): Violation[] {
  const found: Violation[] = []
  for (const [file, module] of project.modules) {
    const layer = layerOf(file)
    if (layer === undefined && !module.onlyReexports) {
      found.push({ file, line: 1, import: '', rule: 'an entry only names what it re-exports: `export { … } from`' })
    }
    if (layer !== undefined && MAY_IMPORT[layer] === undefined) {
      found.push({ file, line: 1, import: '', rule: `src/${layer} is not in the table of scripts/layers.ts` })
      continue
    }
    for (const line of module.exportAllLines) {
      found.push({ file, line, import: '', rule: '`export *` hides what is exported: list the names' })
    }
    for (const imported of module.imports) {
      const { specifier, line } = imported
      const rule = brokenRule(project, file, imported)
      if (rule !== undefined) found.push({ file, line, import: specifier, rule })
    }
  }
  return [...found, ...cycles(project), ...heavyStarts(project)]
}

function brokenRule(project: Project, file: string, { specifier, kind }: Import): string | undefined {
  const layer = layerOf(file)
  const target = resolveRelative(file, specifier)
  if (target === undefined) {
    if (layer === 'core') return 'core imports nothing, neither packages nor node: modules'
    if (isBuiltin(specifier)) return specifier.startsWith('node:') ? undefined : `write node:${specifier}`
    const name = packageOf(specifier)
    if (project.packages.has(name)) return undefined
    const bundled = NOT_INSTALLED[name]
    if (bundled === undefined) return 'not among the dependencies or peerDependencies of package.json'
    if (!file.startsWith(bundled.under)) return `${name} may be imported under ${bundled.under} only: it is part of that bundle`
    return bundled.because === 'types only' && kind !== 'type'
      ? `of ${name} only types may be imported: it is not installed`
      : undefined
  }
  if (isTest(target)) return 'shipped code imports no tests'
  if (!target.startsWith('src/')) return 'code under src/ imports nothing outside it'
  if (layer === undefined) return undefined
  const targetLayer = layerOf(target)
  if (targetLayer === undefined) return 'nothing imports an entry: import what it re-exports'
  if (targetLayer === layer) return undefined
  const allowed = MAY_IMPORT[layer] ?? []
  const port = PORTS[targetLayer] ?? target
  if (allowed.includes(targetLayer)) return target === port ? undefined : `other folders import ${port}, which lists the names`
  return allowed.length === 0 ? `${layer} imports nothing of ours` : `${layer} may import ${allowed.join(', ')}`
}

/** Returns every import that closes a cycle, with the cycle. */
function cycles({ modules }: Project): Violation[] {
  const found: Violation[] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string): void => {
    path.push(file)
    for (const { specifier, line } of modules.get(file)?.imports ?? []) {
      const target = resolveRelative(file, specifier)
      if (target === undefined || done.has(target) || !modules.has(target)) continue
      const start = path.indexOf(target)
      if (start === -1) visit(target)
      else found.push({ file, line, import: specifier, rule: `import cycle: ${[...path.slice(start), target].join(' → ')}` })
    }
    path.pop()
    done.add(file)
  }
  for (const file of modules.keys()) if (!done.has(file)) visit(file)
  return found
}

/** Returns the static imports of packages that are reachable from an entry point. */
function heavyStarts({ modules }: Project): Violation[] {
  const found: Violation[] = []
  const reached = new Set(START_PATHS.filter((path) => modules.has(path)))
  for (const file of reached) {
    for (const { specifier, kind, line } of modules.get(file)?.imports ?? []) {
      if (kind !== 'static') continue
      const target = resolveRelative(file, specifier)
      if (target !== undefined) {
        if (modules.has(target)) reached.add(target)
      } else if (!isBuiltin(specifier) && !LIGHT_PACKAGES.has(packageOf(specifier))) {
        found.push({ file, line, import: specifier, rule: 'loaded at every start: use `await import()` where it is needed' })
      }
    }
  }
  return found
}

export function readProject(root: string = ROOT): Project {
  const modules = new Map<string, Module>()
  for (const path of projectFiles(root)) {
    if (!/^src\/.*\.ts$/.test(path) || isTest(path)) continue
    modules.set(path, readModule(path, readFileSync(join(root, path), 'utf8')))
  }
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string> | undefined
  >
  const packages = new Set(Object.keys({ ...manifest['dependencies'], ...manifest['peerDependencies'] }))
  return { modules, packages }
}

if (import.meta.main) {
  const project = readProject()
  const found = violations(project)
  for (const { file, line, import: specifier, rule } of found) {
    console.error(`${file}:${line}  ${specifier === '' ? '' : `${specifier}  `}${rule}`)
  }
  console.log(`${project.modules.size} files, ${found.length} violations`)
  if (found.length > 0) process.exitCode = 1
}
