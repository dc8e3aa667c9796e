/** Runs `cria compare`: shows two answers to a question without model names and records which is better. */

import { createInterface } from 'node:readline'
import { collectFeedback, VERDICTS } from '../app/feedback.ts'
import type { BlindPair, Feedback, FeedbackChoice, FeedbackVerdict, Side } from '../app/feedback.ts'
import { openJournal } from '../app/journal.ts'
import { openModel, requireKeyOf } from '../app/open-model.ts'
import { openStore } from '../app/stores.ts'
import { EXTRACTIVE } from './model-choice.ts'
import { ConfigurationError } from '../core/error.ts'
import type { FeedbackEvent, QueryEvent } from '../core/event.ts'
import type { LanguageModel } from '../core/model.ts'
import { orAborted } from '../util/promise.ts'
import { EXIT } from './failure.ts'
import { note, printJson } from './io.ts'
import type { Channel, Io } from './io.ts'
import { prepareStore, readConfig } from './prepare-store.ts'
import { readText } from './read-text.ts'
import { asWrongUsage } from './command.ts'
import type { CompareOptions } from './shared-options.ts'
import { defined } from '../util/check.ts'
import { visibleText } from '../util/terminal.ts'
import { widthOf, wrappedRows } from '../util/cells.ts'

export async function runCompare(word: string, options: CompareOptions, io: Io): Promise<number> {
  if (options.model.length > 2) throw new ConfigurationError('There are more than two models: name one or two with -m.')
  const question = await readText(word, 'question', io)
  if (question.trim() === '') throw new ConfigurationError('The question is empty: say what you want to know.')

  const loaded = await readConfig(io)
  const names = options.model.length === 0 ? [undefined] : options.model
  const models = await Promise.all(names.map((name) => openModel(name, loaded.config, io.env)))
  try {
    for (const model of models) requireKeyOf(model, loaded.config, io.env)
  } catch (thrown) {
    asWrongUsage('auth')(thrown)
  }
  const [one, other] = models as [LanguageModel, LanguageModel | undefined]
  const choice = await prepareStore(options, loaded, io)
  if (one.ref === EXTRACTIVE && other === undefined)
    throw new ConfigurationError(`${EXTRACTIVE} returns the same answer each time: there is nothing to compare.`, {
      hint: 'Name a model that writes with -m, or two models.',
    })
  const store = choice === undefined ? undefined : await openStore(choice)
  try {
    const nResults = options.results ?? loaded.config.nResults
    const view = options.json ? undefined : answerView(io.stdout)
    const feedback = await collectFeedback({
      query: {
        prompt: question,
        temperature: other === undefined ? 1 : 0,
        ...defined({ system: options.system }),
        ...(store === undefined ? {} : { retrieve: { docstore: store, ...defined({ nResults }) } }),
        abortSignal: io.signal,
      },
      ...(other === undefined ? { samples: { model: one } } : { models: [one, other] }),
      recorder: await openJournal(io),
      onEvent: (event, side) => view?.observe(event, side),
      choose: async (pair, { signal }) => {
        await view?.finish(pair)
        const { choice, comment } = options
        if (choice !== undefined) return { choice, ...defined({ comment }) }
        return word === '-' ? undefined : ask(io, signal)
      },
    })
    if (options.json) await printJson(io, jsonOf(feedback))
    else await printChoice(feedback, io)
    return EXIT.done
  } finally {
    await store?.close()
  }
}

function jsonOf({ first, second, choice, comment, event }: Feedback): object {
  const answers = [first, second].map(({ model, text, turnId, result }) => ({
    model,
    answer: text,
    turnId,
    usage: result.usage,
    costUsd: result.costUsd,
  }))
  return {
    answers,
    shownFirst: first.model,
    choice,
    ...defined({ comment }),
    preferred: event?.preferred ?? null,
    rejected: event?.rejected ?? null,
  }
}

/** Prints the choice and, now that it is made, the model names. */
async function printChoice({ first, second, choice }: Feedback, io: Io): Promise<void> {
  if (choice === null) return note(io, 'no choice was made, so no choice is recorded.')
  const verdict = { first: first.model, second: second.model, tie: 'both are equally good', both_bad: 'neither will do' }[choice]
  await note(io, `A was ${first.model}, B was ${second.model}. Recorded: ${verdict}.`)
}

const BETWEEN = ' │ '
/** On narrower terminals the answers are written one below the other. */
const LEAST_COLUMNS = 60
const REDRAW_MS = 80

/** Shows the answers while they arrive, in two columns if the terminal is wide enough; else at the end. */
function answerView(stdout: Channel) {
  const isLive = stdout.live && stdout.columns >= LEAST_COLUMNS
  const texts: Record<Side, string> = { first: '', second: '' }
  let drawing = Promise.resolve()
  let drawnRows = 0
  let drawnAt = -Infinity

  async function draw(rows: readonly string[]): Promise<void> {
    const back = drawnRows === 0 ? '' : `\u001b[${drawnRows}A\u001b[0J`
    drawnRows = rows.length
    await stdout.writeRaw(`${back}${rows.join('\n')}\n`)
  }

  async function redraw(): Promise<void> {
    const now = performance.now()
    if (now - drawnAt < REDRAW_MS) return
    drawnAt = now
    // Rows that have scrolled off the screen cannot be redrawn.
    await draw(sideBySide(texts, stdout.columns).slice(-Math.max(1, stdout.rows - 2)))
  }

  return {
    observe(event: QueryEvent | FeedbackEvent, side: Side | undefined): void {
      if (side === undefined || (event.type !== 'text_delta' && event.type !== 'reset')) return
      texts[side] = event.type === 'reset' ? '' : texts[side] + event.text
      if (isLive) drawing = drawing.then(redraw)
    },
    /** Resolves when both whole answers are shown. */
    async finish({ first, second }: BlindPair): Promise<void> {
      await drawing
      if (isLive) return draw(sideBySide({ first: first.text, second: second.text }, stdout.columns))
      for (const [title, { text }] of Object.entries({ 'Answer A': first, 'Answer B': second })) {
        await stdout.writeRaw(`${stdout.style('bold', title)}\n`)
        await stdout.write(`${text}\n\n`)
      }
    },
  }
}

/** @param columns width of the terminal in cells. */
function sideBySide({ first, second }: Readonly<Record<Side, string>>, columns: number): readonly string[] {
  const width = Math.max(10, Math.floor((columns - BETWEEN.length) / 2))
  const cells = (title: string, text: string): readonly string[] => {
    return [title, '─'.repeat(width), ...wrappedRows(visibleText(text).replaceAll('\t', '    '), width)]
  }
  const [left, right] = [cells('Answer A', first), cells('Answer B', second)]
  return Array.from({ length: Math.max(left.length, right.length) }, (_, row) => {
    const cell = left[row] ?? ''
    return `${cell}${' '.repeat(Math.max(0, width - widthOf(cell)))}${BETWEEN}${right[row] ?? ''}`.trimEnd()
  })
}

const KEYS: Readonly<Record<string, FeedbackVerdict>> = {
  a: 'first',
  b: 'second',
  t: 'tie',
  n: 'both_bad',
  neither: 'both_bad',
  ...Object.fromEntries(VERDICTS.map((verdict) => [verdict, verdict])),
}

/** Reads the choice and a comment, one line each; `undefined` when the input ends before a choice. */
async function ask(io: Io, signal: AbortSignal): Promise<FeedbackChoice | undefined> {
  const lines = createInterface({ input: io.stdin, terminal: false })
  const read = lines[Symbol.asyncIterator]()
  const line = async (question: string): Promise<string | undefined> => {
    if (io.stdin.isTTY === true) await io.stderr.writeRaw(question)
    const next = await orAborted(read.next(), signal)
    return next.done === true ? undefined : next.value.trim()
  }
  try {
    for (;;) {
      const said = await line('Which is better? a, b, t (tie) or n (neither): ')
      if (said === undefined) return undefined
      const choice = KEYS[said.toLowerCase()]
      if (choice === undefined) continue
      const comment = (await line('Why? (Enter: no comment): ')) ?? ''
      return { choice, ...(comment === '' ? {} : { comment }) }
    }
  } finally {
    lines.close()
  }
}
