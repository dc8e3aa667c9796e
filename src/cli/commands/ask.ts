/** Declares the commands that ask a model, and the options that they share. What they do is loaded when it is done. */

import { defineCommand, jsonOption } from '../command.ts'
import type { Command, OptionValues } from '../command.ts'
import { FILTER_OPTIONS } from '../filter-options.ts'

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

const MODEL_OPTIONS = {
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
const PROMPT_OPTIONS = {
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
const LOG_OPTIONS = { 'no-log': { type: 'flag', about: 'write nothing to the journal' } } as const
const PRINT_OPTIONS = {
  json: { type: 'flag', about: 'print one JSON object' },
  events: { type: 'flag', about: 'print one event per line' },
} as const

/** Tools, and how programs are run. */
const TOOL_OPTIONS = {
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
const RESULTS = { type: 'integer', short: 'n', value: 'N', about: 'passages', default: '20', min: 1, max: 1000 } as const

const CACHE_OPTIONS = {
  cache: {
    type: 'flag',
    about: 'take an answer that was given to an equal request in the last 5 minutes; the journal keeps them',
  },
} as const
const SCHEMA_OPTIONS = {
  schema: {
    type: 'text',
    value: 'SCHEMA',
    about: 'print JSON that fits: a file with a JSON Schema, or fields such as "name, age int, bio"',
  },
  multi: { type: 'flag', about: 'with --schema: print a list of such objects' },
} as const

const RUN_OPTIONS = {
  allow: { type: 'texts', value: 'RULE', about: 'calls that may run: "edit_file(src/**)", "run_command(npm test)"' },
  deny: { type: 'texts', value: 'RULE', about: 'calls that never run, whatever else is allowed' },
  safe: { type: 'flag', about: 'allow nothing without a rule, not even reading; one call at a time' },
  'max-steps': { type: 'integer', value: 'N', about: 'model calls at most', default: '50', min: 1, max: 10_000 },
} as const

const COMPARED = {
  model: { type: 'texts', short: 'm', value: 'MODEL', about: 'the two models; one alone answers twice' },
} as const
const CHOICE_OPTIONS = {
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

const SESSIONS_ARE_KEPT = 'a session is kept in the journal'
const TWO_SESSIONS = ['continue', 'session', 'both say which session goes on'] as const

export const ask: Command = defineCommand({
  name: 'ask',
  arguments: [
    { name: 'question', about: 'what to answer; "-", or nothing, reads it from standard input', required: false, claims: true },
  ],
  options: {
    ...STORE_OPTIONS,
    ...FILTER_OPTIONS,
    results: { ...RESULTS, about: 'passages given to the model' },
    ...MODEL_OPTIONS,
    ...TEMPLATE_OPTIONS,
    ...PROMPT_OPTIONS,
    ...CACHE_OPTIONS,
    ...LOG_OPTIONS,
    ...SCHEMA_OPTIONS,
    json: jsonOption('{ answer, abstained, citations, uncited, model, usage, … }'),
    events: PRINT_OPTIONS.events,
  },
  excludes: [
    ['json', 'events'],
    ['cache', 'no-log', 'answers are kept in the journal'],
    ['schema', 'events', 'what is printed is the object, not how it came about'],
    ['continue', 'no-log', SESSIONS_ARE_KEPT],
    TWO_SESSIONS,
  ],
  details: `The answer comes from the documents of the store, with the places it rests on. Without any store the model answers
from what it knows. Without any model, builtin/extractive answers by quoting the documents; it needs no key and no network.
What is piped in beside a question is data for it, as is what -a names: the model is told that it is no instruction.`,
  examples: [
    'cria ask "How do I change the theme?" --docs docs',
    'cria ask "What is our policy on refunds?" --store handbook -m openai/gpt-5-mini',
    'cria ask "Which errors are retried?" --source "docs/api/**"',
    'git log -5 | cria ask "Summarise these commits" -o temperature=0',
    'git diff | cria ask -t review -p what=security',
    'cria ask "Who wrote these?" --schema "name, commits int" --multi -m openai/gpt-5-mini < log.txt',
    'cria ask "What is in this picture?" -a photo.png -m openai/gpt-5-mini',
  ],
  run: async ({ arguments: [word = ''], options }, io) => (await import('../ask.ts')).runAsk(word, options, io),
})

export const runTask: Command = defineCommand({
  name: 'run',
  arguments: [
    { name: 'task', about: 'what to do; "-", or nothing, reads it from standard input', required: false, claims: true },
  ],
  options: {
    ...RUN_OPTIONS,
    ...TOOL_OPTIONS,
    ...STORE_OPTIONS,
    ...MODEL_OPTIONS,
    ...TEMPLATE_OPTIONS,
    ...PROMPT_OPTIONS,
    ...LOG_OPTIONS,
    json: jsonOption('{ answer, steps, toolCalls, refused, changed, notices, model, usage, costUsd, … }'),
    events: PRINT_OPTIONS.events,
  },
  excludes: [
    ['json', 'events'],
    ['continue', 'no-log', SESSIONS_ARE_KEPT],
    ['session', 'no-log', SESSIONS_ARE_KEPT],
    TWO_SESSIONS,
  ],
  details: `The model works in the current folder with tools: it reads, lists and searches files freely, and changes files or runs
commands where a rule allows it: --allow, or "rules" in config.json (a project's own counts after cria trust). Nobody is
asked: what no rule allows is refused, and the model is told. The answer goes to standard output; what was done, changed
and refused goes to standard error. Exit code 4: the last thing it tried to change or run was refused. The model is also told
what AGENTS.md and the like say (as instructions once you ran cria trust, else as data) and what git status says. What is
piped in beside a task is data for it, as is what -a names.`,
  examples: [
    'cria run "Why does the build fail?"',
    `cria run "Fix the failing test" --allow='edit_file(src/**)' --allow='run_command(npm test)'`,
    'git diff | cria run "Review this change" --json --max-cost 0.5',
  ],
  run: async ({ arguments: [word = ''], options }, io) => (await import('../run-task.ts')).runTaskWithTools(word, options, io),
})

export const chat: Command = defineCommand({
  name: 'chat',
  options: {
    safe: { type: 'flag', about: 'ask about every call, whatever is allowed; one call at a time' },
    resume: { type: 'optional', value: 'ID', about: 'go on with a session; without an ID choose from a list' },
    continue: { type: 'flag', short: 'c', about: 'go on with the last session of this folder' },
    ...MODEL_OPTIONS,
    ...TEMPLATE_OPTIONS,
    allow: { type: 'texts', value: 'RULE', about: 'calls that need no question: "edit_file(src/**)", "run_command(npm test)"' },
    deny: RUN_OPTIONS.deny,
    ...TOOL_OPTIONS,
    ...STORE_OPTIONS,
    'max-cost': { type: 'number', value: 'USD', about: 'ask no more when the session has cost so much', min: 0 },
    bell: {
      type: 'optional',
      value: 'SECONDS',
      about: 'ring when a turn that took longer ends, or waits for you; 10 when not said',
    },
    plain: { type: 'flag', about: 'lines only, nothing is painted over: for screen readers and simple terminals' },
  },
  details: `The model works in the current folder with tools. It reads, lists and searches files freely; before it changes a file or runs a
command you see the diff or the exact command, and decide. What nobody answers is refused. Esc interrupts, Ctrl-C twice
leaves, /help tells the rest. Without a terminal each line of standard input is a message, answers go to standard output, and
what would be asked is refused.`,
  examples: [
    'cria chat',
    'cria chat -c',
    `cria chat -m anthropic/claude-sonnet-4-5 --allow='run_command(npm test)'`,
    'echo "What does this project do?" | cria chat',
  ],
  run: async ({ options }, io) => (await import('../chat/run-chat.ts')).runChat(options, io),
})

export const compare: Command = defineCommand({
  name: 'compare',
  arguments: [{ name: 'question', about: 'what to answer; "-" reads it from standard input' }],
  options: {
    ...COMPARED,
    ...STORE_OPTIONS,
    results: { ...RESULTS, about: 'passages given to each model' },
    ...CHOICE_OPTIONS,
    json: jsonOption('{ answers, shownFirst, choice, … }'),
  },
  details: `Both answers come at the same time and are shown in a random order, without names. The choice is written to the journal together
with both turns: "cria logs stats --preferences" adds choices up, "cria logs export --preferences" writes them as pairs for training. Answers
of one model are sampled at temperature 1, those of two at 0.`,
  examples: [
    'cria compare "Explain a spring tide." -m openai/gpt-5-mini -m anthropic/claude-sonnet-4-5',
    'cria compare "How are refunds made?" --docs docs -m ollama/qwen3',
  ],
  run: async ({ arguments: [word = ''], options }, io) => (await import('../compare.ts')).runCompare(word, options, io),
})
