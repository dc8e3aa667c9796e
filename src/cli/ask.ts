/** Runs `cria ask`: answers a question from a store if one is available, else from the model alone. */

import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeOf } from '../app/hand-over.ts'
import { openJournalIfWritable } from '../app/journal.ts'
import type { HomePaths } from '../app/paths.ts'
import { openStore, sourceBase } from '../app/stores.ts'
import type { BotOptions } from '../bots/options.ts'
import { QueryBot } from '../bots/query-bot.ts'
import { SimpleBot } from '../bots/simple-bot.ts'
import { ConfigurationError } from '../core/error.ts'
import { defined } from '../util/check.ts'
import { makeFolder } from '../util/files.ts'
import { formatOf } from './answer-view.ts'
import type { AskOptions } from './shared-options.ts'
import { chosenFilter, emptyChoice, filterOf } from './filter-options.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'
import { EXTRACTIVE, whyExtractive } from './model-choice.ts'
import { noDefaultStore, prepareStore } from './prepare-store.ts'
import { noteNewSession } from './prompt.ts'
import type { Prompt } from './prompt.ts'
import { prepareTurn, recipeOf, showAsked } from './turn.ts'

export async function runAsk(word: string, options: AskOptions, io: Io): Promise<number> {
  if (options.multi && options.schema === undefined)
    throw new ConfigurationError('--multi needs --schema: it asks for a list of objects that fit the schema.')
  const isFiltered = filterOf(options, io) !== undefined
  const structured = options.schema === undefined ? undefined : await import('./ask-object.ts')
  const schema = structured?.readSchema(options.schema ?? '', io.cwd)
  const turn = await prepareTurn(word, 'question', options, io)
  const { prompt, loaded, models } = turn
  const { model } = models
  if (schema !== undefined && model.facts.writes === false)
    throw new ConfigurationError(`--schema needs a model that writes, but ${model.ref} only quotes documents.`, {
      hint: 'Name one with -m, or set a key such as OPENAI_API_KEY.',
    })
  const choice = await prepareStore(prompt.asked, loaded, io)
  if (isFiltered && choice === undefined)
    throw new ConfigurationError('--filter and --source choose among documents: name some with --docs PATH or --store NAME.')
  // The extractive model only quotes documents: without a store, attached data is its document.
  const handed = model.ref === EXTRACTIVE && choice === undefined ? await storeOf(prompt.handed) : undefined
  if (model.ref === EXTRACTIVE) {
    const why = await whyExtractive(models, prompt.model, loaded, io)
    if (choice === undefined && handed === undefined) throw nothingToAnswerFrom(loaded.paths, why)
    await note(io, extractiveNotice(why, options.model !== undefined || wasHintedToday(loaded.paths)))
    if (choice !== undefined && prompt.handed.length > 0)
      await note(io, `${EXTRACTIVE} quotes the store ${choice.name} and does not read the attached data.`)
  }

  const opened = choice === undefined ? undefined : await openStore(choice)
  const store = handed ?? opened
  try {
    const base = opened === undefined ? undefined : await sourceBase(opened)
    const filter = await chosenFilter(options, { cwd: io.cwd, base }, async (tried) => (await opened?.holdsAny(tried)) === true)
    if (filter !== undefined && (await opened?.holdsAny(filter)) === false) await note(io, emptyChoice(options))
    if (!options['no-log']) await noteNewSession(options.session, io)

    const messages = handed === undefined ? prompt.messages : prompt.messages.slice(-1)
    const recipe: BotOptions = {
      ...recipeOf(turn, options),
      streamTarget: 'api',
      ...defined({ systemPrompt: prompt.asked.system }),
      ...(await recorderFor(prompt, options, io)),
      ...(options.cache ? { cache: 'journal' } : {}),
      // Text that was already printed cannot be taken back.
      ...(formatOf(options) === 'text' ? { retry: { afterOutput: 'error' } } : {}),
    }
    const found = defined({ nResults: options.results ?? loaded.config.nResults, filter })
    if (structured !== undefined && schema !== undefined) {
      const passages = store === undefined ? [] : await structured.passagesFor(prompt.question, store, found, io.signal)
      return await structured.askObject({ turn, messages: [...passages, ...messages], recipe, schema }, options, io)
    }
    const asked = { signal: io.signal, ...defined({ sessionId: prompt.sessionId }) }
    const events =
      store === undefined
        ? new SimpleBot(recipe).events(messages, asked)
        : new QueryBot({ ...recipe, docstore: store }).events(messages, { ...asked, ...found })
    return await showAsked(events, turn, options, io, { sourceBase: base })
  } finally {
    await store?.close()
  }
}

/** Returns no recorder for a question of a session: the bot opens the journal itself, and fails if it cannot. */
async function recorderFor({ sessionId }: Prompt, options: AskOptions, io: Io): Promise<Pick<BotOptions, 'recorder'>> {
  if (options['no-log']) return { recorder: false }
  if (sessionId !== undefined) return {}
  const recorder = await openJournalIfWritable(io, ({ message }) =>
    note(io, `turns are not recorded: ${message.replace(/\.$/, '')}; --no-log hides this.`),
  )
  return { recorder: recorder ?? false }
}

/**
 * @param why why the server of the user does not answer, if it is the reason.
 * @param isKnown whether the user named the extractive model or has seen the hint today.
 */
function extractiveNotice(why: string | undefined, isKnown: boolean): string {
  const what = `${EXTRACTIVE} answers by quoting the documents.`
  if (why !== undefined) return `no model can be used: ${what} ${why}`
  if (isKnown) return what
  return `no model is configured: ${what} For a written answer set a key such as OPENAI_API_KEY, or name a model with -m.`
}

function nothingToAnswerFrom(paths: HomePaths, why: string | undefined): ConfigurationError {
  if (why !== undefined)
    return new ConfigurationError(`There is no model to answer with. ${why}`, {
      hint: 'Or name a model with -m, or documents with --docs PATH or --store NAME.',
    })
  return noDefaultStore(paths, {
    message: 'There are no documents to answer from, and no model is configured.',
    hint: 'Name documents with --docs PATH or index some with `cria index <path…>`; or set a key such as OPENAI_API_KEY, or name a model with -m.',
  })
}

const DAY_MS = 86_400_000

/** Returns whether the hint was shown in the last 24 hours; if not, records it as shown now. Returns false if the home cannot be written. */
function wasHintedToday({ home }: Pick<HomePaths, 'home'>): boolean {
  const now = Date.now()
  const file = join(home, 'hinted')
  try {
    const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity
    if (now - mtimeMs < DAY_MS && mtimeMs <= now) return true
    makeFolder(home, 0o700)
    writeFileSync(file, '')
  } catch {
    // The home cannot be read or written: showing the hint twice does no harm.
  }
  return false
}
