/** All commands. Each is loaded when it is called, so that a start costs no more than what it needs. */

import type { Command } from './command.ts'

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

function entry(name: string, summary: string, load: CommandEntry['load']): CommandEntry {
  return { name, summary, load }
}

export const COMMANDS: readonly CommandEntry[] = [
  entry('ask', 'answer a question from documents', async () => (await import('./commands/ask.ts')).ask),
  entry('index', 'add files to a store', async () => (await import('./commands/index-files.ts')).index),
  entry('retrieve', 'search a store', async () => (await import('./commands/retrieve.ts')).retrieve),
  entry('run', 'do a task with tools: read, change, run', async () => (await import('./commands/ask.ts')).runTask),
  entry(
    'chat',
    'talk with a model that uses tools and asks before it acts',
    async () => (await import('./commands/ask.ts')).chat,
  ),
  entry('compare', 'choose between two answers to one question', async () => (await import('./commands/ask.ts')).compare),
  entry('logs list', 'list recorded turns, newest first', async () => (await import('./commands/logs-list.ts')).logsList),
  entry('logs show', 'show a turn: messages, events, spans', async () => (await import('./commands/logs-show.ts')).logsShow),
  entry(
    'logs search',
    'find turns by words of question or answer',
    async () => (await import('./commands/logs-list.ts')).logsSearch,
  ),
  entry('logs tail', 'show turns as they end', async () => (await import('./commands/logs-list.ts')).logsTail),
  entry('logs sessions', 'list sessions of this folder', async () => (await import('./commands/logs-sessions.ts')).logsSessions),
  entry('logs stats', 'count turns, tokens and cost', async () => (await import('./commands/logs-stats.ts')).logsStats),
  entry('logs export', 'write turns as JSON, one a line', async () => (await import('./commands/logs-export.ts')).logsExport),
  entry('logs rate', 'rate an answer', async () => (await import('./commands/logs-show.ts')).logsRate),
  entry('logs replay', 'show an answer again as it came', async () => (await import('./commands/logs-show.ts')).logsReplay),
  entry('logs gc', 'remove old turns', async () => (await import('./commands/logs-gc.ts')).logsGc),
  entry('prompts list', 'list prompts, their versions and use', async () => (await import('./commands/prompts.ts')).promptsList),
  entry(
    'prompts show',
    'show the versions of a prompt: use, cost, ratings, template',
    async () => (await import('./commands/prompts.ts')).promptsShow,
  ),
  entry('prompts diff', 'compare two versions of a prompt', async () => (await import('./commands/prompts.ts')).promptsDiff),
  entry('eval retrieval', 'measure search on a BEIR collection', async () => (await import('./commands/eval.ts')).evalRetrieval),
  entry(
    'eval answers',
    'measure answers on a collection with gold answers',
    async () => (await import('./commands/eval.ts')).evalAnswers,
  ),
  entry('stores list', 'list stores, and what is in them', async () => (await import('./commands/stores.ts')).storesList),
  entry('stores show', 'list the documents of a store', async () => (await import('./commands/stores.ts')).storesShow),
  entry('stores remove', 'remove a store', async () => (await import('./commands/stores.ts')).storesRemove),
  entry(
    'models',
    'list providers and models with prices; also: default, alias',
    async () => (await import('./commands/models.ts')).models,
  ),
  entry(
    'models default',
    'show or set the model that answers when none is named',
    async () => (await import('./commands/models.ts')).modelsDefault,
  ),
  entry('models alias', 'give a model a name of your own', async () => (await import('./commands/models.ts')).modelsAlias),
  entry('keys set', 'keep the key of a provider', async () => (await import('./commands/keys.ts')).keysSet),
  entry('keys list', 'say which keys there are', async () => (await import('./commands/keys.ts')).keysList),
  entry('keys remove', 'forget a key', async () => (await import('./commands/keys.ts')).keysRemove),
  entry('templates list', 'list templates of prompts', async () => (await import('./commands/templates.ts')).templatesList),
  entry('templates show', 'print a template', async () => (await import('./commands/templates.ts')).templatesShow),
  entry('templates save', 'keep a prompt under a name', async () => (await import('./commands/templates.ts')).templatesSave),
  entry('doctor', 'check the installation', async () => (await import('./commands/doctor.ts')).doctor),
  entry('trust', 'let the configuration of this folder count', async () => (await import('./commands/trust.ts')).trustFolder),
  entry('completion', 'print a script that completes commands in your shell', async () =>
    (await import('./completion.ts')).completionOf(COMMANDS),
  ),
]

/** Summaries of the groups of commands. */
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
