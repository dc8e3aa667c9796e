/** Asks for JSON that fits a schema, and prints it. */

import type { BotOptions } from '../bots/options.ts'
import { StructuredBot } from '../bots/structured-bot.ts'
import type { StructuredAnswer } from '../bots/structured-bot.ts'
import { CriaError, isCriaError } from '../core/error.ts'
import { retrieved } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { JsonSchema } from '../core/schema.ts'
import type { ChunkFilter, DocumentStore } from '../core/store.ts'
import { elapsed } from '../util/clock.ts'
import { visibleText } from '../util/terminal.ts'
import { EXIT } from './exit-codes.ts'
import { tellFailure } from './failure.ts'
import { printJson } from './io.ts'
import type { Io } from './io.ts'
import { manyOf } from './schema-option.ts'

export interface AskObjectOptions {
  readonly schema: JsonSchema
  /** Ask for a list of what the schema describes. */
  readonly multi: boolean
  /** The whole answer, not the object alone. */
  readonly json: boolean
  readonly sessionId: string | undefined
  /** Called with the session when the answer is there. */
  readonly answered: (sessionId: string) => Promise<void>
}

/** Resolves to the exit code: 1 when no attempt fitted the schema. */
export async function askObject(
  messages: readonly Message[],
  recipe: BotOptions,
  { schema, multi, json, sessionId, answered }: AskObjectOptions,
  io: Io,
): Promise<number> {
  const bot = new StructuredBot({ ...recipe, streamTarget: 'none', schema: multi ? manyOf(schema) : schema })
  const startedAt = performance.now()
  try {
    const answer = await bot.ask([...messages], { signal: io.signal, ...(sessionId === undefined ? {} : { sessionId }) })
    await answered(answer.sessionId)
    const object = multi ? (answer.object as { readonly items: unknown }).items : answer.object
    if (json) await printJson(io, wholeAnswer(answer, object, elapsed(startedAt, performance.now())))
    else if (io.stdout.isTerminal) await io.stdout.write(`${visibleText(JSON.stringify(object, undefined, 2))}\n`)
    else await printJson(io, object)
    return EXIT.done
  } catch (thrown) {
    if (!isCriaError(thrown) || thrown.code !== 'invalid_response') throw thrown
    const { message, hint, details } = thrown
    if (json) await printJson(io, { error: { code: thrown.code, message, details: details ?? null } })
    await tellFailure(new CriaError(thrown.code, message, hint === undefined ? {} : { hint: withoutCode(hint) }), io)
    return EXIT.failed
  }
}

function withoutCode(hint: string): string {
  return hint.replace(/; `details\.attempts` holds.*$/, '; --json prints what each said.')
}

function wholeAnswer(answer: StructuredAnswer<unknown>, object: unknown, latencyMs: number): object {
  const { content, attempts, finishReason, usage, costUsd, sessionId, turnId } = answer
  return { answer: content, object, attempts, finishReason, usage, costUsd, latencyMs, sessionId, turnId }
}

/** The passages of a store for a question, as data for a model that is to answer with an object. */
export async function passagesFor(
  question: string,
  store: DocumentStore,
  asked: { readonly nResults: number | undefined; readonly filter: ChunkFilter | undefined; readonly signal: AbortSignal },
): Promise<readonly Message[]> {
  const { nResults: limit = 20, filter, signal } = asked
  const chunks = await store.search(question, { limit, signal, ...(filter === undefined ? {} : { filter }) })
  return chunks.map((chunk, at) => retrieved({ marker: String(at + 1), origin: 'docstore', store: store.name, chunk }))
}
