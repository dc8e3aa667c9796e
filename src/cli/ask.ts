/** Answers a question on the command line: from a store where there is one, by a model where there is one. */

import type { HomePaths } from '../app/paths.ts'
import { checkReadable, storeOf } from '../app/hand-over.ts'
import { openStore, sourceBase } from '../app/stores.ts'
import { QueryBot } from '../bots/query-bot.ts'
import type { BotOptions } from '../bots/options.ts'
import { SimpleBot } from '../bots/simple-bot.ts'
import type { Budget } from '../core/budget.ts'
import { ConfigurationError } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'
import type { ChunkFilter, DocumentStore } from '../core/store.ts'
import { checkPrices } from '../engine/budget/cost.ts'
import { showTurn } from './answer-view.ts'
import type { AnswerFormat } from './answer-view.ts'
import { chosenFilter, emptyChoice } from './filter-options.ts'
import { recordedTurn } from './find-turn.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'
import { budgetOf, EXTRACTIVE, openModels, requireKey } from './model-choice.ts'
import type { ModelChoice } from './model-choice.ts'
import { readPrompt, tellNewSession } from './prompt.ts'
import type { Prompt, PromptOptions } from './prompt.ts'
import { noDefaultStore, prepareStore, readConfig } from './prepare-store.ts'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../util/files.ts'
import { keepAsked, keepingSettings } from './session-settings.ts'

export interface AskOptions extends PromptOptions {
  readonly store: string | undefined
  readonly docs: readonly string[]
  readonly source: readonly string[]
  readonly filter: readonly string[]
  readonly results: number | undefined
  readonly fallback: readonly string[]
  readonly 'no-switch': boolean
  readonly thinking: boolean
  readonly 'show-thinking': boolean
  readonly 'max-cost': number | undefined
  readonly cache: boolean
  readonly 'no-log': boolean
  readonly json: boolean
  readonly events: boolean
  readonly schema: string | undefined
  readonly multi: boolean
}

export async function runAsk(word: string, options: AskOptions, io: Io): Promise<number> {
  if (options.json && options.events) throw new ConfigurationError('--json and --events exclude each other.')
  if (options.cache && options['no-log'])
    throw new ConfigurationError('--cache and --no-log exclude each other: answers are kept in the journal.')
  if (options.schema !== undefined && options.events)
    throw new ConfigurationError(
      '--schema and --events exclude each other: what is printed is the object, not how it came about.',
    )
  if (options.multi && options.schema === undefined)
    throw new ConfigurationError('--multi needs --schema: it asks for a list of what the schema describes.')
  const schema =
    options.schema === undefined ? undefined : (await import('./schema-option.ts')).readSchema(options.schema, io.cwd)
  if (options.continue && options['no-log'])
    throw new ConfigurationError('--continue and --no-log exclude each other: a session is kept in the journal.')
  const prompt = await readPrompt(word, 'question', options, io)
  const loaded = await readConfig(io)
  const models = await openModels({ ...options, model: prompt.model }, loaded, io)
  requireKey(models, loaded, io)
  const budget = budgetOf(options, loaded)
  checkPrices(budget, [models.model, ...models.fallbackModels])
  checkReadable(prompt.handed, models.model)
  if (schema !== undefined && models.model.facts.writes === false)
    throw new ConfigurationError(`--schema needs a model that writes, and ${models.model.ref} only quotes documents.`, {
      hint: 'Name one with -m, or set a key such as OPENAI_API_KEY.',
    })
  const choice = await prepareStore(prompt.asked, loaded, io)
  // It quotes documents and reads nothing else: what is handed over is one, unless others were named.
  const handed = models.model.ref === EXTRACTIVE && choice === undefined ? await storeOf(prompt.handed) : undefined
  if (models.model.ref === EXTRACTIVE) {
    if (choice === undefined && handed === undefined) throw nothingToAnswerFrom(loaded.paths)
    await note(io, extractiveNotice(options.model !== undefined || wasHintedToday(loaded.paths)))
    if (choice !== undefined && prompt.handed.length > 0)
      await note(io, `${EXTRACTIVE} quotes the store ${choice.name} and does not read what is handed over.`)
  }

  const opened = choice === undefined ? undefined : await openStore(choice)
  const store = handed ?? opened
  try {
    const format: AnswerFormat = options.json ? 'json' : options.events ? 'events' : 'text'
    const base = opened === undefined ? undefined : await sourceBase(opened)
    const filter = await chosenFilter(options, { cwd: io.cwd, base }, async (tried) => (await opened?.holdsAny(tried)) === true)
    if (filter !== undefined && opened === undefined)
      throw new ConfigurationError('--filter and --source choose among documents: name some with --docs PATH or --store NAME.')
    if (filter !== undefined && opened !== undefined) {
      const nothing = await emptyChoice(options, () => opened.holdsAny(filter))
      if (nothing !== undefined) await note(io, nothing)
    }
    if (!options['no-log']) await tellNewSession(options.session, io)
    const asked = handed === undefined ? prompt : { ...prompt, messages: prompt.messages.slice(-1) }
    const nResults = options.results ?? loaded.config.nResults
    const setting = { prompt: asked, ...models, budget, store, filter, nResults, slowAfter: loaded.config.slowAfter, format }
    if (schema !== undefined) {
      const { askObject, passagesFor } = await import('./ask-object.ts')
      const found = store === undefined ? [] : await passagesFor(prompt.question, store, { nResults, filter, signal: io.signal })
      const { multi, json } = options
      const keep = async (sessionId: string): Promise<void> => {
        if (!options['no-log']) await keepAsked(sessionId, prompt.asked, models.model.ref, io)
      }
      return await askObject(
        [...found, ...asked.messages],
        recipeOf(setting, options),
        { schema, multi, json, sessionId: asked.sessionId, answered: keep },
        io,
      )
    }
    const asking = askBot(setting, options, io)
    const events = options['no-log'] ? asking : keepingSettings(asking, prompt.asked, models.model.ref, io)
    return await showTurn(events, io, {
      format,
      showThinking: options['show-thinking'],
      sourceBase: base,
      ...(options['no-log'] ? {} : { recorded: (turnId) => recordedTurn(io, turnId) }),
    })
  } finally {
    await store?.close()
  }
}

interface Setting {
  readonly prompt: Prompt
  readonly model: LanguageModel
  readonly fallbackModels: readonly LanguageModel[]
  readonly fallbackOn: ModelChoice['fallbackOn']
  readonly switchModels: boolean
  readonly budget: Budget
  readonly store: DocumentStore | undefined
  readonly filter: ChunkFilter | undefined
  readonly nResults: number | undefined
  readonly slowAfter: number | undefined
  readonly format: AnswerFormat
}

function askBot(setting: Setting, options: AskOptions, io: Io): AsyncIterable<QueryEvent> {
  const { prompt, store, filter, nResults } = setting
  const { messages, sessionId } = prompt
  const recipe = recipeOf(setting, options)
  const asked = { signal: io.signal, ...(sessionId === undefined ? {} : { sessionId }) }
  if (store === undefined) return new SimpleBot(recipe).events(messages, asked)
  const bot = new QueryBot({ ...recipe, docstore: store })
  const found = { ...(nResults === undefined ? {} : { nResults }), ...(filter === undefined ? {} : { filter }) }
  return bot.events(messages, { ...asked, ...found })
}

/** Makes the options that every bot of this command gets. */
function recipeOf(setting: Setting, options: AskOptions): BotOptions {
  const { prompt, model, fallbackModels, fallbackOn, switchModels, budget, slowAfter, format } = setting
  const { settings, asked } = prompt
  return {
    model,
    fallbackModels,
    fallbackOn,
    switchModels,
    budget,
    streamTarget: 'api',
    ...(asked.system === undefined ? {} : { systemPrompt: asked.system }),
    ...(options.thinking ? { enableThinking: true } : {}),
    ...settings,
    ...(slowAfter === undefined ? {} : { slowAfter }),
    ...(options['no-log'] ? { recorder: false as const } : {}),
    ...(options.cache ? { cache: 'journal' as const } : {}),
    // What a person or a pipe has been given cannot be taken back.
    ...(format === 'text' ? { retry: { afterOutput: 'error' as const } } : {}),
  }
}

/** @param isKnown that no model writes the answer, or that it was asked for. */
function extractiveNotice(isKnown: boolean): string {
  const what = `${EXTRACTIVE} answers by quoting the documents.`
  if (isKnown) return what
  return `no model is configured: ${what} For a written answer set a key such as OPENAI_API_KEY, or name a model with -m.`
}

function nothingToAnswerFrom(paths: HomePaths): ConfigurationError {
  return noDefaultStore(paths, {
    message: 'There are no documents to answer from, and no model is configured that could answer without.',
    hint: 'Name documents with --docs PATH or index some with `cria index <path…>`; or set a key such as OPENAI_API_KEY, or name a model with -m.',
  })
}

const DAY_MS = 86_400_000

/** Returns whether the hint was given within the last 24 hours; if not, records that it is given now. Returns false where the home cannot be written. */
function wasHintedToday({ home }: Pick<HomePaths, 'home'>, now: number = Date.now()): boolean {
  const file = join(home, 'hinted')
  try {
    const { mtimeMs } = statSync(file)
    if (now - mtimeMs < DAY_MS && mtimeMs <= now) return true
  } catch {
    // It was never given.
  }
  try {
    makeFolder(home, 0o700)
    writeFileSync(file, '')
  } catch {
    // A home that cannot be written: the hint does no harm twice.
  }
  return false
}
