/** Shows two answers to one question without saying who gave them, and records which is better. */

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
import { EXIT } from './exit-codes.ts'
import { note, printJson } from './io.ts'
import type { Channel, Io } from './io.ts'
import { prepareStore, readConfig } from './prepare-store.ts'
import { readText } from './read-text.ts'
import { asWrongUsage } from './command.ts'
import { visibleText } from '../util/terminal.ts'
import { widthOf, wrappedRows } from '../util/cells.ts'

export interface CompareOptions {
  readonly model: readonly string[]
  readonly store: string | undefined
  readonly docs: readonly string[]
  readonly results: number | undefined
  readonly system: string | undefined
  readonly choice: string | undefined
  readonly comment: string | undefined
  readonly json: boolean
}

export async function runCompare(word: string, options: CompareOptions, io: Io): Promise<number> {
  if (options.model.length > 2) throw new ConfigurationError('Two answers are compared: name one or two models with -m.')
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
    throw new ConfigurationError(`${EXTRACTIVE} gives the same answer each time: there is nothing to compare.`, {
      hint: 'Name a model that writes with -m, or two models.',
    })
  const store = choice === undefined ? undefined : await openStore(choice)
  try {
    const nResults = options.results ?? loaded.config.nResults
    const view = options.json ? undefined : new View(io)
    const feedback = await collectFeedback({
      query: {
        prompt: question,
        temperature: other === undefined ? 1 : 0,
        ...(options.system === undefined ? {} : { system: options.system }),
        ...(store === undefined ? {} : { retrieve: { docstore: store, ...(nResults === undefined ? {} : { nResults }) } }),
        abortSignal: io.signal,
      },
      ...(other === undefined ? { samples: { model: one } } : { models: [one, other] }),
      recorder: await openJournal(io),
      onEvent: (event, side) => view?.observe(event, side),
      choose: async (pair, { signal }) => {
        await view?.finish(pair)
        const said = options.comment === undefined ? {} : { comment: options.comment }
        if (options.choice !== undefined) return { choice: options.choice as FeedbackVerdict, ...said }
        return word === '-' ? undefined : ask(io, signal)
      },
    })
    if (options.json) await printJson(io, jsonOf(feedback))
    else await tell(feedback, io)
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
    ...(comment === undefined ? {} : { comment }),
    preferred: event?.preferred ?? null,
    rejected: event?.rejected ?? null,
  }
}

/** Now the names may be told. */
async function tell({ first, second, choice }: Feedback, io: Io): Promise<void> {
  if (choice === null) return note(io, 'no choice was made, and none is recorded.')
  const verdict = { first: first.model, second: second.model, tie: 'both are equally good', both_bad: 'neither will do' }[choice]
  await note(io, `A was ${first.model}, B was ${second.model}. Recorded: ${verdict}.`)
}

/** The answers while they come, in two columns where the terminal has room for them. */
class View {
  readonly #io: Io
  readonly #live: LiveColumns | undefined
  readonly #texts: Record<Side, string> = { first: '', second: '' }
  #drawing: Promise<void> = Promise.resolve()

  constructor(io: Io) {
    this.#io = io
    if (io.stdout.live && io.stdout.columns >= LEAST_COLUMNS) this.#live = new LiveColumns(io.stdout)
  }

  observe(event: QueryEvent | FeedbackEvent, side: Side | undefined): void {
    if (side === undefined) return
    if (event.type === 'text_delta') this.#texts[side] += event.text
    else if (event.type === 'reset') this.#texts[side] = ''
    else return
    const { first, second } = this.#texts
    this.#drawing = this.#drawing.then(() => this.#live?.update(column('A', first), column('B', second), performance.now()))
  }

  async finish({ first, second }: BlindPair): Promise<void> {
    await this.#drawing
    if (this.#live !== undefined) return this.#live.finish(column('A', first.text), column('B', second.text))
    const { stdout } = this.#io
    for (const [name, { text }] of [
      ['A', first],
      ['B', second],
    ] as const) {
      await stdout.writeRaw(`${stdout.style('bold', `Answer ${name}`)}\n`)
      await stdout.write(`${text}\n\n`)
    }
  }
}

function column(name: string, text: string): Column {
  return { title: `Answer ${name}`, text }
}

const KEYS: Readonly<Record<string, FeedbackVerdict>> = {
  a: 'first',
  b: 'second',
  t: 'tie',
  n: 'both_bad',
  neither: 'both_bad',
  ...Object.fromEntries(VERDICTS.map((verdict) => [verdict, verdict])),
}

/** Reads the choice and a comment, each a line; the end of the input before a choice makes none. */
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
      const comment = (await line('Why? Enter alone gives no comment: ')) ?? ''
      return { choice, ...(comment === '' ? {} : { comment }) }
    }
  } finally {
    lines.close()
  }
}

const BETWEEN = ' │ '
/** Narrower columns cannot be read: the texts are then written one below the other. */
export const LEAST_COLUMNS = 60

export interface Column {
  readonly title: string
  readonly text: string
}

/** @param columns cells of the screen. */
export function sideBySide(left: Column, right: Column, columns: number): readonly string[] {
  const width = Math.max(10, Math.floor((columns - BETWEEN.length) / 2))
  const cells = ({ title, text }: Column): readonly string[] => {
    return [title, '─'.repeat(width), ...wrappedRows(visibleText(text).replaceAll('\t', '    '), width)]
  }
  const [one, other] = [cells(left), cells(right)]
  return Array.from({ length: Math.max(one.length, other.length) }, (_, row) => {
    const cell = one[row] ?? ''
    return `${cell}${' '.repeat(Math.max(0, width - widthOf(cell)))}${BETWEEN}${other[row] ?? ''}`.trimEnd()
  })
}

/** Draws anew over what it has drawn, at most every `every` milliseconds. */
class LiveColumns {
  readonly #channel: Pick<Channel, 'columns' | 'rows' | 'writeRaw'>
  readonly #every: number
  #drawn = 0
  #drawnAt = -Infinity

  constructor(channel: Pick<Channel, 'columns' | 'rows' | 'writeRaw'>, every = 80) {
    this.#channel = channel
    this.#every = every
  }

  async update(left: Column, right: Column, now: number): Promise<void> {
    if (now - this.#drawnAt < this.#every) return
    this.#drawnAt = now
    // What has left the screen cannot be drawn again.
    await this.#draw(sideBySide(left, right, this.#channel.columns).slice(-Math.max(1, this.#channel.rows - 2)))
  }

  /** Both whole texts. */
  async finish(left: Column, right: Column): Promise<void> {
    await this.#draw(sideBySide(left, right, this.#channel.columns))
  }

  async #draw(rows: readonly string[]): Promise<void> {
    const back = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A\u001b[0J`
    await this.#channel.writeRaw(`${back}${rows.join('\n')}\n`)
    this.#drawn = rows.length
  }
}
