/** Holds one conversation: the model, the tools, the session, and its usage so far. */

import type { LoadedConfig } from '../../app/config.ts'
import { checkReadable } from '../../app/hand-over.ts'
import type { HandedOver } from '../../app/hand-over.ts'
import { openJournal } from '../../app/journal.ts'
import type { Journal } from '../../app/journal.ts'
import { openModel, quickModel } from '../../app/open-model.ts'
import { query } from '../../app/query.ts'
import type { QueryOptions } from '../../app/query.ts'
import { openStore } from '../../app/stores.ts'
import type { Budget } from '../../core/budget.ts'
import { Edits } from '../../app/builtin-tools.ts'
import { ConfigurationError, isCriaError } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import { handedOver, toMessages } from '../../core/message.ts'
import type { Message, MessageInput } from '../../core/message.ts'
import type { PermissionChecker, Tool } from '../../core/tool.ts'
import { checkPrices } from '../../engine/budget/cost.ts'
import { compactSession, forkSession } from '../../engine/session-turns.ts'
import { Steering } from '../../engine/steering.ts'
import type { SessionTurnOptions } from '../../engine/session-turns.ts'
import type { McpConnection } from '../../app/mcp.ts'
import {
  agentContext,
  agentRules,
  agentServers,
  agentTools,
  chatPrompt,
  checkCanUseTools,
  checkRules,
  hooksOf,
  withAgent,
} from '../agent.ts'
import { budgetOf, openModels, requireKey } from '../model-choice.ts'
import type { ModelChoice } from '../model-choice.ts'
import { prepareStore } from '../prepare-store.ts'
import { modelSettings } from '../model-options.ts'
import type { ModelSettings } from '../model-options.ts'
import { ToolCalls } from '../tool-calls.ts'
import type { ChatOptions } from '../shared-options.ts'
import { settingsOf } from '../session-settings.ts'
import { passagesRead } from '../sources.ts'
import type { PassagesRead } from '../sources.ts'
import { NOTHING_SPENT, spentAfter } from './status.ts'
import type { Spent, Status } from './status.ts'
import { defined } from '../../util/check.ts'
import type { StoreChoice } from '../../app/store-choice.ts'
import type { FilledPrompt } from '../../core/prompt.ts'
import type { Io } from '../io.ts'

export type AskUser = NonNullable<Parameters<typeof agentTools>[3]['askUser']>

export interface Start {
  readonly options: ChatOptions
  readonly loaded: LoadedConfig
  readonly io: Io
  /** The store of the documents that were named, up to date. */
  readonly documents: StoreChoice | undefined
  /** Puts the first message of a session into the template that was named. */
  readonly begin: ((said: string) => FilledPrompt) | undefined
}

export interface OpenOptions extends Start {
  /** Answers `ask_user`; absent where nobody can be asked. */
  readonly askUser: AskUser | undefined
  /** Tells the user something beside the conversation. */
  readonly tell: (message: string) => Promise<void>
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
  /** What is said while a turn runs. */
  readonly steering: Steering = new Steering()
  /** Changes that tools made to files in this chat. */
  readonly edits: Edits
  /** Rules that were added in this chat. */
  readonly allowed: string[] = []
  readonly isSafe: boolean
  sessionId: string | undefined
  spent: Spent = NOTHING_SPENT
  readonly #parts: Parts
  #models: ModelChoice
  #held: number | null = null
  /** Outputs of commands that go with the user's next message. */
  #handedOver: Message[] = []
  /** The settings of the session that the journal keeps. */
  #kept = ''
  /** The text of the last one. */
  #answer = ''

  private constructor(parts: Parts) {
    this.#parts = parts
    this.#models = parts.models
    this.journal = parts.journal
    this.edits = parts.edits
    this.isSafe = parts.options.safe
  }

  /** @throws ConfigurationError when there is no model that can use tools, or a rule is about a tool that is not there. */
  static async open(given: OpenOptions): Promise<Conversation> {
    const { options, loaded, io, askUser, tell } = given
    const settings = modelSettings(options.option)
    const models = await openModels(options, loaded, io)
    await checkModels(models, given)
    const choice = given.documents ?? (await prepareStore(options, loaded, io))
    const store = choice === undefined ? undefined : await openStore(choice)
    const edits = new Edits()
    const passages = store === undefined ? undefined : passagesRead(store)
    const builtin = agentTools(passages?.store, loaded, io, { ...options, edits, ...(askUser === undefined ? {} : { askUser }) })
    const servers = await agentServers(options, loaded, io, tell)
    try {
      // Those of servers may change from turn to turn.
      const tools = await withAgent(() => [...builtin, ...(servers?.tools ?? [])], loaded, io)
      checkRules([...options.allow, ...options.deny], tools())
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

  /** Absolute path of the folder that tools work in. */
  get folder(): string {
    return this.#parts.io.cwd
  }

  get model(): string {
    return this.#models.model.ref
  }

  /** The passages that the model has read for its last answer; empty where it has searched no documents. */
  sourcesRead(): Promise<string> {
    return this.#parts.passages?.list(this.#answer, this.#parts.io) ?? Promise.resolve('')
  }

  /** @throws ConfigurationError that names the file which the model cannot read. */
  checkReadable(handed: readonly HandedOver[]): void {
    checkReadable(handed, this.#models.model)
  }

  get status(): Status {
    const { ref, facts } = this.#models.model
    return { model: ref, spent: this.spent, held: this.#held, window: facts.contextWindow, isSafe: this.isSafe }
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
        this.#held = inputTokens === null ? null : inputTokens + (outputTokens ?? 0)
      },
    }
    return this.#followed(query(asked))
  }

  /** Gives the model a text with the next message, as data. */
  handOver(text: string, title: string): void {
    this.#handedOver.push(handedOver(text, { title, source: title }))
  }

  /** Makes the conversation smaller. @throws ConfigurationError when nothing was said yet. */
  compact(abortSignal: AbortSignal): AsyncGenerator<QueryEvent> {
    const turn = this.#sessionTurn(abortSignal, 'Compact this conversation.')
    return this.#followed(compactSession({ ...turn, summaryModel: quickModel() }))
  }

  /** From now on what is said goes into a session of its own, which begins with this one. @throws ConfigurationError as `compact`. */
  fork(abortSignal: AbortSignal, title: string): AsyncGenerator<QueryEvent> {
    return this.#followed(forkSession(this.#sessionTurn(abortSignal, title)))
  }

  /** @throws ConfigurationError when there is no such model, or it cannot use tools. */
  async switchModel(name: string): Promise<void> {
    const { loaded, io } = this.#parts
    const model = await openModel(name, loaded.config, io.env)
    await checkModels({ ...this.#models, model }, this.#parts)
    this.#models = { ...this.#models, model }
  }

  /** @throws ConfigurationError for what is no rule, or about no tool. */
  allow(rule: string): void {
    if (!/^[\w*-]+(#[\da-f]{8,64})?(\([^]+\))?$/.test(rule))
      throw new ConfigurationError(`${JSON.stringify(rule)} is no rule: write tool or tool(pattern).`)
    checkRules([rule], this.tools)
    this.allowed.push(rule)
  }

  /** What is said next begins a session. */
  begin(): void {
    this.sessionId = undefined
    this.#handedOver = []
    // What an interrupted turn was to be told belongs to its session.
    for (const message of this.steering.waiting) this.steering.delivered(message)
    this.#held = null
    this.spent = NOTHING_SPENT
  }

  /** Goes on with a session; gives what was said in it. */
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
    if (sessionId === undefined) throw new ConfigurationError('Nothing has been said in this session yet.')
    return { ...this.#common(abortSignal), model: this.#models.model, sessionId, title }
  }

  /** Keeps of the events what the conversation has to know. */
  async *#followed(events: AsyncIterable<QueryEvent>): AsyncGenerator<QueryEvent> {
    for await (const event of events) {
      if (event.parent === undefined) {
        this.sessionId = event.sessionId
        if (event.type === 'start') await this.#keepSettings(event.sessionId)
        if (event.type === 'compaction') this.#held = event.tokensAfter
        if (event.type === 'complete') this.#answer = event.result.text
      }
      yield event
    }
  }

  /** Once for each session and model. A journal that cannot keep them is told about by the turn. */
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
 * Tells that a key is missing before anything is typed: where somebody can be asked, another model can still be chosen.
 *
 * @throws ConfigurationError for a model that cannot use tools, or has no price and a budget; without a key, where nobody can be asked.
 */
async function checkModels(models: ModelChoice, { options, loaded, io, askUser, tell }: OpenOptions): Promise<void> {
  checkCanUseTools(models, 'chat')
  try {
    requireKey(models, loaded, io)
  } catch (thrown) {
    if (askUser === undefined || !isCriaError(thrown)) throw thrown
    const hint = thrown.hint === undefined ? '' : `${thrown.hint} `
    await tell(`${thrown.message} ${hint}/model NAME goes on with another one.`)
  }
  checkPrices(budgetFor(options, loaded), [models.model, ...models.fallbackModels])
}

/** What `--max-cost` names is for the whole session: a chat is one piece of work. */
function budgetFor(options: ChatOptions, loaded: LoadedConfig): Budget {
  const budget = budgetOf({ 'max-cost': undefined, 'no-log': false }, loaded)
  const most = options['max-cost']
  return most === undefined ? budget : { ...budget, session: { ...budget.session, costUsd: most } }
}
