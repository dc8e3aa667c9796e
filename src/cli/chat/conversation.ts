/** Holds the state of a chat: model, tools, session, and usage so far. */

import { Edits } from '../../app/agent-tools.ts'
import type { LoadedConfig } from '../../app/config.ts'
import { checkReadable } from '../../app/hand-over.ts'
import type { HandedOver } from '../../app/hand-over.ts'
import { openJournal } from '../../app/journal.ts'
import type { Journal } from '../../app/journal.ts'
import type { McpConnection } from '../../app/mcp.ts'
import { openModel, quickModel } from '../../app/open-model.ts'
import { query } from '../../app/query.ts'
import type { QueryOptions } from '../../app/query.ts'
import type { StoreChoice } from '../../app/store-choice.ts'
import { openStore } from '../../app/stores.ts'
import type { Budget } from '../../core/budget.ts'
import { ConfigurationError, isCriaError } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import { handedOver, toMessages } from '../../core/message.ts'
import type { Message, MessageInput } from '../../core/message.ts'
import type { FilledPrompt } from '../../core/prompt.ts'
import type { PermissionChecker, Tool } from '../../core/tool.ts'
import { compactSession, forkSession } from '../../engine/session-turns.ts'
import type { SessionTurnOptions } from '../../engine/session-turns.ts'
import { Steering } from '../../engine/steering.ts'
import { defined } from '../../util/check.ts'
import {
  agentContext,
  agentRules,
  agentServers,
  agentTools,
  chatPrompt,
  checkCanUseTools,
  checkRules,
  checkRuleSyntax,
  hooksOf,
  withAgent,
} from '../agent.ts'
import type { Io } from '../io.ts'
import { budgetOf, openModels, requireKey, requirePrices } from '../model-choice.ts'
import type { ModelChoice } from '../model-choice.ts'
import { modelSettings } from '../model-options.ts'
import type { ModelSettings } from '../model-options.ts'
import { prepareStore } from '../prepare-store.ts'
import { settingsOf } from '../session-settings.ts'
import type { ChatOptions } from '../shared-options.ts'
import { passagesRead } from '../sources.ts'
import type { PassagesRead } from '../sources.ts'
import { ToolCalls } from '../tool-calls.ts'
import { NOTHING_SPENT, spentAfter } from './status.ts'
import type { Spent, Status } from './status.ts'

export type AskUser = NonNullable<Parameters<typeof agentTools>[3]['askUser']>

export interface Start {
  readonly options: ChatOptions
  readonly loaded: LoadedConfig
  readonly io: Io
  /** The up-to-date store of the documents that the options name. */
  readonly documents: StoreChoice | undefined
  /** Fills the template of the options with the first message of a session. */
  readonly begin: ((message: string) => FilledPrompt) | undefined
}

export interface OpenOptions extends Start {
  /** Answers `ask_user`; absent when there is no user who can answer. */
  readonly askUser: AskUser | undefined
  /** Shows a note to the user. */
  readonly note: (message: string) => Promise<void>
}

interface Parts extends OpenOptions {
  readonly models: ModelChoice
  readonly settings: ModelSettings
  readonly tools: () => readonly Tool[]
  readonly servers: McpConnection | undefined
  readonly journal: Journal
  readonly edits: Edits
  readonly store: Awaited<ReturnType<typeof openStore>> | undefined
  readonly passages: PassagesRead | undefined
}

const BOT = { kind: 'AgentBot', name: 'chat' } as const
/** Tool calls that are kept for `/show`. */
const MOST_CALLS = 500

export class Conversation {
  readonly journal: Journal
  readonly calls: ToolCalls = new ToolCalls(() => this.tools, MOST_CALLS)
  /** Messages that the user sends during a turn. */
  readonly steering: Steering = new Steering()
  /** Changes that tools have made to files in this chat. */
  readonly edits: Edits
  /** Rules that the user has added in this chat. */
  readonly allowed: string[] = []
  readonly isSafe: boolean
  sessionId: string | undefined
  spent: Spent = NOTHING_SPENT
  readonly #parts: Parts
  #models: ModelChoice
  /** Tokens of the conversation as last reported; `null` when unknown. */
  #contextTokens: number | null = null
  /** Outputs of the user's own commands, which are sent with the next message. */
  #handedOver: Message[] = []
  /** The settings that were last stored with the session, as JSON. */
  #kept = ''
  /** The text of the last answer. */
  #answer = ''

  private constructor(parts: Parts) {
    this.#parts = parts
    this.#models = parts.models
    this.journal = parts.journal
    this.edits = parts.edits
    this.isSafe = parts.options.safe
  }

  /** @throws ConfigurationError when no model can use tools, or a rule names an unknown tool. */
  static async open(given: OpenOptions): Promise<Conversation> {
    const { options, loaded, io, askUser, note } = given
    const settings = modelSettings(options.option)
    const models = await openModels(options, loaded, io)
    await checkModels(models, options.model, given)
    checkRuleSyntax(options)
    const choice = given.documents ?? (await prepareStore(options, loaded, io))
    const store = choice === undefined ? undefined : await openStore(choice)
    const edits = new Edits()
    const passages = store === undefined ? undefined : passagesRead(store)
    const builtin = agentTools(passages?.store, loaded, io, { ...options, edits, ...(askUser === undefined ? {} : { askUser }) })
    const servers = await agentServers(options, loaded, io, note)
    try {
      // The tools of servers may change from turn to turn.
      const tools = await withAgent(() => [...builtin, ...(servers?.tools ?? [])], loaded, io)
      checkRules(options, tools())
      const journal = await openJournal(io)
      return new Conversation({ ...given, models, settings, tools, servers, store, passages, edits, journal })
    } catch (thrown) {
      await servers?.close()
      await store?.close()
      throw thrown
    }
  }

  get tools(): readonly Tool[] {
    return this.#parts.tools()
  }

  /** Absolute path of the working folder of the tools. */
  get folder(): string {
    return this.#parts.io.cwd
  }

  get model(): string {
    return this.#models.model.ref
  }

  /** Lists the passages that the model has read for its last answer; empty when it has not searched documents. */
  sourcesRead(): Promise<string> {
    const { passages, io } = this.#parts
    return passages?.list(this.#answer, io.cwd, io.stdout) ?? Promise.resolve('')
  }

  /** @throws ConfigurationError that names a file which the model cannot read. */
  checkReadable(handed: readonly HandedOver[]): void {
    checkReadable(handed, this.#models.model)
  }

  get status(): Status {
    const { ref, facts } = this.#models.model
    return { model: ref, spent: this.spent, contextTokens: this.#contextTokens, window: facts.contextWindow, isSafe: this.isSafe }
  }

  turn(prompt: MessageInput, permit: PermissionChecker | undefined, abortSignal: AbortSignal): AsyncGenerator<QueryEvent> {
    const { options, settings, loaded, io } = this.#parts
    const rules = agentRules({ ...options, allow: [...options.allow, ...this.allowed] }, loaded, io)
    const asked: QueryOptions = {
      ...this.#models,
      ...this.#common(abortSignal),
      prompt: [...this.#handedOver.splice(0), ...toMessages(prompt)],
      system: [chatPrompt(permit !== undefined), ...(options.system === undefined ? [] : [options.system])].join('\n\n'),
      tools: this.tools,
      rules,
      ...hooksOf(loaded, io),
      safeMode: options.safe,
      context: agentContext(io),
      operation: 'chat',
      steering: this.steering,
      ...(permit === undefined ? {} : { hasPermissionsToUseTool: permit }),
      ...(options.thinking ? { enableThinking: true } : {}),
      ...settings,
      ...defined({ slowAfter: loaded.config.slowAfter, sessionId: this.sessionId }),
      onUpdateUsage: ({ inputTokens, outputTokens }) => {
        this.#contextTokens = inputTokens === null ? null : inputTokens + (outputTokens ?? 0)
      },
    }
    return this.#followed(query(asked))
  }

  /** Sends a text to the model with the next message, marked as data. */
  handOver(text: string, title: string): void {
    this.#handedOver.push(handedOver(text, { title, source: title }))
  }

  /** Compacts the session. @throws ConfigurationError when the session has no messages yet. */
  compact(abortSignal: AbortSignal): AsyncGenerator<QueryEvent> {
    const turn = this.#sessionTurn(abortSignal, 'Compact this conversation.')
    return this.#followed(compactSession({ ...turn, summaryModel: quickModel() }))
  }

  /** Continues in a new session that begins with a copy of this one. @throws ConfigurationError as `compact`. */
  fork(abortSignal: AbortSignal, title: string): AsyncGenerator<QueryEvent> {
    return this.#followed(forkSession(this.#sessionTurn(abortSignal, title)))
  }

  /** @throws ConfigurationError when the model is unknown or cannot use tools. */
  async switchModel(name: string): Promise<void> {
    const { loaded, io } = this.#parts
    const model = await openModel(name, loaded.config, io.env)
    await checkModels({ ...this.#models, model }, name, this.#parts)
    this.#models = { ...this.#models, model }
  }

  /** Adds a rule to this chat. @throws ConfigurationError for text that is not a rule, and for an unknown tool. */
  allow(rule: string): void {
    if (!/^[\w*-]+(#[\da-f]{8,64})?(\([^]+\))?$/.test(rule))
      throw new ConfigurationError(`${JSON.stringify(rule)} is not a rule: write tool or tool(pattern).`)
    checkRules({ allow: [rule], deny: [] }, this.tools)
    this.allowed.push(rule)
  }

  /** Makes the next message begin a new session. */
  begin(): void {
    this.sessionId = undefined
    this.#handedOver = []
    // Messages that an interrupted turn did not receive belong to its session.
    for (const message of this.steering.waiting) this.steering.delivered(message)
    this.#contextTokens = null
    this.spent = NOTHING_SPENT
  }

  /** Continues a session; resolves to its messages. */
  async resume(sessionId: string): Promise<readonly Message[]> {
    this.begin()
    this.sessionId = sessionId
    const { turns } = await this.journal.read.turns({ sessionId, limit: 10_000 })
    for (const { usage, costUsd } of turns) this.spent = spentAfter(this.spent, usage, costUsd)
    return this.journal.read.history(sessionId)
  }

  async close(): Promise<void> {
    await this.#parts.servers?.close()
    await this.#parts.store?.close()
  }

  #common(abortSignal: AbortSignal): Omit<SessionTurnOptions, 'model' | 'sessionId' | 'title'> {
    const { options, loaded } = this.#parts
    return {
      recorder: this.journal,
      abortSignal,
      bot: BOT,
      budget: budgetFor(options, loaded),
      onQueryCompleted: ({ usage, costUsd }) => {
        this.spent = spentAfter(this.spent, usage, costUsd)
      },
    }
  }

  #sessionTurn(abortSignal: AbortSignal, title: string): SessionTurnOptions {
    const { sessionId } = this
    if (sessionId === undefined) throw new ConfigurationError('This session has no messages yet.')
    return { ...this.#common(abortSignal), model: this.#models.model, sessionId, title }
  }

  /** Updates this conversation from the events of a turn, and passes them on. */
  async *#followed(events: AsyncIterable<QueryEvent>): AsyncGenerator<QueryEvent> {
    for await (const event of events) {
      if (event.parent === undefined) {
        this.sessionId = event.sessionId
        if (event.type === 'start') await this.#keepSettings(event.sessionId)
        if (event.type === 'compaction') this.#contextTokens = event.tokensAfter
        if (event.type === 'complete') this.#answer = event.result.text
      }
      yield event
    }
  }

  /** Stores the settings with the session, once for each session and model. A failing journal is reported by the turn. */
  async #keepSettings(sessionId: string): Promise<void> {
    const settings = settingsOf(this.#parts.options, this.model)
    const kept = JSON.stringify([sessionId, settings])
    if (kept === this.#kept) return
    this.#kept = kept
    try {
      await this.journal.keepSettings(sessionId, settings)
    } catch {
      this.#kept = ''
    }
  }
}

/**
 * Checks the models before the first message. If the key of the model is missing, a user who can answer gets a note instead of an error, because
 * `/model` can still choose another model.
 *
 * @throws ConfigurationError for a model that cannot use tools, that has a budget but no known price, or whose key is missing.
 */
async function checkModels(
  models: ModelChoice,
  named: string | undefined,
  { options, loaded, io, askUser, note }: OpenOptions,
): Promise<void> {
  await checkCanUseTools(models, 'chat', named, loaded, io)
  try {
    requireKey(models, loaded, io)
  } catch (thrown) {
    if (askUser === undefined || !isCriaError(thrown)) throw thrown
    const hint = thrown.hint === undefined ? '' : `${thrown.hint} `
    await note(`${thrown.message} ${hint}/model NAME continues with another model.`)
  }
  requirePrices(budgetFor(options, loaded), models)
}

/** Applies `--max-cost` to the whole session, unlike `cria run`, which applies it to the turn. */
function budgetFor(options: ChatOptions, loaded: LoadedConfig): Budget {
  const budget = budgetOf({ 'max-cost': undefined, 'no-log': false }, loaded)
  const most = options['max-cost']
  return most === undefined ? budget : { ...budget, session: { ...budget.session, costUsd: most } }
}
