/** Answers a question on the command line: from a store where there is one, by a model where there is one. */

import { wasHintedToday } from '../app/hints.ts'
import type { HomePaths } from '../app/paths.ts'
import { openStore, sourceBase } from '../app/stores.ts'
import { QueryBot } from '../bots/query-bot.ts'
import { SimpleBot } from '../bots/simple-bot.ts'
import type { Budget } from '../core/budget.ts'
import { ConfigurationError } from '../core/error.ts'
import type { QueryEvent } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'
import type { ChunkFilter, DocumentStore } from '../core/store.ts'
import { checkPrices } from '../engine/check-budget.ts'
import { showTurn } from './answer-view.ts'
import type { AnswerFormat } from './answer-view.ts'
import { chosenFilter, emptyChoice } from './filter-options.ts'
import { recordedTurn } from './find-turn.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'
import { budgetOf, EXTRACTIVE, openModels, requireKey } from './model-choice.ts'
import type { ModelChoice } from './model-choice.ts'
import { tellNewSession } from './new-session.ts'
import { readText } from './read-text.ts'
import { noDefaultStore, prepareStore, readConfig } from './prepare-store.ts'

export interface AskOptions {
  readonly store: string | undefined
  readonly docs: readonly string[]
  readonly source: readonly string[]
  readonly filter: readonly string[]
  readonly results: number | undefined
  readonly model: string | undefined
  readonly fallback: readonly string[]
  readonly 'no-switch': boolean
  readonly thinking: boolean
  readonly 'show-thinking': boolean
  readonly session: string | undefined
  readonly 'max-cost': number | undefined
  readonly cache: boolean
  readonly 'no-log': boolean
  readonly json: boolean
  readonly events: boolean
}

export async function runAsk(word: string, options: AskOptions, io: Io): Promise<number> {
  if (options.json && options.events) throw new ConfigurationError('--json and --events exclude each other.')
  if (options.cache && options['no-log'])
    throw new ConfigurationError('--cache and --no-log exclude each other: answers are kept in the journal.')
  const question = await readText(word, 'question', io)
  if (question.trim() === '') throw new ConfigurationError('The question is empty: say what you want to know.')

  const loaded = await readConfig(io)
  const models = await openModels(options, loaded, io)
  requireKey(models, loaded, io)
  const budget = budgetOf(options, loaded)
  checkPrices(budget, [models.model, ...models.fallbackModels])
  const choice = await prepareStore(options, loaded, io)
  if (models.model.ref === EXTRACTIVE) {
    if (choice === undefined) throw nothingToAnswerFrom(loaded.paths)
    await note(io, extractiveNotice(options.model !== undefined || (await wasHintedToday(loaded.paths))))
  }

  const store = choice === undefined ? undefined : await openStore(choice)
  try {
    const format: AnswerFormat = options.json ? 'json' : options.events ? 'events' : 'text'
    const base = store === undefined ? undefined : await sourceBase(store)
    const filter = await chosenFilter(options, { cwd: io.cwd, base }, async (tried) => (await store?.holdsAny(tried)) === true)
    if (filter !== undefined && store === undefined)
      throw new ConfigurationError('--filter and --source choose among documents: name some with --docs PATH or --store NAME.')
    if (filter !== undefined && store !== undefined) {
      const nothing = await emptyChoice(options, () => store.holdsAny(filter))
      if (nothing !== undefined) await note(io, nothing)
    }
    if (!options['no-log']) await tellNewSession(options.session, io)
    const events = askBot(
      question,
      {
        ...models,
        budget,
        store,
        filter,
        nResults: options.results ?? loaded.config.nResults,
        slowAfter: loaded.config.slowAfter,
        format,
      },
      options,
      io,
    )
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

function askBot(question: string, setting: Setting, options: AskOptions, io: Io): AsyncIterable<QueryEvent> {
  const { model, fallbackModels, fallbackOn, switchModels, budget, store, filter, nResults, slowAfter, format } = setting
  const recipe = {
    model,
    fallbackModels,
    fallbackOn,
    switchModels,
    budget,
    streamTarget: 'api' as const,
    ...(options.thinking ? { enableThinking: true } : {}),
    ...(slowAfter === undefined ? {} : { slowAfter }),
    ...(options['no-log'] ? { recorder: false as const } : {}),
    ...(options.cache ? { cache: 'journal' as const } : {}),
    // What a person or a pipe has been given cannot be taken back.
    ...(format === 'text' ? { retry: { afterOutput: 'error' as const } } : {}),
  }
  const asked = { signal: io.signal, ...(options.session === undefined ? {} : { sessionId: options.session }) }
  if (store === undefined) return new SimpleBot(recipe).events(question, asked)
  const bot = new QueryBot({ ...recipe, docstore: store })
  const found = { ...(nResults === undefined ? {} : { nResults }), ...(filter === undefined ? {} : { filter }) }
  return bot.events(question, { ...asked, ...found })
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
