/** Answers a question twice, lets a person choose the better answer without seeing the models, and records the choice. */

import { ConfigurationError, CriaError } from '../core/error.ts'
import type { FeedbackEvent, QueryEvent, QueryResult } from '../core/event.ts'
import { toMessages } from '../core/message.ts'
import type { Message } from '../core/message.ts'
import type { LanguageModel } from '../core/model.ts'
import type { Recorder } from '../core/recorder.ts'
import { checkNames, checkPort, checkType } from '../engine/checks/values.ts'
import { reasonOf } from '../engine/turn-end.ts'
import { orAborted } from '../util/promise.ts'
import { namesOf } from '../util/nearest.ts'
import { resultOf } from './event-stream.ts'
import { openJournal } from './journal.ts'
import type { ModelInput } from './models.ts'
import { query } from './query.ts'
import type { QueryOptions } from './query.ts'
import { defaultModel, resolveModel } from './open-model.ts'

/** `first` and `second` by the order in which they are shown; `tie`: both are equally good; `both_bad`: neither will do. */
export const VERDICTS = ['first', 'second', 'tie', 'both_bad'] as const
/** `first`, `second`, `tie` (both are equally good) or `both_bad`. */
export type FeedbackVerdict = (typeof VERDICTS)[number]

/** A verdict with a comment. */
export interface FeedbackChoice {
  /** The verdict: the better answer, a tie, or neither. */
  readonly choice: FeedbackVerdict
  /** The reason, in the words of the person who chose. */
  readonly comment?: string
}

/** One of the two answers, by the order in which they are shown. */
export type Side = 'first' | 'second'

/** The result of `choose`: a verdict, a verdict with a comment, or `undefined` for no choice. */
export type Chosen = FeedbackVerdict | FeedbackChoice | undefined

/** An answer as it is judged, without the name of its model. */
export interface BlindAnswer {
  /** The text of the answer. */
  readonly text: string
  /** The whole answer, with its parts. */
  readonly message: Message
}

/** Two answers to one question, in the order in which they are shown. */
export interface BlindPair {
  /** The text of the question. */
  readonly question: string
  /** The answer shown first; the order of the models is random. */
  readonly first: BlindAnswer
  /** The other answer. */
  readonly second: BlindAnswer
}

/** Options of `query()` that have no meaning here, or would make the two answers equal. */
type NotCompared = 'model' | 'fallbackModels' | 'switchModels' | 'cache' | 'recorder' | 'messages' | 'sessionId'

/** Options of `collectFeedback()`. */
export interface FeedbackOptions {
  /** The request. Messages of `sessionId` are read as the conversation so far; neither answer is added to that session. */
  readonly query: Omit<QueryOptions, NotCompared> & Pick<QueryOptions, 'messages' | 'sessionId'>
  /** Two models; excludes `samples`. */
  readonly models?: readonly [ModelInput, ModelInput]
  /** Two answers of one model; default the default model. */
  readonly samples?: { readonly model?: ModelInput }
  /** Receives both complete answers; its signal is aborted with the `abortSignal` of the query. `undefined` means no choice, and none is recorded. */
  readonly choose: (pair: BlindPair, ctx: { readonly signal: AbortSignal }) => Chosen | Promise<Chosen>
  /** Receives every event of both turns as it arrives, and `feedback` at the end. */
  readonly onEvent?: (event: QueryEvent | FeedbackEvent, side: Side | undefined) => void
  /** Records both turns and the choice; default the journal. */
  readonly recorder?: Recorder
  /** Random numbers from 0 to 1, for tests; default `Math.random`. */
  readonly random?: () => number
  /** Epoch milliseconds, for tests; default the system clock. */
  readonly now?: () => number
}

/** An answer after the choice, with its model. */
export interface Judged extends BlindAnswer {
  /** The turn that gave the answer. */
  readonly turnId: string
  /** The session of that turn; neither answer continues yours. */
  readonly sessionId: string
  /** The model, as `provider/model`. */
  readonly model: string
  /** The result of the turn. */
  readonly result: QueryResult
}

/** The outcome of `collectFeedback()`. */
export interface Feedback {
  /** `null`: no choice was made. */
  readonly choice: FeedbackVerdict | null
  /** The reason, in the words of the person who chose. */
  readonly comment?: string
  /** The event as recorded; `null` without a choice. */
  readonly event: FeedbackEvent | null
  /** The answer that was shown first, with its model. */
  readonly first: Judged
  /** The answer that was shown second, with its model. */
  readonly second: Judged
}

const OPTIONS = namesOf<FeedbackOptions>({
  query: true,
  models: true,
  samples: true,
  choose: true,
  onEvent: true,
  recorder: true,
  random: true,
  now: true,
})
const NOT_COMPARED = namesOf<Pick<QueryOptions, Exclude<NotCompared, 'messages' | 'sessionId'>>>({
  model: true,
  fallbackModels: true,
  switchModels: true,
  cache: true,
  recorder: true,
})

/**
 * Makes two answers to one request, asks `choose` which is better, in random order, and records the choice. The two turns share no cache, fallback
 * or session. Only read-only tools run; calls of other tools are refused.
 *
 * @throws ConfigurationError for wrong options, before any request; CriaError when an answer fails (both turns stay in the journal, and no
 *   choice is recorded), or the choice is not a verdict.
 */
export async function collectFeedback(options: FeedbackOptions): Promise<Feedback> {
  checkOptions(options)
  const { query: request, choose, onEvent, random = Math.random, now = Date.now } = options
  const recorder = options.recorder ?? (await openJournal())
  const asking = await modelsOf(options)
  // Read without opening a turn, so that the session is not busy.
  const history = request.sessionId === undefined ? undefined : await recorder.read.history(request.sessionId)
  const shown = random() < 0.5 ? asking : ([asking[1], asking[0]] as const)
  const failed = new AbortController()
  const caller = request.abortSignal
  const signal = caller === undefined ? failed.signal : AbortSignal.any([caller, failed.signal])
  const answer = (model: LanguageModel, side: Side): Promise<Judged> =>
    judged(asked(request, { model, recorder, abortSignal: signal }, history), (event) => onEvent?.(event, side)).catch(
      (thrown: unknown) => {
        // One answer failed, so there is no choice to make: stop the other before it costs more.
        failed.abort(thrown)
        throw thrown
      },
    )
  const [first, second] = await both(answer(shown[0], 'first'), answer(shown[1], 'second'))

  const question = questionOf(toMessages([request.prompt ?? [], request.messages ?? []]))
  const blind = ({ text, message }: Judged): BlindAnswer => ({ text, message })
  const chosen = await orAborted(
    // An async function turns a synchronous throw into a rejection.
    (async () => choose({ question, first: blind(first), second: blind(second) }, { signal }))(),
    signal,
  ).catch((thrown: unknown) => {
    // Ends like the turns of an aborted query, whatever the reason given by the caller.
    throw caller?.aborted === true ? new CriaError('aborted', reasonOf(caller.reason), { cause: thrown }) : thrown
  })
  if (chosen === undefined) return { choice: null, event: null, first, second }
  const { choice, ...comment } = checked(chosen)
  const event = eventOf(choice, comment, first, second)
  const models = { first: first.model, second: second.model }
  await recorder.feedback({
    at: now(),
    choice: event.choice,
    first: first.turnId,
    second: second.turnId,
    question,
    details: { verdict: choice, models, order: 'random', ...comment },
  })
  onEvent?.(event, undefined)
  return { choice, ...comment, event, first, second }
}

/** Starts one of the two turns, with every tool forbidden that is not read-only. */
function asked(
  request: FeedbackOptions['query'],
  given: Required<Pick<QueryOptions, 'model' | 'abortSignal'>> & { readonly recorder: Recorder },
  history: readonly Message[] | undefined,
): AsyncIterable<QueryEvent> {
  const { sessionId: _, messages = history, tools = [], rules, ...rest } = request
  const effectful = tools.flatMap(({ name, isReadOnly }) => (isReadOnly === true ? [] : [name]))
  return query({
    ...rest,
    ...(messages === undefined ? {} : { messages }),
    ...(tools.length === 0 ? {} : { tools, rules: { ...rules, deny: [...(rules?.deny ?? []), ...effectful] } }),
    ...given,
    switchModels: false,
    operation: 'compare',
    bot: rest.bot ?? { kind: 'Comparison' },
  })
}

/** Reads a turn to its end. */
async function judged(events: AsyncIterable<QueryEvent>, onEvent: (event: QueryEvent) => void): Promise<Judged> {
  let message: Message | undefined
  const result = await resultOf(events, (event) => {
    onEvent(event)
    if (event.type === 'message' && event.parent === undefined) message = event.message
  })
  if (result === undefined || message === undefined)
    throw new CriaError('no_assistant_message', 'An answer to compare ended without a message.')
  const { text, turnId, sessionId, model } = result
  return { text, message, turnId, sessionId, model, result }
}

/** Returns both, or throws the first failure once both turns have ended. */
async function both(one: Promise<Judged>, other: Promise<Judged>): Promise<readonly [Judged, Judged]> {
  const [first, second] = await Promise.allSettled([one, other])
  if (first.status === 'fulfilled' && second.status === 'fulfilled') return [first.value, second.value]
  const failures = [first, second].flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  throw failures.find((thrown) => !(thrown instanceof CriaError) || thrown.code !== 'aborted') ?? failures[0]
}

async function modelsOf({ models, samples }: FeedbackOptions): Promise<readonly [LanguageModel, LanguageModel]> {
  if (models !== undefined) return [resolveModel(models[0]), resolveModel(models[1])]
  const model = samples?.model === undefined ? await defaultModel() : resolveModel(samples.model)
  return [model, model]
}

function questionOf(messages: readonly Message[]): string {
  const since = messages.findLastIndex(({ role }) => role === 'assistant') + 1
  return messages
    .slice(since)
    .flatMap(({ role, content }) => (role === 'user' ? [content] : []))
    .join('\n')
}

function checked(given: unknown): FeedbackChoice {
  const { choice, comment } = (typeof given === 'string' ? { choice: given } : (given ?? {})) as Partial<FeedbackChoice>
  if (choice === undefined || !VERDICTS.includes(choice))
    throw new ConfigurationError(
      `\`choose\` must return one of ${VERDICTS.join(', ')}, but returned ${JSON.stringify(choice ?? null)}.`,
    )
  return { choice, ...(typeof comment === 'string' && comment.trim() !== '' ? { comment } : {}) }
}

function eventOf(choice: FeedbackVerdict, comment: { readonly comment?: string }, first: Judged, second: Judged): FeedbackEvent {
  if (choice === 'tie' || choice === 'both_bad')
    return { type: 'feedback', choice: 'none', reason: choice, preferred: null, rejected: null, ...comment }
  const [preferred, rejected] = choice === 'first' ? [first, second] : [second, first]
  return { type: 'feedback', choice, preferred: preferred.turnId, rejected: rejected.turnId, ...comment }
}

function checkOptions(options: FeedbackOptions): void {
  checkNames('collectFeedback()', options, OPTIONS)
  const { models, samples, choose, query: request } = options
  if (typeof request !== 'object' || request === null)
    throw new ConfigurationError('collectFeedback() needs `query`: the options of query(), such as { prompt }.')
  for (const name of NOT_COMPARED) {
    if (name in request)
      throw new ConfigurationError(
        `\`query.${name}\` cannot be compared: name models with \`models\` or \`samples\`, and the journal with \`recorder\`.`,
      )
  }
  if (models !== undefined && samples !== undefined)
    throw new ConfigurationError('`models` and `samples` exclude each other: two models, or two answers of one.')
  if (models !== undefined && (!Array.isArray(models) || models.length !== 2))
    throw new ConfigurationError('`models` must hold two models.')
  if (typeof choose !== 'function')
    throw new ConfigurationError('collectFeedback() needs `choose`: a function that receives both answers.')
  if (request.messages !== undefined && request.sessionId !== undefined)
    throw new ConfigurationError('`messages` and `sessionId` exclude each other: a session knows its messages.')
  checkType('onEvent', options.onEvent, 'function')
  checkPort('recorder', options.recorder, 'openTurn', 'openRecorder()')
}
