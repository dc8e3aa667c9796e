/** Prints the events of a turn: as text, as one JSON object, or as one event per line. */

import type { Citation } from '../core/citation.ts'
import { CriaError, errorFromInfo } from '../core/error.ts'
import type { ErrorInfo } from '../core/error.ts'
import { isTerminal } from '../core/event.ts'
import type { QueryEvent, QueryResult, TerminalEvent } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import type { TurnRow } from '../core/recorder.ts'
import { addUsage, UNKNOWN_USAGE } from '../core/usage.ts'
import type { Usage } from '../core/usage.ts'
import { causeOf } from '../engine/turn-end.ts'
import { defined } from '../util/check.ts'
import { elapsed } from '../util/clock.ts'
import { visibleLine, visibleText, wholeCharacters } from '../util/terminal.ts'
import type { TextStream } from '../util/terminal.ts'
import { EXIT, EXIT_CODES, printFailure } from './failure.ts'
import { formatCost, formatMs, formatUsage } from './format.ts'
import { broken, note, printJson } from './io.ts'
import type { Io } from './io.ts'
import { pathTo, placeOf, sourceList } from './sources.ts'
import type { Standpoint } from './sources.ts'

export type RecordedTurn = Pick<TurnRow, 'usage' | 'costUsd' | 'traceId'>
export type AnswerFormat = 'text' | 'json' | 'events'

/** Returns the output format that the options select. */
export function formatOf({ json, events }: { readonly json: boolean; readonly events: boolean }): AnswerFormat {
  if (events) return 'events'
  return json ? 'json' : 'text'
}

export interface ShowOptions {
  readonly format: AnswerFormat
  /** Write the reasoning of the model to standard error. */
  readonly showThinking: boolean
  /** Folder that the sources of citations are relative to; default: the current folder. */
  readonly sourceBase?: string | undefined
  /** Reads a turn from the journal, to fill the JSON object of a turn that ended without a result. */
  readonly recorded?: (turnId: string) => Promise<RecordedTurn | undefined>
  /** Returns more members for the JSON object; called at the end of the turn. */
  readonly more?: () => object
}

/** Prints a turn until it ends and resolves to its exit code. */
export async function showTurn(
  events: AsyncIterable<QueryEvent> | Iterable<QueryEvent>,
  io: Io,
  options: ShowOptions,
): Promise<number> {
  const seen: QueryEvent[] = []
  const text = options.format === 'text' ? await textView(io, options) : undefined
  for await (const event of events) {
    if (event.parent === undefined) seen.push(event)
    if (options.format === 'events') await printJson(io, event)
    else await text?.show(event)
  }
  await text?.end()
  const { last, code } = endOfTurn(seen.at(-1))
  if (options.format === 'json') {
    const recorded = last.type === 'complete' ? undefined : await options.recorded?.(last.turnId)
    const { sourceBase: base } = options
    const from = base === undefined ? undefined : { cwd: io.cwd, base }
    await printJson(io, { ...toAnswerJson(seen, last, recorded, from), ...options.more?.() })
  }
  if (last.type === 'error') await printFailure(errorFromInfo(last.error, causeOf(last.error)), io)
  return code
}

/**
 * Returns the terminal event of a turn, and the exit code of the turn.
 *
 * @param last the last event of the turn.
 * @throws CriaError `stream_interrupted` when it is not a terminal event.
 */
export function endOfTurn(last: QueryEvent | undefined): { readonly last: QueryEvent & TerminalEvent; readonly code: number } {
  if (last === undefined || !isTerminal(last))
    throw new CriaError('stream_interrupted', 'The turn ended without a terminal event.')
  if (last.type === 'error') return { last, code: EXIT_CODES[last.error.code] }
  return { last, code: last.type === 'cancelled' ? EXIT.interrupted : EXIT.done }
}

/** Builds the object that `--json` prints. For a failed turn it holds the text received so far, and `error`. */
function toAnswerJson(
  events: readonly QueryEvent[],
  last: QueryEvent,
  recorded: RecordedTurn | undefined,
  from: Standpoint | undefined,
): object {
  const { text, result } = foldEvents(events)
  const known = result ?? recorded
  return {
    answer: result?.text ?? text,
    abstained: result?.abstained ?? false,
    citations: (result?.citations ?? []).map((citation) => withPaths(citation, from)),
    uncited: result?.uncited ?? 0,
    model: result?.model ?? lastModel(events),
    finishReason: result?.finishReason ?? null,
    usage: known?.usage ?? usageSoFar(events),
    costUsd: known?.costUsd ?? null,
    latencyMs: elapsed(events[0]?.at ?? last.at, last.at),
    sessionId: last.sessionId,
    turnId: last.turnId,
    traceId: known?.traceId ?? null,
    ...(last.type === 'error' ? { error: last.error } : {}),
    ...(last.type === 'cancelled' ? { cancelled: last.reason } : {}),
  }
}

/** Adds `path`, the path of the file from the current folder, to each `source`, which is a name in the store. */
function withPaths(citation: Citation, from: Standpoint | undefined): object {
  if (from === undefined) return citation
  const withPath = <T extends { readonly source: string }>(place: T): T => ({
    ...place,
    ...defined({ path: pathTo(place.source, from) }),
  })
  return { ...withPath(citation), ...defined({ alsoIn: citation.alsoIn?.map(withPath) }) }
}

function lastModel(events: readonly QueryEvent[]): string | null {
  const models = events.flatMap((event) => {
    if (event.type === 'start') return event.model
    return event.type === 'model_switch' ? event.to : []
  })
  return models.at(-1) ?? null
}

/** Sums the usage of all steps that reported it. */
function usageSoFar(events: readonly QueryEvent[]): Usage {
  const [first, ...rest] = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []))
  return first === undefined ? UNKNOWN_USAGE : rest.reduce(addUsage, first)
}

/** Streams the answer to standard output, then its sources; writes other events to standard error. */
async function textView(io: Io, { showThinking, sourceBase }: ShowOptions) {
  const { stdout, stderr } = io
  const from = { cwd: io.cwd, base: sourceBase }
  let stream = await openText(io)
  let written = ''
  let step: number | undefined
  let startedAt: number | undefined
  let isThinking = false
  /** Sources of the first search, best first. */
  let nearest: readonly string[] = []

  async function write(text: string): Promise<void> {
    if (text === '') return
    written = text
    await stdout.writeRaw(text)
  }

  async function end(): Promise<void> {
    await write(stream.finish())
    if (written !== '' && !written.endsWith('\n')) await stdout.writeRaw('\n')
    written = ''
    stream = await openText(io)
  }

  async function finish(result: QueryResult, tookMs: number | null): Promise<void> {
    await end()
    await stdout.writeRaw(await sourceList(result.citations ?? [], result.uncited ?? 0, stdout, from))
    // An answer that names places needs no second list of them.
    const isListed = nearest.some((source) => result.text.includes(source))
    if (result.abstained === true && nearest.length > 0 && !isListed) await note(io, nearestNote(nearest, from))
    const why = finishNote(result)
    if (why !== undefined) await note(io, why)
    if (!stderr.isTerminal) return
    const facts = [result.model, formatMs(tookMs), formatUsage(result.usage), formatCost(result.costUsd), result.turnId]
    const shown = await broken(visibleLine(facts.join(' · ')), stderr)
    await stderr.writeRaw(`${stderr.style('dim', shown)}\n`)
  }

  async function show(event: QueryEvent): Promise<void> {
    if (event.parent !== undefined) return
    if (event.type !== 'thinking' && isThinking) {
      await stderr.write('\n')
      isThinking = false
    }
    if (event.type === 'start') startedAt = event.at
    else if (event.type === 'retrieval' && nearest.length === 0) nearest = event.chunks.map(({ source }) => source)
    else if (event.type === 'text_delta') {
      if (step !== undefined && step !== event.step) await end()
      step = event.step
      await write(stream.push(event.text))
    } else if (event.type === 'thinking' && showThinking) {
      await stderr.writeRaw(stderr.style('dim', visibleText(event.content)))
      isThinking = true
    } else if (event.type === 'complete') await finish(event.result, startedAt === undefined ? null : event.at - startedAt)
    else if (event.type === 'reset' || isTerminal(event)) await end()
    const text = eventNote(event)
    if (text !== undefined) await note(io, text)
  }

  return { show, end }
}

async function openText({ stdout }: Io): Promise<TextStream> {
  if (!stdout.isTerminal) return wholeCharacters()
  const { markdownStream } = await import('./terminal/markdown.ts')
  return markdownStream({ width: stdout.columns, colour: stdout.colour })
}

const MOST_NEAREST = 3

/** Names the best search results below an answer that abstains, so that the user can look there. */
function nearestNote(sources: readonly string[], from: Standpoint): string {
  const places = [...new Set(sources)].slice(0, MOST_NEAREST).map((source) => visibleLine(placeOf(source, {}, from)))
  return `the closest passages found are in ${places.join(', ')}.`
}

/** Describes an event in one sentence; `undefined` for events that the views show themselves or leave out. */
export function eventNote(event: QueryEvent): string | undefined {
  switch (event.type) {
    case 'reset':
      return 'ignore the text shown so far; the answer starts again.'
    case 'retry':
      return `${describeError(event.error)} Retrying in ${formatMs(event.delay)}.`
    case 'model_switch':
      return `continuing with ${event.to} instead of ${event.from} (${event.reason.replaceAll('_', ' ')}).`
    case 'steering':
      return event.delivery === 'steer' ? `sent to the model: ${event.message.content}` : undefined
    case 'prepare_step':
      return event.model === undefined ? undefined : `this step uses ${event.model}.`
    case 'notice':
      // The refused call is shown with its reason, and the advice is for code.
      return event.code === 'permission_unanswered' ? undefined : event.message
    case 'compaction':
      return `the conversation was shortened from ${event.tokensBefore} to ${event.tokensAfter} tokens.`
    case 'cancelled':
      return `stopped; recorded as: cria logs show ${event.turnId}`
    // Shown by the views themselves, or not shown.
    case 'start':
    case 'text_delta':
    case 'thinking':
    case 'tool_input_delta':
    case 'message':
    case 'usage':
    case 'retrieval':
    case 'tool_request':
    case 'permission_request':
    case 'permission_decision':
    case 'tool_progress':
    case 'tool_result':
    case 'hook':
    case 'feedback':
    case 'error':
    case 'complete':
      return undefined
    default:
      return unknownEvent(event)
  }
}

/** Handles event types of newer versions in the journal; the compiler checks that all types of this version have a case. */
function unknownEvent(_: never): undefined {
  return undefined
}

/** Explains why an answer is incomplete; `undefined` for a complete answer. */
export function finishNote({ finishReason }: QueryResult): string | undefined {
  switch (finishReason) {
    case 'length':
      return 'the answer was cut off: the model reached its output limit.'
    case 'content-filter':
      return 'the answer was ended by the content filter of the provider.'
    case 'max-steps':
      return 'the turn ended at its step limit.'
    case 'stop-when':
      return 'the turn was ended by its stop condition.'
    default:
      return undefined
  }
}

function describeError({ message }: ErrorInfo): string {
  return /[.!?]$/.test(message) ? message : `${message}.`
}
