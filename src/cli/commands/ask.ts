import { openModel } from '../../app/open-model.ts'
import { openStore } from '../../app/stores.ts'
import type { LoadedConfig } from '../../app/config.ts'
import { QueryBot } from '../../bots/query-bot.ts'
import { SimpleBot } from '../../bots/simple-bot.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { LanguageModel } from '../../core/model.ts'
import type { DocumentStore } from '../../core/store.ts'
import { showTurn } from '../answer-view.ts'
import type { AnswerFormat } from '../answer-view.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { note } from '../io.ts'
import type { Io } from '../io.ts'
import { readText } from '../read-text.ts'
import { prepareStore, readConfig, STORE_OPTIONS } from '../store-options.ts'

const EXTRACTIVE = 'builtin/extractive'

export const ask: Command = defineCommand({
  name: 'ask',
  arguments: [{ name: 'question', about: 'what to answer; "-" reads it from standard input' }],
  options: {
    ...STORE_OPTIONS,
    results: { type: 'integer', short: 'n', value: 'N', about: 'passages given to the model', default: '20', min: 1, max: 1000 },
    model: {
      type: 'text',
      short: 'm',
      value: 'MODEL',
      about: 'provider/model, or main, quick, task, reasoning (see: cria models)',
    },
    fallback: { type: 'texts', value: 'MODEL', about: 'models to turn to when the first cannot answer, in this order' },
    thinking: { type: 'flag', about: 'ask the model to reason first' },
    'show-thinking': { type: 'flag', about: 'show what it thinks, on standard error' },
    session: { type: 'text', value: 'ID', about: 'go on with this session' },
    'max-cost': { type: 'number', value: 'USD', about: 'end the turn before it costs more', min: 0 },
    'no-log': { type: 'flag', about: 'write nothing to the journal' },
    json: { type: 'flag', about: 'print one JSON object: { answer, abstained, citations, model, usage, costUsd, … }' },
    events: { type: 'flag', about: 'print one event per line' },
  },
  details: `The answer comes from the documents of the store, with the places it rests on. Without any store the model answers
from what it knows. Without any model, builtin/extractive answers by quoting the documents; it needs no key and no network.`,
  examples: [
    'cria ask "How do I change the theme?" --docs docs',
    'cria ask "What is our policy on refunds?" --store handbook -m openai/gpt-5-mini',
    'git log -5 | cria ask - --json',
  ],
  async run({ arguments: [word = ''], options }, io) {
    if (options.json && options.events) throw new ConfigurationError('--json and --events exclude each other.')
    const question = await readText(word, 'question', io)
    if (question.trim() === '') throw new ConfigurationError('The question is empty: say what you want to know.')

    const loaded = await readConfig(io)
    const model = await openModel(options.model, loaded.config, io.env)
    const fallbackModels = await Promise.all(
      (options.fallback.length > 0 ? options.fallback : (loaded.config.fallbackModels ?? [])).map((name) =>
        openModel(name, loaded.config, io.env),
      ),
    )
    checkCost(options['max-cost'], [model, ...fallbackModels])

    const store = await openDocuments(options, loaded, io)
    if (store === undefined && model.ref === EXTRACTIVE) throw nothingToAnswerFrom()
    try {
      if (model.ref === EXTRACTIVE) await note(io, extractiveNotice(options.model !== undefined))
      const nResults = options.results ?? loaded.config.nResults
      const format: AnswerFormat = options.json ? 'json' : options.events ? 'events' : 'text'
      const shared = {
        model,
        fallbackModels,
        streamTarget: 'api' as const,
        ...(options.thinking ? { enableThinking: true } : {}),
        ...(options['no-log'] ? { recorder: false as const } : {}),
        // What a person or a pipe has been given cannot be taken back.
        ...(format === 'text' ? { retry: { afterOutput: 'error' as const } } : {}),
      }
      const asked = { signal: io.signal, ...(options.session === undefined ? {} : { sessionId: options.session }) }
      const events: AsyncIterable<QueryEvent> =
        store === undefined
          ? new SimpleBot(shared).events(question, asked)
          : new QueryBot({ ...shared, docstore: store }).events(question, {
              ...asked,
              ...(nResults === undefined ? {} : { nResults }),
            })
      return await showTurn(events, io, { format, showThinking: options['show-thinking'] })
    } finally {
      await store?.close()
    }
  },
})

async function openDocuments(
  options: { readonly store: string | undefined; readonly docs: readonly string[] },
  loaded: LoadedConfig,
  io: Io,
): Promise<DocumentStore | undefined> {
  const choice = await prepareStore(options, loaded, io)
  return choice === undefined ? undefined : openStore(choice)
}

function checkCost(limit: number | undefined, models: readonly LanguageModel[]): void {
  if (limit === undefined) return
  for (const { ref, facts } of models) {
    if (facts.price === undefined) {
      throw new ConfigurationError(`--max-cost cannot be kept with ${ref}: its price is not known.`, {
        hint: 'Say what it costs under "modelFacts" in config.json, or leave the option out.',
      })
    }
    if (facts.price.input > 0 || facts.price.output > 0) {
      throw new ConfigurationError(`--max-cost is planned and not there yet for models that cost something, as ${ref} does.`)
    }
  }
}

function extractiveNotice(wasNamed: boolean): string {
  const what = `${EXTRACTIVE} answers by quoting the documents.`
  return wasNamed
    ? what
    : `no model is configured: ${what} For a written answer set a key such as OPENAI_API_KEY, or name a model with -m.`
}

function nothingToAnswerFrom(): ConfigurationError {
  return new ConfigurationError('There are no documents to answer from, and no model is configured that could answer without.', {
    hint: 'Name documents with --docs PATH or index some with `cria index <path…>`; or set a key such as OPENAI_API_KEY, or name a model with -m.',
  })
}
