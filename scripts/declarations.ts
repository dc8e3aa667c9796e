/** Post-processes the declarations of the library that TypeScript has written. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor, type ESTree } from 'rolldown/utils'
import { readModule, resolveRelative } from './imports.ts'

/** Returns the paths of all declarations reachable from these, including these; relative to `folder`. */
export function reachableFrom(folder: string, entries: readonly string[]): ReadonlySet<string> {
  const reached = new Set(entries)
  for (const path of reached) {
    for (const { specifier } of readModule(path, readFileSync(join(folder, path), 'utf8')).imports) {
      const target = resolveRelative(path, specifier)?.replace(/(?:\.d)?\.[jt]s$/, '.d.ts')
      if (target !== undefined && existsSync(join(folder, target))) reached.add(target)
    }
  }
  return reached
}

/**
 * Adds `| undefined` to every optional property. The library treats an absent property like `undefined`, so programs with
 * `exactOptionalPropertyTypes` may pass on optional values.
 */
export function openOptional(path: string, text: string): string {
  const { program, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new Error(`${path}: cannot be parsed: ${error.message}`)
  const insertions: { readonly at: number; readonly length?: number; readonly text: string }[] = []
  const open = (node: ESTree.TSPropertySignature | ESTree.PropertyDefinition): void => {
    const type = node.typeAnnotation?.typeAnnotation
    if (node.optional !== true || type === undefined || type === null || allowsUndefined(type)) return
    const inBrackets = type.type === 'TSFunctionType' || type.type === 'TSConstructorType' || type.type === 'TSConditionalType'
    if (inBrackets) insertions.push({ at: type.start, text: '(' })
    insertions.push({ at: type.end, text: inBrackets ? ') | undefined' : ' | undefined' })
  }
  new Visitor({
    TSPropertySignature: open,
    PropertyDefinition: open,
    TSTypeReference({ typeName, typeArguments, start, end }) {
      const [whole] = typeArguments?.params ?? []
      if (typeName.type !== 'Identifier' || typeName.name !== 'Partial' || whole === undefined) return
      const name = text.slice(whole.start, whole.end)
      insertions.push({ at: start, length: end - start, text: `{ [Name in keyof (${name})]?: (${name})[Name] | undefined }` })
    },
  }).visit(program)
  let opened = text
  for (const { at, length = 0, text: inserted } of insertions.toSorted((a, b) => b.at - a.at)) {
    opened = opened.slice(0, at) + inserted + opened.slice(at + length)
  }
  return opened
}

function allowsUndefined(type: ESTree.TSType): boolean {
  if (type.type === 'TSUnionType') return type.types.some(allowsUndefined)
  return type.type === 'TSUndefinedKeyword' || type.type === 'TSUnknownKeyword' || type.type === 'TSAnyKeyword'
}
