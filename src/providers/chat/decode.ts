/**
 * Decodes answers of Chat Completions, and the variants of other servers: reasoning under two names, usage in a choice or in `x_groq`,
 * `function_call`, arguments as objects, a whole message instead of deltas, `[DONE]` without a finish reason, and errors inside a choice.
 */

import type { Json, JsonObject } from '../../core/json.ts'
import type { Answer } from '../answer/answer.ts'
import type { Decoder } from '../api.ts'
import { isErrorReport, ReportedError } from '../errors/reported.ts'
import { asArray, asObject, asString, asText, objectsIn, parseObject } from '../wire/json.ts'

export { readChatUsage as readUsage } from '../answer/usage.ts'

const THINKING = 'reasoning'

export function decode(answer: Answer): Decoder {
  const calls = createCalls(answer)
  /** Index of the choice that is read, the first to begin; the pieces of several choices arrive interleaved. */
  let ours: number | undefined

  function event(event: JsonObject): void {
    // Nearly every event is a text delta in a single choice.
    const choice = choiceIn(event['choices'])
    if (choice?.['error'] !== undefined) throw failedUpstream(choice['error'])
    if (isErrorReport(event)) throw new ReportedError(event)
    answer.response(event['id'], event['model'])
    noteUsage(event, choice)
    if (choice === undefined) return
    const delta = asObject(choice['delta']) ?? asObject(choice['message'])
    if (delta !== undefined) readDelta(delta)
    const reason = asString(choice['finish_reason'])
    if (reason === undefined || reason === '') return
    answer.rawReason = reason
    answer.complete = true
  }

  function choiceIn(choices: unknown): JsonObject | undefined {
    for (const choice of asArray(choices)) {
      const object = asObject(choice)
      if (object === undefined) continue
      const index = typeof object['index'] === 'number' ? object['index'] : 0
      ours ??= index
      if (index === ours) return object
    }
    return undefined
  }

  function noteUsage({ usage, x_groq: groq }: JsonObject, choice: JsonObject | undefined): void {
    if (choice?.['usage'] !== undefined) answer.usage(choice['usage'])
    if (groq !== undefined) answer.usage(asObject(groq)?.['usage'])
    if (usage !== undefined) answer.usage(usage)
  }

  function readDelta(delta: JsonObject): void {
    const thinking = said(delta['reasoning_content']) ?? said(delta['reasoning'])
    if (thinking !== undefined) answer.think(THINKING, thinking)
    readContent(delta['content'])
    const refusal = said(delta['refusal'])
    if (refusal !== undefined) {
      answer.refused = true
      answer.text(refusal)
    }
    if (delta['tool_calls'] !== undefined || delta['function_call'] !== undefined) calls.add(callsIn(delta))
  }

  /** Mistral streams lists of parts, thinking among them. */
  function readContent(content: unknown): void {
    if (typeof content === 'string') return answer.text(content)
    for (const part of objectsIn(content)) {
      if (part['type'] === 'thinking')
        for (const thought of objectsIn(part['thinking'])) answer.think(THINKING, asText(thought['text']))
      else answer.text(asText(part['text']))
    }
  }

  return {
    event,
    whole(body) {
      const choice = choiceIn(body['choices'])
      if (choice?.['error'] !== undefined) throw failedUpstream(choice['error'])
      answer.response(body['id'], body['model'])
      noteUsage(body, choice)
      const message = asObject(choice?.['message']) ?? asObject(choice?.['delta']) ?? {}
      readDelta({ ...message, tool_calls: undefined, function_call: undefined })
      for (const call of callsIn(message)) {
        const { id, name, input } = call
        answer.call(id ?? '', name ?? '', input, call.data)
      }
      answer.rawReason = asString(choice?.['finish_reason'])
    },
    end: calls.end,
  }
}

function failedUpstream(error: Json): ReportedError {
  return new ReportedError({ error: { message: 'The upstream of the provider failed.', ...asObject(error) } })
}

function said(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A piece of a tool call. */
interface Piece {
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

/**
 * Assigns the pieces of streamed tool calls to their calls. OpenAI numbers its calls; other servers send 0 for all of them, or no number, and
 * distinguish calls by id, by name, or by their position in the list.
 */
function createCalls(answer: Answer): {
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
function callsIn(content: JsonObject): readonly Piece[] {
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
    id: nonBlank(typeof id === 'number' ? String(id) : id),
    name: nonBlank(name),
    index: typeof number === 'number' ? number : undefined,
    input: typeof input === 'string' ? input : (input ?? null) === null ? '' : JSON.stringify(input),
    data: thoughtSignature === undefined ? undefined : { google: { thoughtSignature } },
  }
}

function nonBlank(value: unknown): string | undefined {
  const text = said(value)
  return text?.trim() === '' ? undefined : text
}
