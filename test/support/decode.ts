/** Decodes recorded events, with any cuts, and summarises the parts. */

import { Answer } from '../../src/providers/answer/answer.ts'
import { APIS } from '../../src/providers/create.ts'
import type { ApiName } from '../../src/providers/api.ts'
import { ToolNames } from '../../src/providers/conversation/names.ts'
import { toProviderError } from '../../src/providers/errors/errors.ts'
import { createEventStream } from '../../src/providers/wire/read-answer.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { ModelPart } from '../../src/core/model.ts'
import { CUTS } from './wire-server.ts'

export type Cut = keyof typeof CUTS
export const REF = 'test/model'

/** A recording: events as objects, or frames in their wire format. */
export type Frames = readonly (object | string)[]

/** Summarises a stream, one line per part; `ended` is the finish reason. */
export async function decodeStream(api: ApiName, frames: Frames, cut: string, thinkTags = false): Promise<string[]> {
  const { decode, readUsage } = await APIS[api]()
  let count = 0
  const context = {
    ref: REF,
    names: new ToolNames([]),
    takenIds: new Set(['taken']),
    createId: () => `own_${++count}`,
    thinkTags,
  }
  const answer = new Answer(context, readUsage)
  const decoder = decode(answer)
  const parts: ModelPart[] = []
  try {
    const stream = createEventStream(decoder, answer, 'test')
    const bytes = frames.map((frame) => (typeof frame === 'string' ? frame : `data: ${JSON.stringify(frame)}\n\n`)).join('')
    for (const piece of CUTS[cut]?.(bytes) ?? []) {
      stream.push(piece)
      parts.push(...answer.take())
    }
    stream.end()
    if (answer.ended || answer.rawReason !== undefined) decoder.end()
    return summaryOf([...parts, ...closed(answer)])
  } catch (thrown) {
    return [...summaryOf([...parts, ...answer.takeLast()]), errorLine(thrown)]
  }
}

/** Summarises a whole answer. */
export async function decodeWhole(api: ApiName, body: JsonObject): Promise<string[]> {
  const { decode, readUsage } = await APIS[api]()
  let count = 0
  const context = {
    ref: REF,
    names: new ToolNames([]),
    takenIds: new Set(['taken']),
    createId: () => `own_${++count}`,
    thinkTags: false,
  }
  const answer = new Answer(context, readUsage)
  answer.isWhole = true
  try {
    decode(answer).whole(body)
    return summaryOf(closed(answer))
  } catch (thrown) {
    return [...summaryOf(answer.takeLast()), errorLine(thrown)]
  }
}

function closed(answer: Answer): readonly ModelPart[] {
  const reason = answer.end()
  if (reason === 'interrupted') throw new Error('interrupted')
  answer.finish(reason)
  return answer.take()
}

function errorLine(thrown: unknown): string {
  const { code, message } = toProviderError(thrown, { provider: 'test', ref: REF, secrets: [] }, 'stream')
  return `error ${code} ${message}`
}

/** Merges neighbouring parts of one kind, whose number depends on the cuts. */
function summaryOf(parts: readonly ModelPart[]): string[] {
  const joined: ModelPart[] = []
  let usage: ModelPart | undefined
  for (const part of parts.slice(parts.findLastIndex(({ type }) => type === 'restart') + 1)) {
    const last = joined.at(-1)
    // Only the last usage report counts.
    if (part.type === 'usage') usage = part
    else if (
      (part.type === 'text' || part.type === 'thinking') &&
      last?.type === part.type &&
      !('providerData' in part) &&
      !('providerData' in last)
    ) {
      joined[joined.length - 1] = { type: part.type, text: last.text + part.text }
    } else if (part.type === 'tool-input' && last?.type === 'tool-input' && last.id === part.id) {
      joined[joined.length - 1] = { ...last, delta: last.delta + part.delta }
    } else joined.push(part)
  }
  return [...joined, ...(usage === undefined ? [] : [usage])].map(lineOf)
}

function lineOf(part: ModelPart): string {
  const data = 'providerData' in part && part.providerData !== undefined ? ` ${dataOf(part.providerData)}` : ''
  switch (part.type) {
    case 'text':
    case 'thinking':
      return `${part.type} ${JSON.stringify(part.text)}${data}`
    case 'thinking-end':
      return `thinking-end${data}`
    case 'tool-input':
      return `input ${part.id} ${part.name} ${JSON.stringify(part.delta)}`
    case 'tool-call':
      return `call ${part.id} ${part.name} ${JSON.stringify(part.input)}${part.invalid === undefined ? '' : ' invalid'}${data}`
    case 'opaque':
      return `opaque ${part.kind}${data}`
    case 'response':
      return `response ${part.id ?? '-'} ${part.model ?? '-'}`
    case 'usage': {
      const { inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = part.usage
      return `usage ${[inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens].map((count) => count ?? '-').join(' ')}`
    }
    case 'finish':
      return `finish ${part.reason}${part.rawReason === undefined ? '' : ` ${part.rawReason}`}`
    default:
      return part.type
  }
}

/** Removes the mark of the model, which is the same in all parts. */
function dataOf({ cria: _, ...data }: JsonObject): string {
  return JSON.stringify(data)
}
