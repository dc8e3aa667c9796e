/** The commands that ask a model. What they do is loaded when it is done. */

import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { ANSWER, DOCUMENTS, OPTIONS, pick, PROMPT, RULES, TOOLS, TURN } from '../shared-options.ts'

const SESSIONS_ARE_KEPT = 'a session is kept in the journal'
const TWO_SESSIONS = ['continue', 'session', 'both say which session goes on'] as const

export const ask: Command = defineCommand({
  name: 'ask',
  arguments: [
    { name: 'question', about: 'what to answer; "-", or nothing, reads it from standard input', required: false, claims: true },
  ],
  options: {
    ...pick(['store', 'docs', ...DOCUMENTS, ...PROMPT, ...TURN, ...ANSWER]),
    json: jsonOption('{ answer, abstained, citations, uncited, model, usage, … }'),
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
    ...pick([...RULES, ...TOOLS, ...PROMPT, ...TURN, 'no-log', 'json', 'events']),
    json: jsonOption('{ answer, steps, toolCalls, refused, changed, notices, model, usage, costUsd, … }'),
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
    ...pick(PROMPT),
    allow: { type: 'texts', value: 'RULE', about: 'calls that need no question: "edit_file(src/**)", "run_command(npm test)"' },
    ...pick(['deny', ...TOOLS]),
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
    model: { type: 'texts', short: 'm', value: 'MODEL', about: 'the two models; one alone answers twice' },
    ...pick(['store', 'docs']),
    results: { ...OPTIONS.results, about: 'passages given to each model' },
    system: { type: 'text', value: 'TEXT', about: 'the system prompt of both' },
    choice: {
      type: 'text',
      value: 'CHOICE',
      about: 'the choice, for scripts: nobody is asked',
      choices: ['first', 'second', 'tie', 'both_bad'],
    },
    comment: { type: 'text', value: 'TEXT', about: 'why, together with --choice' },
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
