/** All commands. Each is loaded when it is called, so that a start costs no more than what it needs. */

import type { Command } from './command.ts'

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

export const COMMANDS: readonly CommandEntry[] = [
  { name: 'ask', summary: 'answer a question from documents', load: async () => (await import('./commands/ask.ts')).ask },
  { name: 'index', summary: 'add files to a store', load: async () => (await import('./commands/index-files.ts')).index },
  { name: 'retrieve', summary: 'search a store', load: async () => (await import('./commands/retrieve.ts')).retrieve },
  {
    name: 'run',
    summary: 'do a task with tools: read, change, run',
    load: async () => (await import('./commands/run-task.ts')).runTask,
  },
  {
    name: 'chat',
    summary: 'talk with a model that uses tools and asks before it acts',
    load: async () => (await import('./commands/chat.ts')).chat,
  },
  {
    name: 'compare',
    summary: 'choose between two answers to one question',
    load: async () => (await import('./commands/compare.ts')).compare,
  },
  {
    name: 'logs list',
    summary: 'list recorded turns, newest first',
    load: async () => (await import('./commands/logs-list.ts')).logsList,
  },
  {
    name: 'logs show',
    summary: 'show a turn: messages, events, spans',
    load: async () => (await import('./commands/logs-show.ts')).logsShow,
  },
  {
    name: 'logs search',
    summary: 'find turns by words of question or answer',
    load: async () => (await import('./commands/logs-list.ts')).logsSearch,
  },
  {
    name: 'logs tail',
    summary: 'show turns as they end',
    load: async () => (await import('./commands/logs-tail.ts')).logsTail,
  },
  {
    name: 'logs sessions',
    summary: 'list sessions of this folder',
    load: async () => (await import('./commands/logs-sessions.ts')).logsSessions,
  },
  {
    name: 'logs stats',
    summary: 'count turns, tokens and cost',
    load: async () => (await import('./commands/logs-stats.ts')).logsStats,
  },
  {
    name: 'logs export',
    summary: 'write turns as JSON, one a line',
    load: async () => (await import('./commands/logs-export.ts')).logsExport,
  },
  { name: 'logs rate', summary: 'rate an answer', load: async () => (await import('./commands/logs-rate.ts')).logsRate },
  {
    name: 'logs replay',
    summary: 'show an answer again as it came',
    load: async () => (await import('./commands/logs-replay.ts')).logsReplay,
  },
  { name: 'logs gc', summary: 'remove old turns', load: async () => (await import('./commands/logs-gc.ts')).logsGc },
  {
    name: 'prompts list',
    summary: 'list prompts, their versions and use',
    load: async () => (await import('./commands/prompts.ts')).promptsList,
  },
  {
    name: 'prompts show',
    summary: 'show the versions of a prompt: use, cost, ratings, template',
    load: async () => (await import('./commands/prompts.ts')).promptsShow,
  },
  {
    name: 'prompts diff',
    summary: 'compare two versions of a prompt',
    load: async () => (await import('./commands/prompts.ts')).promptsDiff,
  },
  {
    name: 'eval retrieval',
    summary: 'measure search on a BEIR collection',
    load: async () => (await import('./commands/eval-retrieval.ts')).evalRetrieval,
  },
  {
    name: 'eval answers',
    summary: 'measure answers on a collection with gold answers',
    load: async () => (await import('./commands/eval-answers.ts')).evalAnswers,
  },
  {
    name: 'stores list',
    summary: 'list stores, and what is in them',
    load: async () => (await import('./commands/stores.ts')).storesList,
  },
  {
    name: 'stores show',
    summary: 'list the documents of a store',
    load: async () => (await import('./commands/stores.ts')).storesShow,
  },
  {
    name: 'stores remove',
    summary: 'remove a store',
    load: async () => (await import('./commands/stores.ts')).storesRemove,
  },
  {
    name: 'models',
    summary: 'list providers and models with prices; also: default, alias',
    load: async () => (await import('./commands/models.ts')).models,
  },
  {
    name: 'models default',
    summary: 'show or set the model that answers when none is named',
    load: async () => (await import('./commands/models.ts')).modelsDefault,
  },
  {
    name: 'models alias',
    summary: 'give a model a name of your own',
    load: async () => (await import('./commands/models.ts')).modelsAlias,
  },
  { name: 'keys set', summary: 'keep the key of a provider', load: async () => (await import('./commands/keys.ts')).keysSet },
  { name: 'keys list', summary: 'say which keys there are', load: async () => (await import('./commands/keys.ts')).keysList },
  { name: 'keys remove', summary: 'forget a key', load: async () => (await import('./commands/keys.ts')).keysRemove },
  {
    name: 'templates list',
    summary: 'list templates of prompts',
    load: async () => (await import('./commands/templates.ts')).templatesList,
  },
  {
    name: 'templates show',
    summary: 'print a template',
    load: async () => (await import('./commands/templates.ts')).templatesShow,
  },
  {
    name: 'templates save',
    summary: 'keep a prompt under a name',
    load: async () => (await import('./commands/templates.ts')).templatesSave,
  },
  { name: 'doctor', summary: 'check the installation', load: async () => (await import('./commands/doctor.ts')).doctor },
  {
    name: 'trust',
    summary: 'let the configuration of this folder count',
    load: async () => (await import('./commands/trust.ts')).trustFolder,
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands in your shell',
    load: async () => (await import('./commands/completion.ts')).completionOf(COMMANDS),
  },
]

/** What the groups of commands are about. */
const GROUPS: Readonly<Record<string, string>> = {
  eval: 'measure quality',
  keys: 'keys of providers',
  logs: 'turns',
  prompts: 'versions of prompts',
  stores: 'stores of documents',
  templates: 'templates of prompts',
}

/** Each first word once, with what it does or what its group holds. */
export function commandLines(): readonly (readonly [name: string, about: string])[] {
  const groups = Map.groupBy(COMMANDS, ({ name }) => name.split(' ')[0] ?? name)
  return [...groups].map(([name, entries]) => {
    const own = entries.find((entry) => entry.name === name)
    if (own !== undefined) return [name, own.summary]
    const names = entries.map((entry) => entry.name.slice(name.length + 1)).join(', ')
    return [name, GROUPS[name] === undefined ? names : `${GROUPS[name]}: ${names}`]
  })
}

/** Names that are kept for commands to come. */
export const PLANNED: readonly string[] = ['serve', 'mcp', 'worker']

/** The entry that the first words of a command line name, and the words that are left. */
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
