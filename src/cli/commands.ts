/** Lists all commands. The module of a command is loaded when it is called, which keeps the start fast. */

import type { Command } from './command.ts'

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

const MODULES = {
  ask: () => import('./commands/ask.ts'),
  indexFiles: () => import('./commands/index-files.ts'),
  retrieve: () => import('./commands/retrieve.ts'),
  logsList: () => import('./commands/logs-list.ts'),
  logsShow: () => import('./commands/logs-show.ts'),
  logsSessions: () => import('./commands/logs-sessions.ts'),
  logsStats: () => import('./commands/logs-stats.ts'),
  prompts: () => import('./commands/prompts.ts'),
  eval: () => import('./commands/eval.ts'),
  stores: () => import('./commands/stores.ts'),
  models: () => import('./commands/models.ts'),
  templates: () => import('./commands/templates.ts'),
  doctor: () => import('./commands/doctor.ts'),
  trust: () => import('./commands/trust.ts'),
}

function entry<Key extends string>(
  name: string,
  summary: string,
  module: () => Promise<{ readonly [Name in Key]: Command }>,
  key: Key,
): CommandEntry {
  return { name, summary, load: async () => (await module())[key] }
}

export const COMMANDS: readonly CommandEntry[] = [
  entry('ask', 'answer a question from documents', MODULES.ask, 'ask'),
  entry('index', 'add files to a store', MODULES.indexFiles, 'index'),
  entry('retrieve', 'search a store', MODULES.retrieve, 'retrieve'),
  entry('run', 'do a task with tools: read, change, run', MODULES.ask, 'runTask'),
  entry('chat', 'chat with a model that uses tools and asks before it acts', MODULES.ask, 'chat'),
  entry('compare', 'choose the better of two answers to a question', MODULES.ask, 'compare'),
  entry('logs list', 'list recorded turns, newest first', MODULES.logsList, 'logsList'),
  entry('logs show', 'show a turn: messages, events, spans', MODULES.logsShow, 'logsShow'),
  entry('logs search', 'find turns by words in the question or answer', MODULES.logsList, 'logsSearch'),
  entry('logs tail', 'show turns as they end', MODULES.logsList, 'logsTail'),
  entry('logs sessions', 'list sessions of this folder', MODULES.logsSessions, 'logsSessions'),
  entry('logs stats', 'count turns, tokens and cost', MODULES.logsStats, 'logsStats'),
  entry('logs export', 'write turns as JSON, one per line', MODULES.logsStats, 'logsExport'),
  entry('logs rate', 'rate an answer', MODULES.logsShow, 'logsRate'),
  entry('logs replay', 'show a recorded answer again', MODULES.logsShow, 'logsReplay'),
  entry('logs gc', 'remove old turns', MODULES.logsStats, 'logsGc'),
  entry('prompts list', 'list prompts, their versions and use', MODULES.prompts, 'promptsList'),
  entry('prompts show', 'show the versions of a prompt: use, cost, ratings, template', MODULES.prompts, 'promptsShow'),
  entry('prompts diff', 'compare two versions of a prompt', MODULES.prompts, 'promptsDiff'),
  entry('eval retrieval', 'measure search on a BEIR collection', MODULES.eval, 'evalRetrieval'),
  entry('eval answers', 'measure answers on a collection with gold answers', MODULES.eval, 'evalAnswers'),
  entry('stores list', 'list stores and what they hold', MODULES.stores, 'storesList'),
  entry('stores show', 'list the documents of a store', MODULES.stores, 'storesShow'),
  entry('stores remove', 'remove a store', MODULES.stores, 'storesRemove'),
  entry('models', 'list providers and models with prices; also: default, alias', MODULES.models, 'models'),
  entry('models default', 'show or set the model that answers when none is named', MODULES.models, 'modelsDefault'),
  entry('models alias', 'define another name for a model', MODULES.models, 'modelsAlias'),
  entry('keys set', 'save the key of a provider', MODULES.models, 'keysSet'),
  entry('keys list', 'list keys and where they come from', MODULES.models, 'keysList'),
  entry('keys remove', 'remove a saved key', MODULES.models, 'keysRemove'),
  entry('templates list', 'list prompt templates', MODULES.templates, 'templatesList'),
  entry('templates show', 'print a template', MODULES.templates, 'templatesShow'),
  entry('templates save', 'save a prompt under a name', MODULES.templates, 'templatesSave'),
  entry('doctor', 'check the installation', MODULES.doctor, 'doctor'),
  entry('trust', 'trust the configuration and instructions of this folder', MODULES.trust, 'trustFolder'),
  {
    name: 'completion',
    summary: 'print a script that completes commands in your shell',
    load: async () => (await import('./completion.ts')).completionOf(COMMANDS),
  },
]

/** Summaries of the command groups. */
const GROUPS: Readonly<Record<string, string>> = {
  eval: 'measure quality',
  keys: 'provider keys',
  logs: 'turns',
  prompts: 'prompt versions',
  stores: 'document stores',
  templates: 'prompt templates',
}

/** Returns each first word once, with the summary of its command, or the names in its group. */
export function commandLines(): readonly (readonly [name: string, about: string])[] {
  const groups = Map.groupBy(COMMANDS, ({ name }) => name.split(' ')[0] ?? name)
  return [...groups].map(([name, entries]) => {
    const own = entries.find((entry) => entry.name === name)
    if (own !== undefined) return [name, own.summary]
    const names = entries.map((entry) => entry.name.slice(name.length + 1)).join(', ')
    return [name, GROUPS[name] === undefined ? names : `${GROUPS[name]}: ${names}`]
  })
}

/** Names reserved for planned commands. */
export const PLANNED: readonly string[] = ['serve', 'mcp', 'worker']

/** Finds the command that the first two words, or the first, name; returns it with the remaining words. */
export function findCommand(
  words: readonly string[],
): { readonly entry: CommandEntry; readonly rest: readonly string[] } | undefined {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ')
    const entry = COMMANDS.find((candidate) => candidate.name === name)
    if (entry !== undefined) return { entry, rest: words.slice(length) }
  }
  return undefined
}
