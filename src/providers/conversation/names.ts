/** Rewrites names of tools, ids of calls and texts so that providers accept them. */

import type { Json } from '../../core/json.ts'
import { sha256 } from '../../util/hash.ts'

/** Accepted by OpenAI, Anthropic and Google: the strictest of their rules combined. */
const ACCEPTED = /^[A-Za-z_][\w-]{0,63}$/
const MAX_LENGTH = 64

/** Maps names of tools to names that providers accept, and back. */
export class ToolNames {
  readonly #out = new Map<string, string>()
  readonly #back = new Map<string, string>()

  /** @param offered names of the tools of this request; they stay distinct. */
  constructor(offered: readonly string[]) {
    // Acceptable names go first, so that a rewritten name never collides with them.
    for (const name of offered) if (ACCEPTED.test(name)) this.#add(name, name)
    for (const name of offered) if (!ACCEPTED.test(name)) this.out(name)
  }

  /** Returns the name to send, also for tools that are no longer offered. */
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

  /** Returns our name for a received name. */
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
 * Returns the id of a call if it is accepted, else an id of at most 40 letters, digits, `_` and `-`. It is derived from the given id alone, so the
 * call, its result and every later request get the same one.
 */
export function acceptedId(id: string, accepted: RegExp): string {
  return accepted.test(id) ? id : `${id.replaceAll(/[^\w-]/g, '_').slice(0, 23)}_${sha256(id).slice(0, 16)}`
}

/** Replaces lone surrogates and NUL characters, which models may write and providers refuse. */
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
