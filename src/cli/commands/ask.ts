import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { FILTER_OPTIONS } from '../filter-options.ts'
import { MODEL_OPTIONS, PROMPT_OPTIONS, STORE_OPTIONS, TEMPLATE_OPTIONS } from '../shared-options.ts'

const OPTIONS = {
  ...STORE_OPTIONS,
  ...FILTER_OPTIONS,
  results: { type: 'integer', short: 'n', value: 'N', about: 'passages given to the model', default: '20', min: 1, max: 1000 },
  ...MODEL_OPTIONS,
  ...TEMPLATE_OPTIONS,
  ...PROMPT_OPTIONS,
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
  json: jsonOption('{ answer, abstained, citations, uncited, model, usage, … }'),
  events: { type: 'flag', about: 'print one event per line' },
} as const

export const ask: Command = defineCommand({
  name: 'ask',
  arguments: [
    {
      name: 'question',
      about: 'what to answer; "-", or nothing, reads it from standard input',
      required: false,
      claims: true,
    },
  ],
  options: OPTIONS,
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
  async run({ arguments: [word = ''], options }, io) {
    // A module of its own, so that the compile cache is made of what asking runs and not of what --help does.
    const { runAsk } = await import('../ask.ts')
    return runAsk(word, options, io)
  },
})
