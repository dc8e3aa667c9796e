/** The options that several commands take, the names that each of them takes, and the types of their values. */

import type { FeedbackVerdict } from '../app/feedback.ts'
import type { OptionValues } from './command.ts'

export const OPTIONS = {
  store: { type: 'text', value: 'NAME', about: 'the store to search', default: 'default' },
  docs: {
    type: 'texts',
    value: 'PATH',
    about: 'files and folders to search: they are indexed into a store that is kept for these paths',
  },
  source: {
    type: 'texts',
    value: 'PATH',
    about: 'only these files: a path, what lies below it, or a pattern such as "docs/**" or "*.md"; "!PATTERN" leaves out',
  },
  filter: {
    type: 'texts',
    value: 'KEY=VALUE',
    about: 'only documents with this fact about them; of one key one value is enough, of several keys each counts',
  },
  // The default is only shown: config.json may have another.
  results: { type: 'integer', short: 'n', value: 'N', about: 'passages given to the model', default: '20', min: 1, max: 1000 },
  model: {
    type: 'text',
    short: 'm',
    value: 'MODEL',
    about: 'provider/model, an alias, or main, quick, task, reasoning (see: cria models)',
  },
  fallback: { type: 'texts', value: 'MODEL', about: 'models to turn to when the first cannot answer, in this order' },
  'no-switch': { type: 'flag', about: 'answer with this model or not at all, whatever config.json says' },
  thinking: { type: 'flag', about: 'ask the model to reason first' },
  system: { type: 'text', short: 's', value: 'TEXT', about: 'the system prompt: how to answer' },
  option: {
    type: 'texts',
    short: 'o',
    value: 'KEY=VALUE',
    about: 'a setting of the model: temperature, max-tokens, thinking, …',
  },
  template: { type: 'text', short: 't', value: 'NAME', about: 'ask with this template, or file (see: cria templates)' },
  param: { type: 'texts', short: 'p', value: 'KEY=VALUE', about: 'the value of a variable of the template' },
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
  cache: {
    type: 'flag',
    about: 'take an answer that was given to an equal request in the last 5 minutes; the journal keeps them',
  },
  'no-log': { type: 'flag', about: 'write nothing to the journal' },
  schema: {
    type: 'text',
    value: 'SCHEMA',
    about: 'print JSON that fits: a file with a JSON Schema, or fields such as "name, age int, bio"',
  },
  multi: { type: 'flag', about: 'with --schema: print a list of such objects' },
  json: { type: 'flag', about: 'print one JSON object' },
  events: { type: 'flag', about: 'print one event per line' },
  allow: { type: 'texts', value: 'RULE', about: 'calls that may run: "edit_file(src/**)", "run_command(npm test)"' },
  deny: { type: 'texts', value: 'RULE', about: 'calls that never run, whatever else is allowed' },
  safe: { type: 'flag', about: 'allow nothing without a rule, not even reading; one call at a time' },
  'max-steps': { type: 'integer', value: 'N', about: 'model calls at most', default: '50', min: 1, max: 10_000 },
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

type Name = keyof typeof OPTIONS

/** The options with these names, in their order. */
export function pick<const Picked extends Name>(names: readonly Picked[]): Pick<typeof OPTIONS, Picked> {
  return Object.fromEntries(names.map((name) => [name, OPTIONS[name]])) as Pick<typeof OPTIONS, Picked>
}

export const PROMPT = ['model', 'fallback', 'no-switch', 'thinking', 'system', 'option', 'template', 'param'] as const
/** Data beside the question, the session, and limits. */
export const TURN = ['attach', 'session', 'continue', 'show-thinking', 'max-cost'] as const
export const DOCUMENTS = ['source', 'filter', 'results'] as const
export const ANSWER = ['cache', 'no-log', 'schema', 'multi', 'json', 'events'] as const
export const RULES = ['allow', 'deny', 'safe', 'max-steps'] as const
export const TOOLS = ['fetch', 'sandbox', 'network', 'no-mcp', 'store', 'docs'] as const

type Values<Names extends Name> = OptionValues<Pick<typeof OPTIONS, Names>>
type Both = 'store' | 'docs' | (typeof PROMPT)[number] | (typeof TURN)[number] | 'no-log' | 'json' | 'events'
/** Values of the options that `ask` and `run` share. */
export type TurnOptions = Values<Both>
export type AskOptions = Values<Both | (typeof DOCUMENTS)[number] | (typeof ANSWER)[number]>
export type RunOptions = Values<Both | (typeof RULES)[number] | (typeof TOOLS)[number]>
export interface CompareOptions extends Values<'store' | 'docs' | 'results' | 'system' | 'json'> {
  readonly model: readonly string[]
  readonly choice: FeedbackVerdict | undefined
  readonly comment: string | undefined
}
