import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { FILTER_OPTIONS } from '../filter-options.ts'
import { STORE_OPTIONS } from '../store-options.ts'

const OPTIONS = {
  ...STORE_OPTIONS,
  ...FILTER_OPTIONS,
  results: { type: 'integer', short: 'n', value: 'N', about: 'passages given to the model', default: '20', min: 1, max: 1000 },
  model: {
    type: 'text',
    short: 'm',
    value: 'MODEL',
    about: 'provider/model, or main, quick, task, reasoning (see: cria models)',
  },
  fallback: { type: 'texts', value: 'MODEL', about: 'models to turn to when the first cannot answer, in this order' },
  'no-switch': { type: 'flag', about: 'answer with this model or not at all, whatever config.json says' },
  thinking: { type: 'flag', about: 'ask the model to reason first' },
  'show-thinking': { type: 'flag', about: 'show what it thinks, on standard error' },
  session: { type: 'text', value: 'ID', about: 'go on with this session' },
  'max-cost': { type: 'number', value: 'USD', about: 'end the turn before it costs more', min: 0 },
  cache: {
    type: 'flag',
    about: 'take an answer that was given to an equal request in the last 5 minutes; the journal keeps them',
  },
  'no-log': { type: 'flag', about: 'write nothing to the journal' },
  json: { type: 'flag', about: 'print one JSON object: { answer, abstained, citations, uncited, model, usage, … }' },
  events: { type: 'flag', about: 'print one event per line' },
} as const

export const ask: Command = defineCommand({
  name: 'ask',
  arguments: [{ name: 'question', about: 'what to answer; "-" reads it from standard input' }],
  options: OPTIONS,
  details: `The answer comes from the documents of the store, with the places it rests on. Without any store the model answers
from what it knows. Without any model, builtin/extractive answers by quoting the documents; it needs no key and no network.`,
  examples: [
    'cria ask "How do I change the theme?" --docs docs',
    'cria ask "What is our policy on refunds?" --store handbook -m openai/gpt-5-mini',
    'cria ask "Which errors are retried?" --source "docs/api/**"',
    'git log -5 | cria ask - --json',
  ],
  async run({ arguments: [word = ''], options }, io) {
    // A module of its own, so that the compile cache is made of what asking runs and not of what --help does.
    const { runAsk } = await import('../ask.ts')
    return runAsk(word, options, io)
  },
})
