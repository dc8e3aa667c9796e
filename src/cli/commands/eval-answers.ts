import { basename, resolve } from 'node:path'
import { readCorpus, readDocuments, readPredictions, readQuestions } from '../../app/eval/collection.ts'
import type { Prediction } from '../../app/eval/answer-score.ts'
import { evaluateAnswers, toAnswered } from '../../app/eval/answers.ts'
import { compareAnswers } from '../../app/eval/comparison.ts'
import type { Comparison } from '../../app/eval/comparison.ts'
import { openModel } from '../../app/open-model.ts'
import { openTemporaryStore } from '../../app/stores.ts'
import { QueryBot } from '../../bots/query-bot.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { SourceDocument } from '../../core/store.ts'
import { defineCommand, jsonOption, readsGivenFiles } from '../command.ts'
import type { Command } from '../command.ts'
import { checkCompared, checkReports, evalProgress, REPORT, tellComparison, tellScores } from '../eval.ts'
import { formatMs } from '../format.ts'
import { readConfig } from '../prepare-store.ts'

const command: Command = defineCommand({
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
    compare: {
      type: 'texts',
      value: 'FILE',
      about: 'compare predictions: one file is the baseline of this model; of two the first is the baseline of the second',
    },
    report: REPORT,
    json: jsonOption('{ questions, inQuote, exactMatch, f1, abstained, msPerQuestion, … }'),
  },
  details: `The corpus is indexed into a temporary store, and a QueryBot answers every question from it; nothing is logged.
inQuote is the share of answerable questions whose cited quote stands in the document word for word, has at most 40
words and holds a gold answer.

A comparison pairs the systems question by question; "right" counts a refusal where there is no answer. With two files
no question is asked.`,
  examples: [
    'cria eval answers --beir collections/answers --predictions predictions.jsonl',
    'cria eval answers --beir collections/answers --compare before.jsonl after.jsonl --report report.html',
  ],
  async run({ options }, io) {
    const { beir, predictions, json } = options
    if (beir === undefined)
      throw new ConfigurationError('Say which collection: --beir DIR', { hint: 'See: cria eval answers --help' })
    const { compare, report } = options
    checkCompared(compare)
    checkReports(report, compare.length > 0)
    const [first, second] = compare
    const baseline = first === undefined ? undefined : { name: first, predictions: await readPredictions(first) }
    if (baseline !== undefined && second !== undefined) {
      const comparison = await compareWith(beir, baseline, { name: second, predictions: await readPredictions(second) })
      return tellComparison(comparison, report, json, io)
    }
    const { config } = await readConfig(io)
    const model = await openModel(options.model, config, io.env)
    await using temporary = await openTemporaryStore()
    const progress = evalProgress(io)
    try {
      await temporary.store.extend(documentsOf(beir))
      const bot = new QueryBot({ docstore: temporary.store, model, recorder: false, streamTarget: 'none' })
      const measured = await evaluateAnswers(
        beir,
        async (question) => toAnswered(await bot.ask(question, { signal: io.signal }), model.ref),
        {
          predictions,
          signal: io.signal,
          onProgress: (done, total) => progress.show({ label: 'Answering', unit: 'questions', done, total }),
        },
      )
      progress.clear()
      const { missed: _missed, predictions: answered, ...scores } = measured
      const system = { name: model.ref, predictions: answered }
      const comparison = baseline === undefined ? undefined : await compareWith(beir, baseline, system)
      const { msPerQuestion, ...rest } = scores
      const rows = [
        ['model', model.ref],
        ...Object.entries(rest).map(([name, value]) => [name, COUNTS.has(name) ? String(value) : (value?.toFixed(4) ?? '–')]),
        ['per question', formatMs(msPerQuestion)],
      ]
      await tellScores({ scores, rows }, comparison, { report, json }, io)
    } finally {
      progress.clear()
    }
  },
})

export const evalAnswers: Command = readsGivenFiles(command)

interface Side {
  readonly name: string
  readonly predictions: readonly Prediction[]
}

async function compareWith(beir: string, baseline: Side, system: Side): Promise<Comparison> {
  const cited = new Set([...baseline.predictions, ...system.predictions].map(({ docId }) => docId))
  return compareAnswers(
    {
      collection: basename(resolve(beir)),
      names: [baseline.name, system.name],
      baseline: baseline.predictions,
      system: system.predictions,
    },
    await readQuestions(beir),
    await readDocuments(beir, cited),
  )
}

async function* documentsOf(folder: string): AsyncGenerator<SourceDocument> {
  for await (const { id, title, text } of readCorpus(folder)) yield { source: id, text, ...(title === '' ? {} : { title }) }
}

/** How many questions there are; all else is a share, or a mean. */
const COUNTS: ReadonlySet<string> = new Set(['questions', 'answerable', 'unanswerable'])
