/** Opens spans of the application around bots and inside tools, and reads recorded spans. */

import { ConfigurationError, toCriaError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { Recorder } from '../core/recorder.ts'
import type { Span, SpanRecord } from '../core/span.ts'
import { checkNames, checkPort } from '../engine/checks/values.ts'
import { inheritedRecorder } from '../engine/parent.ts'
import { currentSpan, spanSink, startSpan } from '../engine/span.ts'
import { hostTracing } from '../recorders/otel/mirror.ts'
import { systemClock } from '../util/clock.ts'
import { openJournal } from './journal.ts'

/** Where a span is recorded. */
export interface SpanPlace {
  /** Recorder of a span without a parent span: default the journal of `CRIA_HOME`; `false` records nothing. */
  readonly recorder?: Recorder | false
}

type Work<T> = (span: Span) => MaybePromise<T>

/**
 * Runs `work` in a new span: turns of bots, tools and further spans that start in it become its children, with times and failures.
 *
 *     const report = await span('report', { customer: 7 }, async (span) => {
 *       const answer = await bot.ask('…')
 *       span.set({ cited: answer.citations?.length ?? 0 })
 *       return answer.content
 *     })
 *
 * Attributes are JSON and are recorded unchanged: put no secrets there. A failure to record the span does not affect `work`.
 *
 * @throws what `work` throws; the span is then marked as failed.
 */
export function span<T>(name: string, work: Work<T>, place?: SpanPlace): Promise<T>
export function span<T>(name: string, attributes: JsonObject, work: Work<T>, place?: SpanPlace): Promise<T>
export async function span<T>(
  name: string,
  given: JsonObject | Work<T>,
  second?: Work<T> | SpanPlace,
  third?: SpanPlace,
): Promise<T> {
  const [attributes, work, place = {}] =
    typeof given === 'function' ? [{}, given, second as SpanPlace | undefined] : [given, second, third]
  if (typeof name !== 'string' || name === '') throw new ConfigurationError('span() needs a name: a text that is not empty.')
  if (typeof work !== 'function')
    throw new ConfigurationError('span() needs a function: span(name, attributes, async (span) => …).')
  checkNames('span()', place, ['recorder'])
  const own = currentSpan()?.child(name, attributes) ?? (await outermost(name, attributes, place))
  try {
    return await own.run(() => work(own))
  } catch (error) {
    own.fail(error)
    throw error
  } finally {
    own.end()
  }
}

async function outermost(name: string, attributes: JsonObject, place: SpanPlace): Promise<Span> {
  const recorder = await recorderOf(place)
  return startSpan(name, { clock: systemClock, attributes, sink: spanSink(recorder), mirror: hostTracing() })
}

async function recorderOf({ recorder }: SpanPlace): Promise<Recorder | undefined> {
  if (recorder === false) return undefined
  checkPort('recorder', recorder, 'openTurn', 'openRecorder()')
  try {
    return recorder ?? inheritedRecorder() ?? (await openJournal())
  } catch (thrown) {
    process.emitWarning(`Spans are not recorded: ${toCriaError(thrown).message}`, 'CriaSpanWarning')
    return undefined
  }
}

/**
 * Returns the ended spans of a trace in the order in which they started; `parentSpanId` names the parent. A trace consists of all spans within one
 * outermost span: pass `traceId` of that span, of `bot.lastTurn`, or of the row of a turn.
 *
 * @throws CriaError `journal_failed` when the journal cannot be opened.
 */
export async function getSpans(
  traceId: string,
  { recorder }: { readonly recorder?: Recorder } = {},
): Promise<readonly SpanRecord[]> {
  checkPort('recorder', recorder, 'openTurn', 'openRecorder()')
  return (recorder ?? (await openJournal())).read.spans(traceId)
}
