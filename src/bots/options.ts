/** The options of bots, and their checks. */

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

/** Where the text of an answer is shown while it comes. */
const STREAM_TARGETS = ['stdout', 'panel', 'api', 'none'] as const
/** Where the text of an answer is shown while it comes. */
export type StreamTarget = (typeof STREAM_TARGETS)[number]

const PASSED = [
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
type PassedOn = (typeof PASSED)[number]
/** Options of `query()` that a bot takes as they are. */
export const PASSED_ON: readonly PassedOn[] = PASSED

/** Options of every bot. */
export interface BotOptions extends CallSettings, Pick<QueryOptions, PassedOn> {
  /** The system prompt, as `system` of `query()`: a text, or what a prompt of `prompt()` gives; default none. */
  readonly system?: string | FilledPrompt
  /** Another name of `system`. */
  readonly systemPrompt?: string | FilledPrompt
  /** As `model` of `query()`: default the one that is configured. */
  readonly model?: ModelInput
  /** Default 0. */
  readonly temperature?: number
  /** What was said before, or anything else worth knowing: a `ChatMemory` or any document store. */
  readonly memory?: MemoryStore
  /**
   * `stdout` writes deltas as they arrive, `panel` draws a box in a terminal, `api` leaves them to the reader of `stream()`,
   * `none` makes one request without streaming. Default `stdout`.
   */
  readonly streamTarget?: StreamTarget
  /** Answers with JSON that the schema describes; needs `schema`. Default false. */
  readonly jsonMode?: boolean
  /** A Standard Schema or a JSON Schema object; needs `jsonMode`. */
  readonly schema?: Schema
  /** For `model` and the fallback models of its provider, in place of the key in the environment. Appears in no log, error or span. */
  readonly apiKey?: string
  /** Answers with this, at no cost and without a request; no other model is asked. */
  readonly mockResponse?: string
  /** The owner's name for this bot, in the journal. */
  readonly name?: string
  /** Where turns are written down: default the journal, `false` nowhere. */
  readonly recorder?: Recorder | false
  /** Where `stdout` and `panel` write; default the process's standard output. */
  readonly output?: NodeJS.WritableStream
}

const LOOP = [
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
/** Options of the loop, for bots that run tools: as those of `query()`. */
export type LoopOptions = Pick<QueryOptions, (typeof LOOP)[number]>
/** Their names. */
export const LOOP_OPTIONS: readonly (keyof LoopOptions)[] = LOOP

/** The options of these names that were given. */
export function optionsOf<Options extends object, Name extends keyof Options>(
  options: Options,
  names: readonly Name[],
): { [Key in Name]?: Exclude<Options[Key], undefined> } {
  return Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))) as never
}

/** A count of at least 1, under either of its two names. @throws ConfigurationError for another value, and when it was given twice. */
export function countOf<Options extends object, Name extends keyof Options & string>(
  options: Options & { readonly [Key in Name]?: number },
  own: Name,
  alias: Name,
): number | undefined {
  for (const name of [own, alias]) checkNumber(name, options[name], 1)
  return eitherOf<{ readonly [Key in Name]?: number }, Name, Name>(options, own, alias)
}

/** The compiler sees to it that none is missing. */
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

/** What `query()`, and other libraries, call what is there under another name. */
const ELSEWHERE = {
  maxTokens: 'maxOutputTokens',
  docstore: 'new QueryBot({ docstore })',
  tools: 'new AgentBot({ tools })',
  sessionId: 'ask(input, { sessionId })',
}

/**
 * The options that every bot takes, out of those of a bot that takes more.
 *
 * @param own the names of what only it takes.
 * @param elsewhere hints of its own, before those of all bots.
 * @throws ConfigurationError for a name that it does not take.
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

/** @throws ConfigurationError that names the option, what was expected and what came. */
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
      '`apiKey` has no effect beside a model that is made already: give the key to createModel(name, { apiKey }), or name the model.',
    )
  }
  if (jsonMode === undefined && schema !== undefined)
    throw new ConfigurationError('`schema` needs `jsonMode: true`, or a StructuredBot, which checks the answer as well.')
  if (jsonMode === true && schema === undefined) {
    throw new ConfigurationError('jsonMode needs a `schema`: a Standard Schema (Zod, Valibot, ArkType) or a JSON Schema object.')
  }
  if (schema !== undefined) jsonSchemaOf(schema, 'jsonMode')
}
