import { VERDICTS } from '../../app/feedback.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { STORE_OPTIONS } from '../shared-options.ts'

export const compare: Command = defineCommand({
  name: 'compare',
  arguments: [{ name: 'question', about: 'what to answer; "-" reads it from standard input' }],
  options: {
    model: { type: 'texts', short: 'm', value: 'MODEL', about: 'the two models; one alone answers twice' },
    ...STORE_OPTIONS,
    results: { type: 'integer', short: 'n', value: 'N', about: 'passages given to each model', default: '20', min: 1, max: 1000 },
    system: { type: 'text', value: 'TEXT', about: 'the system prompt of both' },
    choice: { type: 'text', value: 'CHOICE', about: 'the choice, for scripts: nobody is asked', choices: VERDICTS },
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
  async run({ arguments: [word = ''], options }, io) {
    const { runCompare } = await import('../compare.ts')
    return runCompare(word, options, io)
  },
})
