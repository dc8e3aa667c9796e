import { readCorpus } from '../../app/eval/beir.ts'
import { evaluateAnswers, toAnswered } from '../../app/eval/answers.ts'
import { openModel } from '../../app/open-model.ts'
import { openTemporaryStore } from '../../app/stores.ts'
import { QueryBot } from '../../bots/query-bot.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { SourceDocument } from '../../core/store.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { evalProgress } from '../eval-options.ts'
import { formatMs, table } from '../format.ts'
import { toJsonLine } from '../io.ts'
import { readConfig } from '../prepare-store.ts'

export const evalAnswers: Command = defineCommand({
  name: 'eval answers',
  options: {
    beir: { type: 'text', value: 'DIR', about: 'folder with corpus.jsonl, answers.jsonl and unanswerable.jsonl (required)' },
    predictions: {
      type: 'text',
      value: 'FILE',
      about: 'write one { _id, answer, quote, doc_id } a line there; answer is empty when it abstains',
    },
    model: {
      type: 'text',
      short: 'm',
      value: 'MODEL',
      about: 'provider/model, or main, quick, task, reasoning (see: cria models)',
    },
    json: { type: 'flag', about: 'print one JSON object: { questions, inQuote, exactMatch, f1, abstained, msPerQuestion, … }' },
  },
  details: `The corpus is indexed into a temporary store, and a QueryBot answers every question from it; nothing is logged.
inQuote is the share of answerable questions whose cited quote stands in the document word for word, has at most 40
words and holds a gold answer.`,
  examples: ['cria eval answers --beir collections/answers --predictions predictions.jsonl'],
  async run({ options }, io) {
    const { beir, predictions, json } = options
    if (beir === undefined)
      throw new ConfigurationError('Say which collection: --beir DIR', { hint: 'See: cria eval answers --help' })
    const { config } = await readConfig(io)
    const model = await openModel(options.model, config, io.env)
    await using temporary = await openTemporaryStore()
    const progress = evalProgress(io)
    try {
      await temporary.store.extend(documentsOf(beir))
      const bot = new QueryBot({ docstore: temporary.store, model, recorder: false, streamTarget: 'none' })
      const report = await evaluateAnswers(
        beir,
        async (question) => toAnswered(question, await bot.ask(question, { signal: io.signal }), model.ref),
        {
          predictions,
          signal: io.signal,
          onProgress: (done, total) => progress.show({ label: 'Answering', unit: 'questions', done, total }),
        },
      )
      progress.clear()
      const { missed: _missed, ...scores } = report
      if (json) {
        await io.stdout.write(toJsonLine(scores))
        return 0
      }
      const { msPerQuestion, ...rest } = scores
      await io.stdout.write(
        table([
          ['model', model.ref],
          ...Object.entries(rest).map(([name, value]) => [name, show(value)]),
          ['per question', formatMs(msPerQuestion)],
        ]),
      )
      return 0
    } finally {
      progress.clear()
    }
  },
})

async function* documentsOf(folder: string): AsyncGenerator<SourceDocument> {
  for await (const { id, title, text } of readCorpus(folder)) yield { source: id, text, ...(title === '' ? {} : { title }) }
}

function show(value: number | null): string {
  if (value === null) return '–'
  return Number.isInteger(value) ? String(value) : value.toFixed(4)
}
