/**
 * What a session remembers of how it was started, so that it goes on as it was: model, tools and documents. What grants something
 * (`--allow`, `--network`, `--sandbox off`) is said anew each time.
 */

import type { JsonObject } from '../../core/json.ts'
import type { ChatOptions } from './options.ts'

const FLAGS = ['safe', 'no-switch', 'fetch', 'no-mcp', 'thinking'] as const
const LISTS = ['fallback', 'deny'] as const

/** @param model reference of the model that answers, which may be another one than was named. */
export function settingsOf(options: ChatOptions, model: string): JsonObject {
  const { store, docs, sandbox } = options
  return {
    model,
    ...Object.fromEntries(FLAGS.filter((name) => options[name]).map((name) => [name, true])),
    ...Object.fromEntries(LISTS.filter((name) => options[name].length > 0).map((name) => [name, [...options[name]]])),
    ...(store === undefined ? {} : { store }),
    ...(docs.length === 0 ? {} : { docs: [...docs] }),
    ...(sandbox === 'required' ? { sandbox } : {}),
    ...(options['max-cost'] === undefined ? {} : { 'max-cost': options['max-cost'] }),
  }
}

/** The options of a session that goes on. What the command line says comes first; values of another kind are left out. */
export function restored(options: ChatOptions, settings: JsonObject): ChatOptions {
  const text = (name: string): string | undefined => {
    const value = settings[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const list = (name: string): readonly string[] => {
    const value = settings[name]
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
  }
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
    sandbox: options.sandbox ?? (text('sandbox') === 'required' ? 'required' : undefined),
    'max-cost': options['max-cost'] ?? (typeof most === 'number' ? most : undefined),
  }
}
