/**
 * Assigns the pieces of streamed tool calls to their calls. OpenAI numbers its calls; other servers send 0 for all of them, or no number, and
 * distinguish calls by id, by name, or by their position in the list.
 */

import type { JsonObject } from '../../core/json.ts'
import type { Answer } from '../answer/answer.ts'
import { asObject, asString, objectsIn, parseObject } from '../wire/json.ts'

/** A piece of a tool call. */
export interface Piece {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly index: number | undefined
  /** The arguments in this piece. */
  readonly input: string
  /** Gemini's signature of the call, which is sent back. */
  readonly data: JsonObject | undefined
}

interface Call {
  readonly number: number
  /** The provider's number for the call, or its position in a list without numbers. */
  readonly place: string
  id: string | undefined
  name: string | undefined
  /** The arguments received so far. */
  arguments: string
  data: JsonObject | undefined
}

/** Name for a call without a name. No tool has this name, so the model receives an error. */
const NO_NAME = '_'

/** Adds pieces of tool calls to an answer. */
export function createCalls(answer: Answer): {
  /** Adds pieces that arrived in one event. */
  readonly add: (pieces: readonly Piece[]) => void
  /** Ends all calls, in the order in which they were begun. */
  readonly end: () => void
} {
  const calls: Call[] = []
  const byId = new Map<string, Call>()
  /** The latest call at each place. */
  const byPlace = new Map<string, Call>()
  let latest: Call | undefined

  function add(piece: Piece, place: string, isAlone: boolean): void {
    const before = continuedBy(piece, place, isAlone)
    if (before !== undefined && repeats(piece, before)) return
    const call = before ?? create(place)
    call.id ??= piece.id
    call.name ??= piece.name
    call.data ??= piece.data
    call.arguments += piece.input
    if (piece.id !== undefined) byId.set(piece.id, call)
    latest = call
    // The name may arrive after the first arguments, which are held back until then.
    if (answer.hasOpen(call.number)) answer.addInput(call.number, piece.input)
    else if (call.name !== undefined) begin(call, call.name)
  }

  function begin(call: Call, name: string): void {
    answer.startCall(call.number, call.id ?? '', name)
    answer.addInput(call.number, call.arguments)
  }

  function create(place: string): Call {
    const call: Call = { number: calls.length, place, id: undefined, name: undefined, arguments: '', data: undefined }
    calls.push(call)
    byPlace.set(place, call)
    return call
  }

  /** Returns the call that a piece continues; `undefined` when it begins a new one. */
  function continuedBy(piece: Piece, place: string, isAlone: boolean): Call | undefined {
    const { id, name, index } = piece
    const isNumbered = index !== undefined
    const isBare = id === undefined && name === undefined && !isNumbered
    const here = isBare && isAlone ? latest : byPlace.get(place)
    const known = id === undefined ? undefined : byId.get(id)
    const isElsewhere = isNumbered && known?.place !== place
    if (name === undefined) return isElsewhere && here?.id === undefined ? (here ?? known) : (known ?? here)
    if (id === undefined && !isNumbered) return undefined
    const call = known !== undefined && !isElsewhere ? known : here
    const isAnother = call !== known && id !== undefined && call?.id !== undefined
    return call === undefined || isAnother || !goesOn(piece, call) ? undefined : call
  }

  return {
    add: (pieces) =>
      pieces.forEach((piece, at) =>
        add(piece, piece.index === undefined ? `place ${at}` : `number ${piece.index}`, pieces.length === 1),
      ),
    end() {
      for (const call of calls.splice(0)) {
        if (!answer.hasOpen(call.number)) begin(call, call.name ?? NO_NAME)
        answer.endCall(call.number, call.data)
      }
    },
  }
}

/** Some servers repeat the name in each piece. New arguments after complete ones then belong to another call. */
function goesOn(piece: Piece, call: Call): boolean {
  if (call.name === undefined) return true
  if (call.name !== piece.name) return false
  return repeats(piece, call) || !piece.input.trimStart().startsWith('{') || parseObject(call.arguments) === undefined
}

/** Returns whether a piece repeats the whole call: some servers send it again after its pieces. */
function repeats(piece: Piece, call: Call): boolean {
  const isSame = piece.id !== undefined && piece.id === call.id && piece.name === call.name
  return isSame && piece.input === call.arguments && parseObject(piece.input) !== undefined
}

/** Returns the tool calls of a message or delta. The older `function_call` is one call without an id; servers in Go send an empty one. */
export function callsIn(content: JsonObject): readonly Piece[] {
  const calls = objectsIn(content['tool_calls'])
  const legacy = asObject(content['function_call'])
  if (calls.length > 0 || legacy === undefined || ((legacy['name'] ?? '') === '' && (legacy['arguments'] ?? '') === ''))
    return calls.map(toPiece)
  return [toPiece({ index: 0, function: legacy })]
}

/** Normalises one call: some servers send objects as arguments, numbers as ids and strings as numbers, and omit the `function` member. */
function toPiece(call: JsonObject): Piece {
  const { name, arguments: input } = asObject(call['function']) ?? call
  const { id, index } = call
  const number = typeof index === 'string' && index.trim() !== '' ? Number(index) : index
  const google = asObject(asObject(call['extra_content'])?.['google'])
  const thoughtSignature = asString(google?.['thought_signature'])
  return {
    id: said(typeof id === 'number' ? String(id) : id),
    name: said(name),
    index: typeof number === 'number' ? number : undefined,
    input: typeof input === 'string' ? input : (input ?? null) === null ? '' : JSON.stringify(input),
    data: thoughtSignature === undefined ? undefined : { google: { thoughtSignature } },
  }
}

function said(value: unknown): string | undefined {
  const text = asString(value)
  return text === undefined || text.trim() === '' ? undefined : text
}
