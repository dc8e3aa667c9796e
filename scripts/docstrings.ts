/**
 * Counts the public exports and members without a docstring of their own, which show nothing when an editor hovers over them.
 *
 *     npm run docstrings             counts; fails where one is missing
 *     npm run docstrings -- --list   lists all of them with file and line
 *
 * A comment at the head of a file belongs to no declaration, so it does not count.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, type ESTree } from 'rolldown/utils'
import { lineOf, ROOT } from './files.ts'
import { resolveRelative } from './imports.ts'

/** Files whose exports are the public API. */
const ENTRIES = ['src/index.ts', 'src/testing.ts']

export interface Undocumented {
  readonly file: string
  readonly line: number
  /** Offset in the file where the docstring belongs, in UTF-16 units. */
  readonly start: number
  /** `Name` or `Name.member`. */
  readonly name: string
}

interface Counted {
  readonly exports: number
  readonly members: number
  readonly missing: readonly Undocumented[]
}

type Declaration = ESTree.Node & { readonly id?: { readonly name?: string } | null }

interface File {
  readonly text: string
  readonly program: ESTree.Program
  /** Offsets of the tokens that directly follow a `/** … *\/` comment. */
  readonly documented: ReadonlySet<number>
}

/** Reads a file of the project; tests pass their own function. */
export type ReadFile = (path: string) => string

function parse(path: string, text: string): File {
  const { program, comments } = parseSync(path, text)
  const documented = new Set<number>()
  for (const { type, value, end } of comments) {
    if (type !== 'Block' || !value.startsWith('*') || value.replaceAll(/[\s*]/g, '') === '') continue
    // A line comment for a tool may stand between a docstring and its declaration.
    const rest = /^(?:\s+|\/\/[^\n]*\n)*/.exec(text.slice(end))
    documented.add(end + (rest?.[0].length ?? 0))
  }
  return { text, program, documented }
}

/** Counts the public exports of `entries` and their members, and lists those without a docstring. */
export function countDocstrings(entries: readonly string[], read: ReadFile): Counted {
  const files = new Map<string, File>()
  const fileAt = (path: string): File => {
    const known = files.get(path) ?? parse(path, read(path))
    files.set(path, known)
    return known
  }
  const missing: Undocumented[] = []
  const seen = new Set<string>()
  let members = 0

  const visit = (path: string, name: string): void => {
    if (seen.has(`${path} ${name}`)) return
    seen.add(`${path} ${name}`)
    const file = fileAt(path)
    const declarations = file.program.body.filter((statement) => declares(statement, name))
    const [first] = declarations
    if (first === undefined) {
      const elsewhere = sourceOf(file.program, path, name)
      if (elsewhere === undefined) throw new Error(`${path}: ${name} is declared nowhere`)
      seen.delete(`${path} ${name}`)
      return visit(elsewhere.path, elsewhere.name)
    }
    const isDocumented = (node: ESTree.Node): boolean => file.documented.has(node.start)
    const report = (node: ESTree.Node, what: string): void => {
      missing.push({ file: path, line: lineOf(file.text, node.start), start: node.start, name: what })
    }
    if (!declarations.some(isDocumented)) report(first, name)
    for (const statement of declarations) {
      // A member shows the docstring of the interface that its class implements, or that its interface extends.
      const inherited = new Set(parentsOf(statement).flatMap((parent) => documentedMembers(path, parent)))
      // One docstring serves all overloads, and a getter with its setter.
      const byLabel = Map.groupBy(membersOf(statement), labelOf)
      for (const [label, same] of byLabel) {
        const [member] = same
        if (label === undefined || member === undefined) continue
        members++
        if (!inherited.has(label) && !same.some(isDocumented)) report(member, `${name}.${label}`)
      }
    }
  }

  /** Returns the names of members of a class or interface, seen from `path`, with a docstring of their own or inherited. */
  const documentedMembers = (path: string, name: string): string[] => {
    const file = fileAt(path)
    const declarations = file.program.body.filter((statement) => declares(statement, name))
    if (declarations.length > 0)
      return declarations.flatMap((statement) => [
        ...membersOf(statement).flatMap((member) => (file.documented.has(member.start) ? [labelOf(member) ?? ''] : [])),
        ...parentsOf(statement).flatMap((parent) => documentedMembers(path, parent)),
      ])
    const elsewhere = sourceOf(file.program, path, name)
    return elsewhere === undefined ? [] : documentedMembers(elsewhere.path, elsewhere.name)
  }

  for (const entry of entries) {
    for (const statement of fileAt(entry).program.body) {
      if (statement.type !== 'ExportNamedDeclaration' || statement.source === null) continue
      const path = resolveRelative(entry, statement.source.value)
      if (path === undefined) continue
      for (const { local } of statement.specifiers) visit(path, nameOf(local))
    }
  }
  return { exports: seen.size, members, missing }
}

function nameOf(node: ESTree.Node): string {
  return node.type === 'Literal' ? String(node.value) : (node as { readonly name: string }).name
}

/** Returns the source file and original name of a re-exported or imported name. */
function sourceOf(program: ESTree.Program, path: string, name: string): { path: string; name: string } | undefined {
  for (const statement of program.body) {
    if (statement.type === 'ExportNamedDeclaration' && statement.source !== null) {
      const found = statement.specifiers.find(({ exported }) => nameOf(exported) === name)
      const target = resolveRelative(path, statement.source.value)
      if (found !== undefined && target !== undefined) return { path: target, name: nameOf(found.local) }
    }
    if (statement.type === 'ImportDeclaration') {
      const found = statement.specifiers.find(({ local }) => local.name === name)
      const target = resolveRelative(path, statement.source.value)
      if (found?.type === 'ImportSpecifier' && target !== undefined) return { path: target, name: nameOf(found.imported) }
    }
  }
  return undefined
}

function declarationOf(statement: ESTree.Node): Declaration | undefined {
  if (statement.type === 'ExportNamedDeclaration') return statement.declaration ?? undefined
  return statement
}

function declares(statement: ESTree.Node, name: string): boolean {
  const declaration = declarationOf(statement)
  if (declaration === undefined) return false
  if (declaration.type !== 'VariableDeclaration') return declaration.id?.name === name
  return declaration.declarations.some(({ id }) => id.type === 'Identifier' && id.name === name)
}

/** Returns the members of a class, an interface or an object type, including unions and intersections. */
function membersOf(statement: ESTree.Node): readonly ESTree.Node[] {
  const declaration = declarationOf(statement)
  if (declaration?.type === 'ClassDeclaration') return declaration.body.body
  if (declaration?.type === 'TSInterfaceDeclaration') return declaration.body.body
  return declaration?.type === 'TSTypeAliasDeclaration' ? membersOfType(declaration.typeAnnotation) : []
}

/** Returns the names that a class or interface extends and implements. */
function parentsOf(statement: ESTree.Node): readonly string[] {
  const declaration = declarationOf(statement)
  const parents =
    declaration?.type === 'ClassDeclaration'
      ? [declaration.superClass, ...(declaration.implements ?? []).map(({ expression }) => expression)]
      : declaration?.type === 'TSInterfaceDeclaration'
        ? declaration.extends.map(({ expression }) => expression)
        : []
  return parents.flatMap((parent) => (parent?.type === 'Identifier' ? [parent.name] : []))
}

function membersOfType(type: ESTree.TSType): readonly ESTree.Node[] {
  if (type.type === 'TSTypeLiteral') return type.members
  if (type.type === 'TSUnionType' || type.type === 'TSIntersectionType') return type.types.flatMap(membersOfType)
  return type.type === 'TSParenthesizedType' ? membersOfType(type.typeAnnotation) : []
}

/** Returns the name of a member; `undefined` for private and inherited members, constructors, and discriminants of unions. */
function labelOf(node: ESTree.Node): string | undefined {
  const { accessibility, override, kind, key, computed, typeAnnotation } = node as {
    accessibility?: string
    override?: boolean
    kind?: string
    key?: ESTree.Node
    computed?: boolean
    typeAnnotation?: { readonly typeAnnotation?: ESTree.Node }
  }
  if (
    key === undefined ||
    computed === true ||
    key.type === 'PrivateIdentifier' ||
    accessibility === 'private' ||
    accessibility === 'protected'
  )
    return undefined
  // `new Name(` shows the docstring of the class.
  if (override === true || kind === 'constructor') return undefined
  const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : undefined
  if ((name === 'type' || name === 'role') && typeAnnotation?.typeAnnotation?.type === 'TSLiteralType') return undefined
  return name
}

if (import.meta.main) {
  const { exports, members, missing } = countDocstrings(ENTRIES, (path) => readFileSync(join(ROOT, path), 'utf8'))
  const listed = process.argv.includes('--list') || missing.length <= 40 ? missing : missing.slice(0, 40)
  for (const { file, line, name } of listed)
    console.error(`${file}:${line}  ${name} shows nothing on hover: write a docstring right before it`)
  console.log(`${exports} exports, ${members} members, ${missing.length} without a docstring`)
  if (missing.length > 0) process.exitCode = 1
}
