/** Declares `ask`, `run`, `chat` and `compare`. Their implementations are loaded when they run. */

import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { ANSWER, DOCUMENTS, OPTIONS, pick, PROMPT, RULES, TOOLS, TURN } from '../shared-options.ts'

const SESSIONS_ARE_KEPT = 'a session is kept in the journal'
const TWO_SESSIONS = ['continue', 'session', 'both name the session to continue'] as const

export const ask: Command = defineCommand({
  name: 'ask',
  arguments: [
    { name: 'question', about: 'the question; "-" or no argument reads it from standard input', required: false, claims: true },
  ],
  options: {
    ...pick(['store', 'docs', ...DOCUMENTS, ...PROMPT, ...TURN, ...ANSWER]),
    json: jsonOption('{ answer, abstained, citations, uncited, model, usage, … }'),
  },
  excludes: [
    ['json', 'events'],
    ['cache', 'no-log', 'cached answers are read from the journal'],
    ['schema', 'events', '--schema prints only the object'],
    ['continue', 'no-log', SESSIONS_ARE_KEPT],
    TWO_SESSIONS,
  ],
  details: `Answers from the documents of the store and cites the passages it uses. Without a store the model answers from what it
knows. Without a model, builtin/extractive answers by quoting the documents; it needs no key and no network.
Piped input and files named with -a are sent to the model as data, marked as not being instructions.`,
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
    { name: 'task', about: 'the task; "-" or no argument reads it from standard input', required: false, claims: true },
  ],
  options: {
    ...pick([...RULES, ...TOOLS, ...PROMPT, ...TURN, 'no-log', 'json', 'events']),
    json: jsonOption('{ answer, steps, toolCalls, refused, changed, notices, model, usage, costUsd, … }'),
  },
  excludes: [
    ['json', 'events'],
    ['continue', 'no-log', SESSIONS_ARE_KEPT],
    ['session', 'no-log', SESSIONS_ARE_KEPT],
    TWO_SESSIONS,
  ],
  details: `The model works in the current folder with tools. It reads, lists and searches files freely. It changes files and runs
commands only where a rule allows it: --allow, "rules" in config.json (those of a project count after cria trust), or a rule
that you kept in a chat for this folder or everywhere ("cria trust --show" lists them). There are no permission prompts: a
call that no rule allows is refused, and the model receives the refusal. The answer goes to standard output; calls, changes
and refusals go to standard error. Exit code 4: the last change or command it tried was refused. The model also receives git
status and AGENTS.md and similar files (as instructions after cria trust, else as data). Piped input and files named with -a
are sent as data.`,
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
    safe: { type: 'flag', about: 'ask before every call, even an allowed one; one call at a time' },
    resume: { type: 'optional', value: 'ID', about: 'continue a session; without an ID, choose one from a list' },
    continue: { type: 'flag', short: 'c', about: 'continue the last session of this folder' },
    ...pick(PROMPT),
    allow: { type: 'texts', value: 'RULE', about: 'calls that run without asking: "edit_file(src/**)", "run_command(npm test)"' },
    ...pick(['deny', ...TOOLS]),
    'max-cost': { type: 'number', value: 'USD', about: 'stop asking models once the session has cost this much', min: 0 },
    bell: {
      type: 'optional',
      value: 'SECONDS',
      about: 'ring when a turn longer than this ends or waits for you; 10 without a value',
    },
    plain: { type: 'flag', about: 'print plain lines, never redraw: for screen readers and simple terminals' },
  },
  details: `The model works in the current folder with tools. It reads, lists and searches files freely; before it changes a file or runs a
command you see the diff or the exact command, and decide. A question without an answer is a refusal. Esc interrupts, Ctrl-C
twice leaves, /help lists the rest. Without a terminal each line of standard input is a message, answers go to standard
output, and calls that need permission are refused.`,
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
  arguments: [{ name: 'question', about: 'the question; "-" reads it from standard input' }],
  options: {
    model: { type: 'texts', short: 'm', value: 'MODEL', about: 'the two models; a single model answers twice' },
    ...pick(['store', 'docs']),
    results: { ...OPTIONS.results, about: 'passages sent to each model' },
    system: { type: 'text', value: 'TEXT', about: 'the system prompt of both' },
    choice: {
      type: 'text',
      value: 'CHOICE',
      about: 'record this choice without asking, for scripts',
      choices: ['first', 'second', 'tie', 'both_bad'],
    },
    comment: { type: 'text', value: 'TEXT', about: 'reason for the choice, with --choice' },
    json: jsonOption('{ answers, shownFirst, choice, … }'),
  },
  details: `Both answers are generated at the same time and shown in random order, without model names. The choice is recorded in the
journal with both turns: "cria logs stats --preferences" totals choices, "cria logs export --preferences" writes them as
training pairs. A single model is sampled at temperature 1, two models at 0.`,
  examples: [
    'cria compare "Explain a spring tide." -m openai/gpt-5-mini -m anthropic/claude-sonnet-4-5',
    'cria compare "How are refunds made?" --docs docs -m ollama/qwen3',
  ],
  run: async ({ arguments: [word = ''], options }, io) => (await import('../compare.ts')).runCompare(word, options, io),
})
