/**
 * Chat Completions: which call a piece of a streamed call belongs to. OpenAI numbers its calls; others give all of them the number 0, or none, and tell
 * them apart by id, by name, or by their place in the list. Where these do not agree the package guesses, and loses calls and arguments.
 */

import type { JsonObject } from '../../../core/json.ts'
import { asString, parseObject } from '../../wire/dialect.ts'

interface Call {
  readonly number: number
  /** The provider's number for it, or its place in a list without numbers. */
  readonly place: string
  id: string | undefined
  name: string | undefined
  /** As far as they have come. */
  arguments: string
}

/** What a piece says of its call. */
interface Piece {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly isNumbered: boolean
  readonly place: string
  readonly arguments: string
}

/** What providers are told in place of no name at all; the package would pass over the call, and nobody would be told. */
const NO_NAME = '_'

/** Gives each call of one answer a number of its own, which leaves nothing to guess. */
export class CallNumbers {
  readonly #calls: Call[] = []
  readonly #byId = new Map<string, Call>()
  /** The call that was begun last at each place. */
  readonly #byPlace = new Map<string, Call>()
  #latest: Call | undefined

  /**
   * Pieces that came together, each under the number of its call; id and name stand in its first one only.
   * @param pieces with arguments that are a string, or `null` for none.
   */
  number(pieces: readonly JsonObject[]): JsonObject[] {
    return pieces.flatMap((piece, at) => this.#number(piece, at, pieces.length === 1))
  }

  /** What calls without a name lack, when the answer is over. */
  nameless(): JsonObject[] {
    return this.#calls
      .filter(({ name }) => name === undefined)
      .map(({ number }) => ({ index: number, function: { name: NO_NAME, arguments: null } }))
  }

  #number({ id, index, function: called, ...rest }: JsonObject, at: number, isAlone: boolean): JsonObject[] {
    const { name, arguments: added, ...others } = called as JsonObject
    const isNumbered = typeof index === 'number'
    const piece: Piece = {
      id: said(id),
      name: said(name),
      isNumbered,
      place: isNumbered ? `number ${index}` : `place ${at}`,
      arguments: asString(added) ?? '',
    }
    const before = this.#continuedBy(piece, isAlone)
    if (before !== undefined && repeats(piece, before)) return []
    const call = before ?? this.#begin(piece.place)
    const head = {
      ...(call.id === undefined && call.name === undefined && piece.id !== undefined ? { id: piece.id } : {}),
      index: call.number,
    }
    const first = call.name === undefined && piece.name !== undefined ? { name: piece.name } : {}
    this.#note(call, piece)
    return [{ ...rest, ...head, function: { ...others, ...first, arguments: added ?? null } }]
  }

  /** The call that a piece goes on with; `undefined` when it begins one. */
  #continuedBy(piece: Piece, isAlone: boolean): Call | undefined {
    const { id, name, isNumbered, place } = piece
    const isBare = id === undefined && name === undefined && !isNumbered
    const here = isBare && isAlone ? this.#latest : this.#byPlace.get(place)
    const known = id === undefined ? undefined : this.#byId.get(id)
    const isElsewhere = isNumbered && known?.place !== place
    if (name === undefined) return isElsewhere && here?.id === undefined ? (here ?? known) : (known ?? here)
    if (id === undefined && !isNumbered) return undefined
    const call = known !== undefined && !isElsewhere ? known : here
    const isAnother = call !== known && id !== undefined && call?.id !== undefined
    return call === undefined || isAnother || !goesOn(piece, call) ? undefined : call
  }

  #begin(place: string): Call {
    const call: Call = { number: this.#calls.length, place, id: undefined, name: undefined, arguments: '' }
    this.#calls.push(call)
    this.#byPlace.set(place, call)
    return call
  }

  #note(call: Call, { id, name, arguments: added }: Piece): void {
    call.id ??= id
    call.name ??= name
    call.arguments += added
    if (id !== undefined) this.#byId.set(id, call)
    this.#latest = call
  }
}

/** Some servers repeat the name with each piece; arguments that begin anew after whole ones are those of another call. */
function goesOn(piece: Piece, call: Call): boolean {
  if (call.name === undefined) return true
  if (call.name !== piece.name) return false
  return repeats(piece, call) || !piece.arguments.trimStart().startsWith('{') || parseObject(call.arguments) === undefined
}

/** Some servers send the whole call once more after its pieces. */
function repeats(piece: Piece, call: Call): boolean {
  const isSame = piece.id !== undefined && piece.id === call.id && piece.name === call.name
  return isSame && piece.arguments === call.arguments && parseObject(piece.arguments) !== undefined
}

function said(value: unknown): string | undefined {
  const text = asString(value)
  return text === undefined || text.trim() === '' ? undefined : text
}
