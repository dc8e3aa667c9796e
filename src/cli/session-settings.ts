/**
 * Saves the options of a session (model, tools, documents) so that it can be continued with them. Options that grant permissions
 * (`--allow`, `--network`, `--sandbox off`) are not saved.
 */

import { resolve } from 'node:path'
import type { Json, JsonObject } from '../core/json.ts'
import type { QueryEvent } from '../core/event.ts'
import { openJournal } from '../app/journal.ts'
import type { ChatOptions } from './shared-options.ts'
import type { Io } from './io.ts'
import { EXTRACTIVE } from './model-choice.ts'
import { defined } from '../util/check.ts'

const FLAGS = ['safe', 'no-switch', 'fetch', 'no-mcp', 'thinking'] as const
const KEPT = [...FLAGS, 'fallback', 'deny', 'option', 'store', 'docs', 'system', 'max-cost'] as const

/** Returns the options to save. @param model reference of the model that answers, which may differ from the named model. */
export function settingsOf(options: ChatOptions, model: string): JsonObject {
  const kept = Object.fromEntries(KEPT.map((name) => [name, options[name]]))
  return { model, ...given(kept), ...(options.sandbox === 'required' ? { sandbox: 'required' } : {}) }
}

/** Merges the saved settings of a session into the options. The command line takes precedence; values of the wrong type are ignored. */
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

/** The settings of one question, a subset of those of a chat. */
export interface AskedWith {
  readonly store: string | undefined
  readonly docs: readonly string[]
  readonly system: string | undefined
  /** Settings of the model, each as after `-o`. */
  readonly option: readonly string[]
}

/** Reads the settings of a question from those of a session; values of the wrong type are ignored. */
export function askedWith({ store, docs, system, option }: JsonObject): AskedWith {
  return { store: textOf(store), docs: listOf(docs), system: textOf(system), option: listOf(option) }
}

/**
 * Passes events on and, when the turn has ended, saves its settings with the session. Other saved settings, such as the rules of a chat,
 * are kept. Journal failures are ignored here: the turn reports them.
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

/** Saves the settings of a turn that has ended; see `keepingSettings`. */
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
    // The turn has already reported the failure of the journal.
  }
}

/** Leaves out `undefined`, `false` and empty lists. */
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
