/** Reads the imports of a TypeScript file from its syntax tree. */

import { dirname, join, normalize } from 'node:path/posix'
import { parseSync, Visitor, type ESTree } from 'rolldown/utils'
import { lineOf } from './files.ts'

/**
 * - `static`: evaluated with the importing file
 * - `type`: erased, no cost at run time
 * - `lazy`: `import()` with a literal
 * - `url`: `new URL('./x.ts', import.meta.url)`, the way to name a worker
 */
export type ImportKind = 'static' | 'type' | 'lazy' | 'url'

export interface Import {
  /** The specifier as written. */
  readonly specifier: string
  readonly kind: ImportKind
  readonly line: number
}

export interface Module {
  readonly imports: readonly Import[]
  /** Whether the file consists only of `export { … } from`. */
  readonly onlyReexports: boolean
  /** Lines of `export * from`. */
  readonly exportAllLines: readonly number[]
}

/** Resolves a relative specifier from `file`; `undefined` for packages and built-in modules. */
export function resolveRelative(file: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : undefined
}

export function readModule(path: string, text: string): Module {
  const { program, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new Error(`${path}: cannot be parsed: ${error.message}`)

  const imports: Import[] = []
  const exportAllLines: number[] = []
  const add = (node: ESTree.Node | null | undefined, kind: ImportKind): void => {
    if (node?.type !== 'Literal' || typeof node.value !== 'string') return
    if (kind === 'url' && !node.value.endsWith('.ts')) return
    // A URL is relative with or without the dot.
    const specifier = kind === 'url' && !node.value.startsWith('.') ? `./${node.value}` : node.value
    imports.push({ specifier, kind, line: lineOf(text, node.start) })
  }
  new Visitor({
    ImportDeclaration: (node) => add(node.source, node.importKind === 'type' ? 'type' : 'static'),
    ExportNamedDeclaration: (node) => add(node.source, node.exportKind === 'type' ? 'type' : 'static'),
    ExportAllDeclaration: (node) => {
      exportAllLines.push(lineOf(text, node.start))
      add(node.source, node.exportKind === 'type' ? 'type' : 'static')
    },
    ImportExpression: (node) => add(node.source, 'lazy'),
    TSImportType: (node) => add(node.source, 'type'),
    NewExpression: (node) => {
      if (isModuleUrl(node)) add(node.arguments[0], 'url')
    },
  }).visit(program)

  const onlyReexports = program.body.every((node) => node.type === 'ExportNamedDeclaration' && node.source !== null)
  return { imports, onlyReexports, exportAllLines }
}

function isModuleUrl(node: ESTree.NewExpression): boolean {
  if (node.callee.type !== 'Identifier' || node.callee.name !== 'URL') return false
  const base = node.arguments[1]
  return base?.type === 'MemberExpression' && base.object.type === 'MetaProperty'
}
