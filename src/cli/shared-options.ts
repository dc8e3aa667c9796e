/** Declares the options that several commands share, the groups they are taken in, and the types of their values. */

import type { FeedbackVerdict } from '../app/feedback.ts'
import type { OptionValues } from './command.ts'

export const OPTIONS = {
  store: { type: 'text', value: 'NAME', about: 'the store to search', default: 'default' },
  docs: { type: 'texts', value: 'PATH', about: 'files and folders to search; their index is kept for the next question' },
  source: {
    type: 'texts',
    value: 'PATH',
    about: 'only these files: a file, a folder, or a pattern such as "docs/**" or "*.md"; "!PATTERN" excludes',
  },
  filter: {
    type: 'texts',
    value: 'KEY=VALUE',
    about: 'only documents with this metadata; one value of a key is enough, different keys must all match',
  },
  // The default is only shown: config.json may have another.
  results: { type: 'integer', short: 'n', value: 'N', about: 'passages sent to the model', default: '20', min: 1, max: 1000 },
  model: {
    type: 'text',
    short: 'm',
    value: 'MODEL',
    about: 'provider/model, an alias, or main, quick, task, reasoning (see: cria models)',
  },
  fallback: { type: 'texts', value: 'MODEL', about: 'models to try, in this order, when the first cannot answer' },
  'no-switch': { type: 'flag', about: 'use only this model, even if config.json names fallback models' },
  thinking: { type: 'flag', about: 'let the model reason first' },
  system: { type: 'text', short: 's', value: 'TEXT', about: 'the system prompt: how to answer' },
  option: {
    type: 'texts',
    short: 'o',
    value: 'KEY=VALUE',
    about: 'a setting of the model: temperature, max-tokens, thinking, …',
  },
  template: { type: 'text', short: 't', value: 'NAME', about: 'use this template, or template file (see: cria templates)' },
  param: { type: 'texts', short: 'p', value: 'KEY=VALUE', about: 'the value of a template variable' },
  attach: {
    type: 'texts',
    short: 'a',
    value: 'FILE',
    about: 'send the model a file, a URL or - (standard input): image, PDF or text',
  },
  session: { type: 'text', value: 'ID', about: 'continue this session' },
  continue: { type: 'flag', short: 'c', about: 'continue the last session, with its model and documents' },
  'show-thinking': { type: 'flag', about: 'show the reasoning of the model, on standard error' },
  'max-cost': { type: 'number', value: 'USD', about: 'end the turn before it costs more than this', min: 0 },
  cache: { type: 'flag', about: 'reuse the answer to an equal request of the last 5 minutes, from the journal' },
  'no-log': { type: 'flag', about: 'write nothing to the journal' },
  schema: {
    type: 'text',
    value: 'SCHEMA',
    about: 'print JSON that fits a schema: a JSON Schema file, or fields such as "name, age int, bio"',
  },
  multi: { type: 'flag', about: 'with --schema: print a list of objects' },
  json: { type: 'flag', about: 'print one JSON object' },
  events: { type: 'flag', about: 'print one event per line' },
  allow: { type: 'texts', value: 'RULE', about: 'calls that may run: "edit_file(src/**)", "run_command(npm test)"' },
  deny: { type: 'texts', value: 'RULE', about: 'calls that are refused, even if another rule allows them' },
  safe: { type: 'flag', about: 'allow nothing without a rule, not even reading; one call at a time' },
  'max-steps': { type: 'integer', value: 'N', about: 'maximum number of model calls', default: '50', min: 1, max: 10_000 },
  fetch: { type: 'flag', about: 'add fetch_url, which reads public web pages' },
  sandbox: {
    type: 'text',
    value: 'MODE',
    choices: ['auto', 'required', 'off'],
    about: 'confine commands where the system can (auto), refuse them where it cannot (required), never confine (off)',
    default: 'auto',
  },
  network: { type: 'flag', about: 'let all sandboxed commands use the network, even without a rule network(…)' },
  'no-mcp': { type: 'flag', about: 'start no MCP servers, even if config.json names some' },
} as const

type Name = keyof typeof OPTIONS

/** Returns the options with these names, in the order of the names. */
export function pick<const Picked extends Name>(names: readonly Picked[]): Pick<typeof OPTIONS, Picked> {
  return Object.fromEntries(names.map((name) => [name, OPTIONS[name]])) as Pick<typeof OPTIONS, Picked>
}

export const PROMPT = ['model', 'fallback', 'no-switch', 'thinking', 'system', 'option', 'template', 'param'] as const
/** Attached data, the session, and limits. */
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

/** Names of the options that chat and `cria run` share. */
type SharedName = (typeof PROMPT)[number] | (typeof TOOLS)[number] | 'safe' | 'allow' | 'deny' | 'continue' | 'max-cost'

/** Options of `cria chat`. `continue` continues the last session of the folder. */
export interface ChatOptions extends Pick<RunOptions, SharedName> {
  /** Id of the session to continue; empty: chosen from a list. Once the chat has started, the id that was chosen. */
  readonly resume: string | undefined
  readonly plain: boolean
  /** Seconds after which a turn rings the bell; empty: 10. Absent: never. */
  readonly bell?: string | undefined
}
