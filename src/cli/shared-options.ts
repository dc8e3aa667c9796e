/** Options that several commands take, and the types of their values. */

import type { OptionValues } from './command.ts'
import type { FILTER_OPTIONS } from './filter-options.ts'

/** Documents. */
export const STORE_OPTIONS = {
  store: { type: 'text', value: 'NAME', about: 'the store to search', default: 'default' },
  docs: {
    type: 'texts',
    value: 'PATH',
    about: 'files and folders to search: they are indexed into a store that is kept for these paths',
  },
} as const

/** The prompt, apart from the question. */
export const TEMPLATE_OPTIONS = {
  system: { type: 'text', short: 's', value: 'TEXT', about: 'the system prompt: how to answer' },
  option: {
    type: 'texts',
    short: 'o',
    value: 'KEY=VALUE',
    about: 'a setting of the model: temperature, max-tokens, thinking, …',
  },
  template: { type: 'text', short: 't', value: 'NAME', about: 'ask with this template, or file (see: cria templates)' },
  param: { type: 'texts', short: 'p', value: 'KEY=VALUE', about: 'the value of a variable of the template' },
} as const

export const MODEL_OPTIONS = {
  model: {
    type: 'text',
    short: 'm',
    value: 'MODEL',
    about: 'provider/model, an alias, or main, quick, task, reasoning (see: cria models)',
  },
  fallback: { type: 'texts', value: 'MODEL', about: 'models to turn to when the first cannot answer, in this order' },
  'no-switch': { type: 'flag', about: 'answer with this model or not at all, whatever config.json says' },
  thinking: { type: 'flag', about: 'ask the model to reason first' },
} as const

/** What goes to the model beside the question, and how the turn is kept and shown. */
export const PROMPT_OPTIONS = {
  attach: {
    type: 'texts',
    short: 'a',
    value: 'FILE',
    about: 'give the model a file, a URL or - (standard input): image, PDF or text',
  },
  session: { type: 'text', value: 'ID', about: 'go on with this session' },
  continue: { type: 'flag', short: 'c', about: 'go on with the last session, its model and its documents' },
  'show-thinking': { type: 'flag', about: 'show what it thinks, on standard error' },
  'max-cost': { type: 'number', value: 'USD', about: 'end the turn before it costs more', min: 0 },
} as const
export const LOG_OPTIONS = { 'no-log': { type: 'flag', about: 'write nothing to the journal' } } as const
export const PRINT_OPTIONS = {
  json: { type: 'flag', about: 'print one JSON object' },
  events: { type: 'flag', about: 'print one event per line' },
} as const

/** Tools, and how programs are run. */
export const TOOL_OPTIONS = {
  fetch: { type: 'flag', about: 'add fetch_url, which reads public web pages' },
  sandbox: {
    type: 'text',
    value: 'MODE',
    choices: ['auto', 'required', 'off'],
    about: 'confine commands where the system can (auto), refuse them where it cannot (required), or never (off)',
    default: 'auto',
  },
  network: { type: 'flag', about: 'let commands in the sandbox use the network; else those that a rule network(…) covers' },
  'no-mcp': { type: 'flag', about: 'start no MCP servers, whatever config.json names' },
} as const

/** The default is only shown: config.json may have another. */
export const RESULTS = { type: 'integer', short: 'n', value: 'N', about: 'passages', default: '20', min: 1, max: 1000 } as const

export const CACHE_OPTIONS = {
  cache: {
    type: 'flag',
    about: 'take an answer that was given to an equal request in the last 5 minutes; the journal keeps them',
  },
} as const
export const SCHEMA_OPTIONS = {
  schema: {
    type: 'text',
    value: 'SCHEMA',
    about: 'print JSON that fits: a file with a JSON Schema, or fields such as "name, age int, bio"',
  },
  multi: { type: 'flag', about: 'with --schema: print a list of such objects' },
} as const

export const RUN_OPTIONS = {
  allow: { type: 'texts', value: 'RULE', about: 'calls that may run: "edit_file(src/**)", "run_command(npm test)"' },
  deny: { type: 'texts', value: 'RULE', about: 'calls that never run, whatever else is allowed' },
  safe: { type: 'flag', about: 'allow nothing without a rule, not even reading; one call at a time' },
  'max-steps': { type: 'integer', value: 'N', about: 'model calls at most', default: '50', min: 1, max: 10_000 },
} as const

export const COMPARED = {
  model: { type: 'texts', short: 'm', value: 'MODEL', about: 'the two models; one alone answers twice' },
} as const
export const CHOICE_OPTIONS = {
  system: { type: 'text', value: 'TEXT', about: 'the system prompt of both' },
  choice: {
    type: 'text',
    value: 'CHOICE',
    about: 'the choice, for scripts: nobody is asked',
    choices: ['first', 'second', 'tie', 'both_bad'],
  },
  comment: { type: 'text', value: 'TEXT', about: 'why, together with --choice' },
} as const

type Turn = typeof STORE_OPTIONS &
  typeof MODEL_OPTIONS &
  typeof TEMPLATE_OPTIONS &
  typeof PROMPT_OPTIONS &
  typeof LOG_OPTIONS &
  typeof PRINT_OPTIONS
type Results = { readonly results: typeof RESULTS }
/** Values of the options that `ask` and `run` share. */
export type TurnOptions = OptionValues<Turn>
export type AskOptions = OptionValues<Turn & typeof FILTER_OPTIONS & Results & typeof CACHE_OPTIONS & typeof SCHEMA_OPTIONS>
export type RunOptions = OptionValues<Turn & typeof RUN_OPTIONS & typeof TOOL_OPTIONS>
export type CompareOptions = OptionValues<
  typeof COMPARED & typeof STORE_OPTIONS & Results & typeof CHOICE_OPTIONS & Pick<typeof PRINT_OPTIONS, 'json'>
>
