/**
 * Pieces of the same text that came together, made one before they are decoded: decoding costs by the event, not by the letter. Only what is
 * text and nothing else is taken together; the functions change `into`, which is nobody else's.
 */

import type { Json, JsonObject } from '../../core/json.ts'
import { asArray, asObject } from '../wire/dialect.ts'

/** Chat Completions: the one choice has nothing but a piece of text or of reasoning. */
export function absorbChat(into: JsonObject, next: JsonObject): boolean {
  const [to, from] = [onlyMember(into['choices']), onlyMember(next['choices'])]
  const [delta, added] = [asObject(to?.['delta']), asObject(from?.['delta'])]
  if (to === undefined || from === undefined || delta === undefined || added === undefined) return false
  if (isSaid(to['finish_reason']) || isSaid(from['finish_reason']) || isSaid(next['usage']) || isSaid(into['usage'])) return false
  if (to['index'] !== from['index'] || into['id'] !== next['id']) return false
  const kind = onlyText(delta)
  return kind !== undefined && kind === onlyText(added) && append(delta, kind, added)
}

const CHAT_TEXTS = new Set(['content', 'reasoning_content', 'reasoning'])

/** Which text a delta is made of, when it is made of nothing else. */
function onlyText(delta: JsonObject): string | undefined {
  let kind: string | undefined
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'role' || !isSaid(value)) continue
    if (!CHAT_TEXTS.has(name) || typeof value !== 'string' || kind !== undefined) return undefined
    kind = name
  }
  return kind
}

/** Responses: two deltas of one kind at one place. */
export function absorbResponses(into: JsonObject, next: JsonObject): boolean {
  const { type } = into
  if (typeof type !== 'string' || !type.endsWith('.delta') || type !== next['type']) return false
  if (['item_id', 'output_index', 'content_index', 'summary_index'].some((name) => into[name] !== next[name])) return false
  return append(into, 'delta', next)
}

const MESSAGES_TEXTS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
}

/** Messages: two deltas of one kind in one block. */
export function absorbMessages(into: JsonObject, next: JsonObject): boolean {
  if (into['type'] !== 'content_block_delta' || next['type'] !== 'content_block_delta' || into['index'] !== next['index'])
    return false
  const [delta, added] = [asObject(into['delta']), asObject(next['delta'])]
  const name =
    typeof delta?.['type'] === 'string' && delta['type'] === added?.['type'] ? MESSAGES_TEXTS[delta['type']] : undefined
  return delta !== undefined && added !== undefined && name !== undefined && append(delta, name, added)
}

/** Gemini: the one candidate has one part, and that has nothing but text. */
export function absorbGemini(into: JsonObject, next: JsonObject): boolean {
  const [to, from] = [onlyMember(into['candidates']), onlyMember(next['candidates'])]
  if (to === undefined || from === undefined || to['index'] !== from['index'] || into['responseId'] !== next['responseId'])
    return false
  if (!hasOnly(to, CANDIDATE) || !hasOnly(from, CANDIDATE) || !hasOnly(into, CHUNK) || !hasOnly(next, CHUNK)) return false
  const part = onlyMember(asObject(to['content'])?.['parts'])
  const added = onlyMember(asObject(from['content'])?.['parts'])
  if (part === undefined || added === undefined || !hasOnly(part, PART) || !hasOnly(added, PART)) return false
  if (part['thought'] !== added['thought'] || !append(part, 'text', added)) return false
  if (next['usageMetadata'] !== undefined) Reflect.set(into, 'usageMetadata', next['usageMetadata'])
  return true
}

const CHUNK = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId', 'createTime'])
const CANDIDATE = new Set(['content', 'index'])
const PART = new Set(['text', 'thought'])

function append(into: JsonObject, name: string, next: JsonObject): boolean {
  const [text, added] = [into[name], next[name]]
  if (typeof text !== 'string' || typeof added !== 'string') return false
  return Reflect.set(into, name, text + added)
}

function onlyMember(list: unknown): JsonObject | undefined {
  const members = asArray(list)
  return members.length === 1 ? asObject(members[0]) : undefined
}

function hasOnly(object: JsonObject, names: ReadonlySet<string>): boolean {
  for (const name in object) if (!names.has(name)) return false
  return true
}

function isSaid(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}
