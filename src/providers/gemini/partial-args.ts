/** Arguments of a call that Gemini streams piece by piece, each with its place as a JSON path: `$.recipe.steps[0]`. */

import type { Json, JsonObject } from '../../core/json.ts'
import { asString } from '../wire/json.ts'

type Container = Record<string, unknown> | unknown[]

export class PartialArgs {
  readonly #root: Record<string, unknown> = {}

  /** Sets the value at its place; a piece of a text is added to what is there. A path that cannot be followed is passed over. */
  add(piece: JsonObject): void {
    const keys = keysOf(asString(piece['jsonPath']) ?? '')
    const last = keys.pop()
    if (last === undefined) return
    let at: Container = this.#root
    for (const [index, key] of keys.entries()) {
      const next = read(at, key) ?? write(at, key, typeof (keys[index + 1] ?? last) === 'number' ? [] : {})
      if (typeof next !== 'object' || next === null) return
      at = next as Container
    }
    const value = valueOf(piece)
    const before = read(at, last)
    write(at, last, typeof before === 'string' && typeof value === 'string' ? before + value : value)
  }

  value(): JsonObject {
    return this.#root as JsonObject
  }
}

function valueOf(piece: JsonObject): Json {
  return piece['stringValue'] ?? piece['numberValue'] ?? piece['boolValue'] ?? null
}

function keysOf(path: string): (string | number)[] {
  return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[['"]([^'"]*)['"]\]/g)].map(([, name, index, quoted]) =>
    index === undefined ? (name ?? quoted ?? '') : Number(index),
  )
}

/** Own members only: a path may name a prototype. */
function read(container: Container, key: string | number): unknown {
  return Object.hasOwn(container, key) ? (container as Record<string | number, unknown>)[key] : undefined
}

/** Lists grow by one: a path may name any index. */
function write(container: Container, key: string | number, value: unknown): unknown {
  if (Array.isArray(container) && (typeof key !== 'number' || key > container.length)) return undefined
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true })
  return value
}
