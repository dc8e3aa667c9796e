/** Names of tools, ids of calls and texts as providers take them. */

import type { Json } from '../../core/json.ts'
import { sha256 } from '../../util/hash.ts'

/** Accepted by OpenAI, Anthropic and Google: the strictest rule of each. */
const ACCEPTED = /^[A-Za-z_][\w-]{0,63}$/
const MAX_LENGTH = 64

/** Names of tools as a provider takes them, and back. */
export class ToolNames {
  readonly #out = new Map<string, string>()
  readonly #back = new Map<string, string>()

  /** @param offered names of the tools of this request; no two of them become one. */
  constructor(offered: readonly string[]) {
    // Names that need no change go first, so that a changed one never takes their place.
    for (const name of offered) if (ACCEPTED.test(name)) this.#add(name, name)
    for (const name of offered) if (!ACCEPTED.test(name)) this.out(name)
  }

  /** The name that is sent; also for calls of tools that are no longer offered. */
  out(name: string): string {
    const known = this.#out.get(name)
    if (known !== undefined) return known
    const letters = ACCEPTED.test(name) ? name : name.replaceAll(/[^\w-]/g, '_')
    const plain = (/^[A-Za-z_]/.test(letters) ? letters : `_${letters}`).slice(0, MAX_LENGTH)
    let free = plain
    for (let number = 2; this.#back.has(free); number++)
      free = `${plain.slice(0, MAX_LENGTH - 1 - String(number).length)}_${number}`
    return this.#add(name, free)
  }

  /** Our name for one that was received. */
  back(name: string): string {
    return this.#back.get(name) ?? name
  }

  #add(name: string, sent: string): string {
    this.#out.set(name, sent)
    this.#back.set(sent, name)
    return sent
  }
}

/**
 * The id of a call itself where it is accepted, else one of at most 40 letters, digits, `_` and `-` that is made of it alone: the same in the call
 * and in its result, and in every request.
 */
export function acceptedId(id: string, accepted: RegExp): string {
  return accepted.test(id) ? id : `${id.replaceAll(/[^\w-]/g, '_').slice(0, 23)}_${sha256(id).slice(0, 16)}`
}

/** Providers refuse half a surrogate pair and a NUL, which a model may have written. */
export function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

export function wellFormedJson(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map(wellFormedJson)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[wellFormed(name), wellFormedJson(member)]])),
  )
}
