/**
 * What a session remembers of how it was started, so that it goes on as it was: model, tools and documents. What grants something
 * (`--allow`, `--network`, `--sandbox off`) is said anew each time.
 */

import { resolve } from 'node:path'
import type { JsonObject } from '../core/json.ts'
import type { QueryEvent } from '../core/event.ts'
import { openJournal } from '../app/journal.ts'
import type { ChatOptions } from './chat/options.ts'
import type { Io } from './io.ts'
import { EXTRACTIVE } from './model-choice.ts'

const FLAGS = ['safe', 'no-switch', 'fetch', 'no-mcp', 'thinking'] as const
const LISTS = ['fallback', 'deny', 'option'] as const

/** @param model reference of the model that answers, which may be another one than was named. */
export function settingsOf(options: ChatOptions, model: string): JsonObject {
  const { store, docs, sandbox, system } = options
  return {
    model,
    ...Object.fromEntries(FLAGS.filter((name) => options[name]).map((name) => [name, true])),
    ...Object.fromEntries(LISTS.filter((name) => options[name].length > 0).map((name) => [name, [...options[name]]])),
    ...(store === undefined ? {} : { store }),
    ...(docs.length === 0 ? {} : { docs: [...docs] }),
    ...(system === undefined ? {} : { system }),
    ...(sandbox === 'required' ? { sandbox } : {}),
    ...(options['max-cost'] === undefined ? {} : { 'max-cost': options['max-cost'] }),
  }
}

/** The options of a session that goes on. What the command line says comes first; values of another kind are left out. */
export function restored(options: ChatOptions, settings: JsonObject): ChatOptions {
  const { text, list } = reader(settings)
  const hasDocuments = options.store !== undefined || options.docs.length > 0
  const most = settings['max-cost']
  return {
    ...options,
    ...Object.fromEntries(FLAGS.map((name) => [name, options[name] || settings[name] === true])),
    model: options.model ?? text('model'),
    fallback: options.fallback.length > 0 ? options.fallback : list('fallback'),
    deny: [...options.deny, ...list('deny').filter((rule) => !options.deny.includes(rule))],
    store: hasDocuments ? options.store : text('store'),
    docs: hasDocuments ? options.docs : list('docs'),
    system: options.system ?? text('system'),
    option: [...list('option'), ...options.option],
    sandbox: options.sandbox ?? (text('sandbox') === 'required' ? 'required' : undefined),
    'max-cost': options['max-cost'] ?? (typeof most === 'number' ? most : undefined),
  }
}

/** How one question was asked, which is less than a chat has. */
export interface AskedWith {
  readonly store: string | undefined
  readonly docs: readonly string[]
  readonly system: string | undefined
  /** Settings of the model, each as after `-o`. */
  readonly option: readonly string[]
}

/** What the settings of a session say of a question; values of another kind are left out. */
export function askedWith(settings: JsonObject): AskedWith {
  const { text, list } = reader(settings)
  return { store: text('store'), docs: list('docs'), system: text('system'), option: list('option') }
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
  const { store, docs, system, option } = asked
  const isOf = store !== undefined || docs.length > 0
  if (!isOf && system === undefined && option.length === 0) return
  const absolute = docs.map((path) => resolve(io.cwd, path))
  try {
    const journal = await openJournal(io)
    const before = (await journal.sessions({ sessionId, limit: 1 }))[0]?.settings ?? {}
    const rest = Object.entries(before).filter(([name]) => !isOf || (name !== 'store' && name !== 'docs'))
    await journal.keepSettings(sessionId, {
      ...Object.fromEntries(rest),
      ...(model === EXTRACTIVE ? {} : { model }),
      ...(store === undefined ? {} : { store }),
      ...(docs.length === 0 ? {} : { docs: absolute }),
      ...(system === undefined ? {} : { system }),
      ...(option.length === 0 ? {} : { option: [...option] }),
    })
  } catch {
    // Said of the turn already.
  }
}

function reader(settings: JsonObject): {
  readonly text: (name: string) => string | undefined
  readonly list: (name: string) => readonly string[]
} {
  return {
    text(name) {
      const value = settings[name]
      return typeof value === 'string' && value !== '' ? value : undefined
    },
    list(name) {
      const value = settings[name]
      return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
    },
  }
}
