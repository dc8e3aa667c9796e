/** Asks for JSON that fits a schema and prints it. Reads `--schema`: a file, a JSON Schema, or a short field list. */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BotOptions } from '../bots/options.ts'
import { StructuredBot } from '../bots/structured-bot.ts'
import { ConfigurationError, CriaError, isCriaError } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import { retrieved } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { JsonSchema } from '../core/schema.ts'
import type { ChunkFilter, DocumentStore } from '../core/store.ts'
import { defined, isRecord } from '../util/check.ts'
import { elapsed } from '../util/clock.ts'
import { visibleText } from '../util/terminal.ts'
import type { AskOptions } from './shared-options.ts'
import { EXIT, printFailure } from './failure.ts'
import { quoted } from './format.ts'
import { printJson } from './io.ts'
import type { Io } from './io.ts'
import { keepAsked } from './session-settings.ts'
import type { Turn } from './turn.ts'

export interface ObjectQuestion {
  readonly turn: Turn
  readonly messages: readonly Message[]
  readonly recipe: BotOptions
  readonly schema: JsonSchema
}

/** Asks for an object, or with `--multi` a list of objects. Resolves to the exit code: 1 when no attempt fits the schema. */
export async function askObject(
  { turn, messages, recipe, schema }: ObjectQuestion,
  { multi, json, 'no-log': isUnlogged }: AskOptions,
  io: Io,
): Promise<number> {
  const { prompt, models } = turn
  const bot = new StructuredBot({ ...recipe, streamTarget: 'none', schema: multi ? manyOf(schema) : schema })
  const startedAt = performance.now()
  try {
    const answer = await bot.ask([...messages], { signal: io.signal, ...defined({ sessionId: prompt.sessionId }) })
    const { content, attempts, finishReason, usage, costUsd, sessionId, turnId } = answer
    if (!isUnlogged) await keepAsked(sessionId, prompt.asked, models.model.ref, io)
    const object = multi ? (answer.object as { readonly items: unknown }).items : answer.object
    const latencyMs = elapsed(startedAt, performance.now())
    if (json)
      await printJson(io, { answer: content, object, attempts, finishReason, usage, costUsd, latencyMs, sessionId, turnId })
    else if (io.stdout.isTerminal) await io.stdout.write(`${visibleText(JSON.stringify(object, undefined, 2))}\n`)
    else await printJson(io, object)
    return EXIT.done
  } catch (thrown) {
    if (!isCriaError(thrown) || thrown.code !== 'invalid_response') throw thrown
    const { code, message, details = null } = thrown
    if (json) await printJson(io, { error: { code, message, details } })
    const hint = thrown.hint?.replace(/; `details\.attempts` holds.*$/, '; --json prints what each said.')
    await printFailure(new CriaError(code, message, defined({ hint })), io)
    return EXIT.failed
  }
}

/** Searches a store and returns the passages as messages for a model that answers with an object. */
export async function passagesFor(
  question: string,
  store: DocumentStore,
  { nResults: limit = 20, filter }: { readonly nResults?: number; readonly filter?: ChunkFilter },
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const chunks = await store.search(question, { limit, signal, ...defined({ filter }) })
  return chunks.map((chunk, at) => retrieved({ marker: String(at + 1), origin: 'docstore', store: store.name, chunk }))
}

const MAX_BYTES = 1_000_000

const TYPES: Readonly<Record<string, string>> = {
  str: 'string',
  string: 'string',
  text: 'string',
  int: 'integer',
  integer: 'integer',
  float: 'number',
  number: 'number',
  bool: 'boolean',
  boolean: 'boolean',
}

/**
 * @param word the path of a JSON Schema file, a JSON Schema, or fields: `name, age int, tags str[]`, each optionally followed by a colon and a
 *   description. A field without a type is a string. If a description contains commas, write each field on its own line.
 * @throws ConfigurationError for a file, schema or field that cannot be read.
 */
export function readSchema(word: string, cwd: string): JsonSchema {
  const text = word.trim()
  if (text.startsWith('{')) return parsed(text, '--schema')
  const path = resolve(cwd, text)
  if (!text.includes('\n') && existsSync(path)) {
    const status = statSync(path)
    if (!status.isFile() || status.size > MAX_BYTES)
      throw new ConfigurationError(`--schema ${text} is not a file of at most 1 MB.`)
    return parsed(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''), text)
  }
  if (/\.json$|\//.test(text)) throw new ConfigurationError(`--schema ${text.slice(0, 100)}: the file does not exist.`)
  return shortSchema(text)
}

/** Wraps a schema into an object whose `items` are a list of it, for `--multi`. */
export function manyOf(schema: JsonSchema): JsonSchema {
  return objectOf({ items: { type: 'array', items: schema } })
}

function shortSchema(text: string): JsonSchema {
  const fields = text
    .split(text.includes('\n') ? '\n' : ',')
    .map((field) => field.trim())
    .filter((field) => field !== '')
  const properties = new Map<string, JsonSchema>()
  for (const field of fields) {
    const [, name, type = 'str', list, meaning] = /^([A-Za-z_]\w*)(?:\s+([A-Za-z]+)(\[\])?)?\s*(?::\s*(.+))?$/.exec(field) ?? []
    const known = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
    if (name === undefined || known === undefined) {
      throw new ConfigurationError(`--schema: ${quoted(field)} is not a field.`, {
        hint: 'A field is a name, a type (str, int, float, bool, or one with []) and a description: "name, age int, tags str[], bio: one sentence".',
      })
    }
    if (properties.has(name)) throw new ConfigurationError(`--schema names the field ${name} twice.`)
    const one = { type: known }
    const description = meaning === undefined ? {} : { description: meaning }
    properties.set(name, list === undefined ? { ...one, ...description } : { type: 'array', items: one, ...description })
  }
  return objectOf(Object.fromEntries(properties))
}

function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

function parsed(text: string, where: string): JsonSchema {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (cause) {
    throw new ConfigurationError(`${where} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause })
  }
  if (isRecord(value) && ['type', 'properties', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', '$defs'].some((key) => key in value))
    return value
  throw new ConfigurationError(`${where} is not a JSON Schema: expected an object with "type" or "properties".`)
}
