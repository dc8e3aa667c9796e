/** Defines and checks the options of bots. */

import type { ModelInput } from '../app/models.ts'
import type { QueryOptions } from '../app/query.ts'
import { ConfigurationError } from '../core/error.ts'
import type { CallSettings } from '../core/model.ts'
import { isFilledPrompt } from '../core/prompt.ts'
import type { FilledPrompt } from '../core/prompt.ts'
import type { Recorder } from '../core/recorder.ts'
import { jsonSchemaOf } from '../core/schema.ts'
import type { Schema } from '../core/schema.ts'
import type { MemoryStore } from '../core/store.ts'
import { resolveModel } from '../app/open-model.ts'
import { checkSettings, SETTINGS } from '../engine/checks/options.ts'
import { checkList, checkNames, checkNumber, checkOneOf, checkPort, checkType, eitherOf } from '../engine/checks/values.ts'
import { namesOf } from '../util/nearest.ts'

const STREAM_TARGETS = ['stdout', 'panel', 'api', 'none'] as const
/** Where the text of an answer is shown while it arrives. */
export type StreamTarget = (typeof STREAM_TARGETS)[number]

/** Options of `query()` that a bot passes on unchanged. */
export const PASSED_ON = [
  'fallbackModels',
  'fallbackOn',
  'switchModels',
  'retry',
  'timeouts',
  'enableThinking',
  'budget',
  'cache',
  'slowAfter',
  'specialist',
  'context',
  'showThinking',
  'onUpdateUsage',
  'onQueryCompleted',
  'answerLimits',
] as const
type PassedOn = (typeof PASSED_ON)[number]

/** Options of every bot. */
export interface BotOptions extends CallSettings, Pick<QueryOptions, PassedOn> {
  /** The system prompt, as `system` of `query()`: a text or a filled prompt of `prompt()`; default none. */
  readonly system?: string | FilledPrompt
  /** Another name of `system`. */
  readonly systemPrompt?: string | FilledPrompt
  /** The model, as `model` of `query()`; default: the configured model. */
  readonly model?: ModelInput
  /** Sampling temperature; default 0. */
  readonly temperature?: number
  /** Earlier messages or other knowledge: a `ChatMemory` or any document store. */
  readonly memory?: MemoryStore
  /**
   * `stdout` writes deltas as they arrive, `panel` draws a box in a terminal, `api` leaves deltas to the reader of `stream()`,
   * `none` sends a request without streaming. Default `stdout`.
   */
  readonly streamTarget?: StreamTarget
  /** Answers with JSON that fits the schema; needs `schema`. Default false. */
  readonly jsonMode?: boolean
  /** A Standard Schema or a JSON Schema object; needs `jsonMode`. */
  readonly schema?: Schema
  /** API key for `model` and the fallback models of its provider; overrides the environment. Never logged, nor in errors or spans. */
  readonly apiKey?: string
  /** Answers with this text, without a request or cost; other models are not used. */
  readonly mockResponse?: string
  /** Name of this bot in the journal. */
  readonly name?: string
  /** Where turns are recorded: default the journal, `false` nowhere. */
  readonly recorder?: Recorder | false
  /** Where `stdout` and `panel` write; default the process's standard output. */
  readonly output?: NodeJS.WritableStream
}

/** Names of `LoopOptions`. */
export const LOOP_OPTIONS = [
  'hasPermissionsToUseTool',
  'rules',
  'hooks',
  'repairToolCall',
  'safeMode',
  'toolConcurrency',
  'toolChoice',
  'prepareStep',
  'stopWhen',
  'nesting',
] as const
/** Options of `query()` for the tool loop, for bots that run tools. */
export type LoopOptions = Pick<QueryOptions, (typeof LOOP_OPTIONS)[number]>

/** Returns the options with these names that are not `undefined`. */
export function optionsOf<Options extends object, Name extends keyof Options>(
  options: Options,
  names: readonly Name[],
): { [Key in Name]?: Exclude<Options[Key], undefined> } {
  return Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))) as never
}

/** Reads a count of at least 1 under either of two names. @throws ConfigurationError for another value, or when both names are given. */
export function countOf<Options extends object, Name extends keyof Options & string>(
  options: Options & { readonly [Key in Name]?: number },
  own: Name,
  alias: Name,
): number | undefined {
  for (const name of [own, alias]) checkNumber(name, options[name], 1)
  return eitherOf<{ readonly [Key in Name]?: number }, Name, Name>(options, own, alias)
}

/** All option names; the compiler checks that the list is complete. */
const BOT_OPTIONS: readonly string[] = [
  ...PASSED_ON,
  ...Object.keys(SETTINGS),
  ...namesOf<Omit<BotOptions, PassedOn | keyof CallSettings>>({
    system: true,
    systemPrompt: true,
    model: true,
    memory: true,
    streamTarget: true,
    jsonMode: true,
    schema: true,
    apiKey: true,
    mockResponse: true,
    name: true,
    recorder: true,
    output: true,
  }),
]

/** Hints for names from `query()` and other libraries that bots call differently. */
const ELSEWHERE = {
  maxTokens: 'maxOutputTokens',
  docstore: 'new QueryBot({ docstore })',
  tools: 'new AgentBot({ tools })',
  sessionId: 'ask(input, { sessionId })',
}

/**
 * Returns the options that every bot takes, from the options of a bot with further ones.
 *
 * @param own names of the bot's further options.
 * @param elsewhere hints for misplaced names, which override those of all bots.
 * @throws ConfigurationError for an unknown name.
 */
export function sharedOptions(
  what: string,
  options: object,
  own: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
): BotOptions {
  checkNames(what, options, [...BOT_OPTIONS, ...own], { ...ELSEWHERE, ...elsewhere })
  return Object.fromEntries(Object.entries(options).filter(([name]) => !own.includes(name)))
}

/** @throws ConfigurationError that names the option, the expected and the received value. */
export function checkBotOptions(options: BotOptions): void {
  sharedOptions('A bot', options, [])
  const { streamTarget, jsonMode, schema, apiKey, model, fallbackModels = [], memory, recorder } = options
  for (const name of ['system', 'systemPrompt'] as const)
    if (!isFilledPrompt(options[name])) checkType(name, options[name], 'string')
  for (const name of ['name', 'apiKey', 'mockResponse'] as const) checkType(name, options[name], 'string')
  checkType('jsonMode', jsonMode, 'boolean')
  checkSettings(options)
  for (const method of ['retrieve', 'append'])
    checkPort('memory', memory, method, 'new ChatMemory() or SqliteDocumentStore.open()')
  if (recorder !== false) checkPort('recorder', recorder, 'openTurn', 'openRecorder()')
  checkList('fallbackModels', fallbackModels, 'models')
  for (const model of fallbackModels) resolveModel(model)
  checkOneOf('streamTarget', streamTarget, STREAM_TARGETS)
  if (apiKey !== undefined && typeof model === 'object') {
    throw new ConfigurationError(
      '`apiKey` has no effect on a model object: pass the key to createModel(name, { apiKey }), or give the model as a name.',
    )
  }
  if (jsonMode === undefined && schema !== undefined)
    throw new ConfigurationError('`schema` needs `jsonMode: true`, or a StructuredBot, which checks the answer as well.')
  if (jsonMode === true && schema === undefined) {
    throw new ConfigurationError('jsonMode needs a `schema`: a Standard Schema (Zod, Valibot, ArkType) or a JSON Schema object.')
  }
  if (schema !== undefined) jsonSchemaOf(schema, 'jsonMode')
}
