/** Does a task with the built-in tools, with nobody to ask. */

import { builtinTools } from '../app/builtin-tools.ts'
import type { LoadedConfig } from '../app/config.ts'
import { openJournal } from '../app/journal.ts'
import { query } from '../app/query.ts'
import type { QueryOptions } from '../app/query.ts'
import { openStore } from '../app/stores.ts'
import { ConfigurationError } from '../core/error.ts'
import type { DocumentStore } from '../core/store.ts'
import type { Tool } from '../core/tool.ts'
import { checkPrices } from '../engine/budget.ts'
import { nearest } from '../util/nearest.ts'
import { showTurn } from './answer-view.ts'
import type { AnswerFormat } from './answer-view.ts'
import { EXIT } from './exit-codes.ts'
import type { Io } from './io.ts'
import { budgetOf, EXTRACTIVE, openModels } from './model-choice.ts'
import type { ModelChoice } from './model-choice.ts'
import { prepareStore, readConfig } from './prepare-store.ts'
import { readText } from './read-text.ts'
import { Deeds } from './deeds.ts'
import { shownDeeds, summary } from './deeds-view.ts'
import { taskPrompt } from './task-prompt.ts'

export interface RunTaskOptions {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly safe: boolean
  readonly 'max-steps': number | undefined
  readonly fetch: boolean
  readonly store: string | undefined
  readonly docs: readonly string[]
  readonly model: string | undefined
  readonly fallback: readonly string[]
  readonly 'no-switch': boolean
  readonly thinking: boolean
  readonly 'show-thinking': boolean
  readonly session: string | undefined
  readonly 'max-cost': number | undefined
  readonly 'no-log': boolean
  readonly json: boolean
  readonly events: boolean
}

export async function runTaskWithTools(word: string, options: RunTaskOptions, io: Io): Promise<number> {
  if (options.json && options.events) throw new ConfigurationError('--json and --events exclude each other.')
  if (options.session !== undefined && options['no-log']) {
    throw new ConfigurationError('--session and --no-log exclude each other: a session is kept in the journal.')
  }
  const task = await readText(word, 'task', io)
  if (task.trim() === '') throw new ConfigurationError('The task is empty: say what is to be done.')

  const loaded = await readConfig(io)
  const models = await openModels(options, loaded, io)
  checkTools(models)
  const budget = budgetOf(options, loaded)
  checkPrices(budget, [models.model, ...models.fallbackModels])
  const choice = await prepareStore(options, loaded, io)
  const store = choice === undefined ? undefined : await openStore(choice)
  try {
    const tools = toolsFor(store, options, loaded, io)
    checkRules([...options.allow, ...options.deny], tools)
    const deeds = new Deeds()
    const events = query({
      ...models,
      ...(await recipe(options, loaded, io)),
      prompt: task,
      system: taskPrompt(),
      tools,
      context: { project: true, recentFiles: true, gitStatus: true, cwd: io.cwd },
      budget,
      abortSignal: io.signal,
      bot: { kind: 'AgentBot', name: 'run' },
      operation: 'run',
    })
    const format: AnswerFormat = options.json ? 'json' : options.events ? 'events' : 'text'
    const code = await showTurn(shownDeeds(events, deeds, { io, isText: format === 'text' }), io, {
      format,
      showThinking: options['show-thinking'],
      more: () => deeds.toJson(),
    })
    await io.stderr.write(summary(deeds))
    // A model that asks for the same again and again is ended; what it lacked was permission.
    const gaveUp = code === EXIT.done || deeds.errorCode === 'tool_failure'
    if (gaveUp && deeds.wasHeldBack) return EXIT.permission
    if (code !== EXIT.done) return code
    return deeds.finishReason === 'max-steps' ? EXIT.failed : EXIT.done
  } finally {
    await store?.close()
  }
}

async function recipe(options: RunTaskOptions, { config }: LoadedConfig, io: Io): Promise<Partial<QueryOptions>> {
  const { rules } = config
  return {
    rules: {
      allow: [...(rules?.allow ?? []), ...options.allow],
      ask: rules?.ask ?? [],
      deny: [...(rules?.deny ?? []), ...options.deny],
      root: io.cwd,
    },
    safeMode: options.safe,
    ...(options['max-steps'] === undefined ? {} : { maxSteps: options['max-steps'] }),
    ...(options.thinking ? { enableThinking: true } : {}),
    ...(options['no-log'] ? {} : { recorder: await openJournal(io) }),
    ...(options.session === undefined ? {} : { sessionId: options.session }),
  }
}

function toolsFor(store: DocumentStore | undefined, options: RunTaskOptions, { config }: LoadedConfig, io: Io): readonly Tool[] {
  const secretVariables = Object.values(config.providers ?? {}).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? [])
  return builtinTools({
    root: io.cwd,
    env: io.env,
    secretVariables,
    fetch: options.fetch,
    ...(store === undefined ? {} : { stores: [store] }),
  })
}

/** A model that cannot call tools would only talk about the task. */
function checkTools({ model }: ModelChoice): void {
  if (model.ref !== EXTRACTIVE && model.facts.tools !== false) return
  const what =
    model.ref === EXTRACTIVE ? `${EXTRACTIVE} only quotes documents and cannot use tools` : `${model.ref} cannot use tools`
  throw new ConfigurationError(`"cria run" needs a model that can use tools, but ${what}.`, {
    hint: 'Name one with -m, such as -m openai/gpt-5-mini or -m ollama/qwen3, or set a key such as OPENAI_API_KEY or ANTHROPIC_API_KEY. "cria models" lists them.',
  })
}

/** A rule about a tool that is not there does nothing, which nobody wants who writes it on the command line. */
function checkRules(rules: readonly string[], tools: readonly Tool[]): void {
  const names = tools.map(({ name }) => name)
  for (const rule of rules) {
    const name = /^\s*([\w-]+)\s*(?:\(|$)/.exec(rule)?.[1]
    if (name === undefined || names.includes(name)) continue
    const close = nearest(name, names)
    throw new ConfigurationError(
      `There is no tool ${JSON.stringify(name)} for the rule ${JSON.stringify(rule.slice(0, 100))}.${close === undefined ? '' : ` Did you mean ${close}?`}`,
      { hint: `Tools: ${names.join(', ')}.` },
    )
  }
}
