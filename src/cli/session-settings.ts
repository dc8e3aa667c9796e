/**
 * Keeps with a session how it was started, so that it goes on as it was: model, tools and documents. What grants something
 * (`--allow`, `--network`, `--sandbox off`) is said anew each time.
 */

import { resolve } from 'node:path'
import type { Json, JsonObject } from '../core/json.ts'
import type { QueryEvent } from '../core/event.ts'
import { openJournal } from '../app/journal.ts'
import type { ChatOptions } from './chat/options.ts'
import type { Io } from './io.ts'
import { EXTRACTIVE } from './model-choice.ts'
import { defined } from '../util/check.ts'

const FLAGS = ['safe', 'no-switch', 'fetch', 'no-mcp', 'thinking'] as const
const KEPT = [...FLAGS, 'fallback', 'deny', 'option', 'store', 'docs', 'system', 'max-cost'] as const

/** @param model reference of the model that answers, which may be another one than was named. */
export function settingsOf(options: ChatOptions, model: string): JsonObject {
  const kept = Object.fromEntries(KEPT.map((name) => [name, options[name]]))
  return { model, ...given(kept), ...(options.sandbox === 'required' ? { sandbox: 'required' } : {}) }
}

/** The options of a session that goes on. What the command line says comes first; values of another kind are left out. */
export function restored(options: ChatOptions, settings: JsonObject): ChatOptions {
  const { deny, store, docs, system, option } = options
  const hasDocuments = store !== undefined || docs.length > 0
  const before = askedWith(settings)
  const most = settings['max-cost']
  return {
    ...options,
    ...Object.fromEntries(FLAGS.map((name) => [name, options[name] || settings[name] === true])),
    model: options.model ?? textOf(settings['model']),
    fallback: options.fallback.length > 0 ? options.fallback : listOf(settings['fallback']),
    deny: [...deny, ...listOf(settings['deny']).filter((rule) => !deny.includes(rule))],
    store: hasDocuments ? store : before.store,
    docs: hasDocuments ? docs : before.docs,
    system: system ?? before.system,
    option: [...before.option, ...option],
    sandbox: options.sandbox ?? (settings['sandbox'] === 'required' ? 'required' : undefined),
    'max-cost': options['max-cost'] ?? (typeof most === 'number' ? most : undefined),
  }
}

/** The settings of one question, which are fewer than those of a chat. */
export interface AskedWith {
  readonly store: string | undefined
  readonly docs: readonly string[]
  readonly system: string | undefined
  /** Settings of the model, each as after `-o`. */
  readonly option: readonly string[]
}

/** Reads the settings of a question from those of a session; values of another kind are left out. */
export function askedWith({ store, docs, system, option }: JsonObject): AskedWith {
  return { store: textOf(store), docs: listOf(docs), system: textOf(system), option: listOf(option) }
}

/**
 * Keeps for the session of a turn how it was asked, when the turn has ended. What the session knows beside that, such as the rules of a chat,
 * stays. A journal that cannot keep it is told about by the turn.
 *
 * @param model reference of the model that answers.
 */
export async function* keepingSettings(
  events: AsyncIterable<QueryEvent>,
  asked: AskedWith,
  model: string,
  io: Io,
): AsyncGenerator<QueryEvent> {
  let sessionId: string | undefined
  try {
    for await (const event of events) {
      if (event.parent === undefined) ({ sessionId } = event)
      yield event
    }
  } finally {
    if (sessionId !== undefined) await keepAsked(sessionId, asked, model, io)
  }
}

/** As `keepingSettings`, of a turn that has ended. */
export async function keepAsked(sessionId: string, asked: AskedWith, model: string, io: Io): Promise<void> {
  const settings = given({ ...asked, docs: asked.docs.map((path) => resolve(io.cwd, path)) })
  if (Object.keys(settings).length === 0) return
  try {
    const journal = await openJournal(io)
    const { store, docs, ...others } = (await journal.sessions({ sessionId, limit: 1 }))[0]?.settings ?? {}
    const hasDocuments = 'store' in settings || 'docs' in settings
    const before = hasDocuments ? others : { ...others, ...defined({ store, docs }) }
    await journal.keepSettings(sessionId, { ...before, ...(model === EXTRACTIVE ? {} : { model }), ...settings })
  } catch {
    // Said of the turn already.
  }
}

/** The values that say something: no `false`, no empty list. */
function given(values: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>): JsonObject {
  const isGiven = (value: unknown): boolean =>
    value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isGiven(value)))
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function listOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
