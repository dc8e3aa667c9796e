/** Does a task with the built-in tools, with nobody to ask. */

import type { LoadedConfig } from '../app/config.ts'
import { openJournal } from '../app/journal.ts'
import { query } from '../app/query.ts'
import type { QueryOptions } from '../app/query.ts'
import { checkReadable } from '../app/hand-over.ts'
import { openStore } from '../app/stores.ts'
import { ConfigurationError } from '../core/error.ts'
import { checkPrices } from '../engine/budget/cost.ts'
import type { McpConnection } from '../app/mcp.ts'
import {
  agentContext,
  agentRules,
  agentServers,
  agentTools,
  checkCanUseTools,
  checkRules,
  hooksOf,
  taskPrompt,
  withAgent,
} from './agent.ts'
import { showTurn } from './answer-view.ts'
import type { AnswerFormat } from './answer-view.ts'
import { EXIT } from './exit-codes.ts'
import { recordedTurn } from './find-turn.ts'
import type { Io } from './io.ts'
import { budgetOf, openModels, requireKey } from './model-choice.ts'
import { prepareStore, readConfig } from './prepare-store.ts'
import { keepingSettings } from './session-settings.ts'
import { readPrompt, tellNewSession } from './prompt.ts'
import type { Prompt, PromptOptions } from './prompt.ts'
import { Deeds } from './deeds.ts'
import { shownDeeds, summary } from './deeds-view.ts'

export interface RunTaskOptions extends PromptOptions {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly safe: boolean
  readonly 'max-steps': number | undefined
  readonly fetch: boolean
  readonly sandbox: string | undefined
  readonly network: boolean
  readonly 'no-mcp': boolean
  readonly store: string | undefined
  readonly docs: readonly string[]
  readonly fallback: readonly string[]
  readonly 'no-switch': boolean
  readonly thinking: boolean
  readonly 'show-thinking': boolean
  readonly 'max-cost': number | undefined
  readonly 'no-log': boolean
  readonly json: boolean
  readonly events: boolean
}

export async function runTaskWithTools(word: string, options: RunTaskOptions, io: Io): Promise<number> {
  if (options.json && options.events) throw new ConfigurationError('--json and --events exclude each other.')
  if ((options.session !== undefined || options.continue) && options['no-log']) {
    const named = options.continue ? '--continue' : '--session'
    throw new ConfigurationError(`${named} and --no-log exclude each other: a session is kept in the journal.`)
  }
  const prompt = await readPrompt(word, 'task', options, io)
  const loaded = await readConfig(io)
  const models = await openModels({ ...options, model: prompt.model }, loaded, io)
  requireKey(models, loaded, io)
  checkCanUseTools(models, 'run')
  checkReadable(prompt.handed, models.model)
  const budget = budgetOf(options, loaded)
  checkPrices(budget, [models.model, ...models.fallbackModels])
  const choice = await prepareStore(prompt.asked, loaded, io)
  const store = choice === undefined ? undefined : await openStore(choice)
  let servers: McpConnection | undefined
  try {
    servers = await agentServers(options, loaded, io)
    const own = [...agentTools(store, loaded, io, options), ...(servers?.tools ?? [])]
    const tools = (await withAgent(() => own, loaded, io))()
    checkRules([...options.allow, ...options.deny], tools)
    await tellNewSession(options.session, io)
    const deeds = new Deeds()
    const events = query({
      ...models,
      ...(await recipe(options, prompt, loaded, io)),
      prompt: prompt.messages,
      system: prompt.asked.system === undefined ? taskPrompt() : `${taskPrompt()}\n\n${prompt.asked.system}`,
      tools,
      context: agentContext(io),
      budget,
      abortSignal: io.signal,
      bot: { kind: 'AgentBot', name: 'run' },
      operation: 'run',
    })
    const format: AnswerFormat = options.json ? 'json' : options.events ? 'events' : 'text'
    const kept = options['no-log'] ? events : keepingSettings(events, prompt.asked, models.model.ref, io)
    const code = await showTurn(shownDeeds(kept, deeds, { io, isText: format === 'text' }), io, {
      format,
      showThinking: options['show-thinking'],
      ...(options['no-log'] ? {} : { recorded: (turnId) => recordedTurn(io, turnId) }),
      more: () => deeds.toJson(),
    })
    await io.stderr.write(summary(deeds))
    // A model that asks for the same again and again is ended; what it lacked was permission.
    const gaveUp = code === EXIT.done || deeds.errorCode === 'tool_failure'
    if (gaveUp && deeds.wasHeldBack) return EXIT.permission
    if (code !== EXIT.done) return code
    return deeds.finishReason === 'max-steps' ? EXIT.failed : EXIT.done
  } finally {
    await servers?.close()
    await store?.close()
  }
}

async function recipe(
  options: RunTaskOptions,
  { settings, sessionId }: Prompt,
  loaded: LoadedConfig,
  io: Io,
): Promise<Partial<QueryOptions>> {
  return {
    rules: agentRules(options, loaded, io),
    ...hooksOf(loaded, io),
    safeMode: options.safe,
    ...(options['max-steps'] === undefined ? {} : { maxSteps: options['max-steps'] }),
    ...(options.thinking ? { enableThinking: true } : {}),
    ...settings,
    ...(loaded.config.slowAfter === undefined ? {} : { slowAfter: loaded.config.slowAfter }),
    ...(options['no-log'] ? {} : { recorder: await openJournal(io) }),
    ...(sessionId === undefined ? {} : { sessionId }),
  }
}
