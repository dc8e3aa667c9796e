/** Shows the events of a turn: as text for people, as one JSON object, or as events, one a line. */

import type { Citation } from '../core/citation.ts'
import { CriaError, errorFromInfo } from '../core/error.ts'
import { isTerminal } from '../core/event.ts'
import type { QueryEvent, QueryResult } from '../core/event.ts'
import { foldEvents } from '../core/fold.ts'
import type { TurnRow } from '../core/recorder.ts'
import { addUsage, UNKNOWN_USAGE } from '../core/usage.ts'
import type { Usage } from '../core/usage.ts'
import { causeOf } from '../engine/turn-end.ts'
import { elapsed } from '../util/clock.ts'
import { visibleLine, visibleText, wholeCharacters } from '../util/terminal.ts'
import type { TextStream } from '../util/terminal.ts'
import { eventNote, finishNote } from './event-notes.ts'
import { EXIT, EXIT_CODES } from './exit-codes.ts'
import { tellFailure } from './failure.ts'
import { formatCost, formatMs, formatUsage } from './format.ts'
import { broken, note, printJson } from './io.ts'
import type { Io } from './io.ts'
import { sourceList } from './source-list.ts'
import { pathTo, placeOf } from './sources.ts'
import type { Standpoint } from './sources.ts'

export type RecordedTurn = Pick<TurnRow, 'usage' | 'costUsd' | 'traceId'>
export type AnswerFormat = 'text' | 'json' | 'events'

export interface ShowOptions {
  readonly format: AnswerFormat
  /** Show what the model thinks, on standard error. */
  readonly showThinking: boolean
  /** Folder that the sources of citations are relative to; default the current one. */
  readonly sourceBase?: string | undefined
  /** What the journal knows of a turn, for the JSON object of one that came to no result. */
  readonly recorded?: (turnId: string) => Promise<RecordedTurn | undefined>
  /** What else the JSON object holds, asked for at the end. */
  readonly more?: () => object
}

/** Follows a turn to its end and resolves to the exit code that it deserves. */
export async function showTurn(events: AsyncIterable<QueryEvent>, io: Io, options: ShowOptions): Promise<number> {
  const seen: QueryEvent[] = []
  const text = options.format === 'text' ? await textView(io, options) : undefined
  for await (const event of events) {
    if (event.parent === undefined) seen.push(event)
    if (options.format === 'events') await printJson(io, event)
    else await text?.show(event)
  }
  const last = seen.at(-1)
  if (last === undefined || !isTerminal(last)) {
    await text?.end()
    throw new CriaError('stream_interrupted', 'The turn ended without saying how.')
  }
  if (options.format === 'json') {
    const recorded = last.type === 'complete' ? undefined : await options.recorded?.(last.turnId)
    const { sourceBase: base } = options
    const from = base === undefined ? undefined : { cwd: io.cwd, base }
    await printJson(io, { ...toAnswerJson(seen, recorded, from), ...options.more?.() })
  }

  if (last.type === 'error') {
    await tellFailure(errorFromInfo(last.error, causeOf(last.error)), io)
    return EXIT_CODES[last.error.code]
  }
  return last.type === 'cancelled' ? EXIT.interrupted : EXIT.done
}

/** What `--json` prints of a turn, also of one that failed: then with what had arrived, and `error`. */
function toAnswerJson(events: readonly QueryEvent[], recorded: RecordedTurn | undefined, from: Standpoint | undefined): object {
  const [first] = events
  const last = events.at(-1)
  const { text, result } = foldEvents(events)
  const ending = last?.type === 'error' ? { error: last.error } : last?.type === 'cancelled' ? { cancelled: last.reason } : {}
  return {
    answer: result?.text ?? text,
    abstained: result?.abstained ?? false,
    citations: (result?.citations ?? []).map((citation) => withPaths(citation, from)),
    uncited: result?.uncited ?? 0,
    model: result?.model ?? lastModel(events),
    finishReason: result?.finishReason ?? null,
    usage: (result ?? recorded)?.usage ?? usageSoFar(events),
    costUsd: (result ?? recorded)?.costUsd ?? null,
    latencyMs: first === undefined || last === undefined ? null : elapsed(first.at, last.at),
    sessionId: first?.sessionId ?? null,
    turnId: first?.turnId ?? null,
    traceId: (result ?? recorded)?.traceId ?? null,
    ...ending,
  }
}

/** `source` is a name in the store; beside it, how its file is opened from here. */
function withPaths(citation: Citation, from: Standpoint | undefined): object {
  if (from === undefined) return citation
  const path = pathTo(citation.source, from)
  const alsoIn = citation.alsoIn?.map((place) => ({ ...place, ...pathMember(pathTo(place.source, from)) }))
  return { ...citation, ...pathMember(path), ...(alsoIn === undefined ? {} : { alsoIn }) }
}

function pathMember(path: string | undefined): { readonly path?: string } {
  return path === undefined ? {} : { path }
}

function lastModel(events: readonly QueryEvent[]): string | null {
  const event = events.findLast((candidate) => candidate.type === 'model_switch' || candidate.type === 'start')
  return event === undefined ? null : event.type === 'start' ? event.model : event.to
}

/** Of all steps that told it. */
function usageSoFar(events: readonly QueryEvent[]): Usage {
  const [first, ...rest] = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []))
  return first === undefined ? UNKNOWN_USAGE : rest.reduce(addUsage, first)
}

interface TextView {
  show(event: QueryEvent): Promise<void>
  end(): Promise<void>
}

/** The answer on standard output as it comes, then its sources; what else happens on standard error. */
async function textView(io: Io, { showThinking, sourceBase }: ShowOptions): Promise<TextView> {
  const { stdout, stderr } = io
  const open = (): Promise<TextStream> => openText(io)
  let stream = await open()
  let written = ''
  let step: number | undefined
  let startedAt: number | undefined
  let isThinking = false
  /** Of the documents that were searched, best first. */
  let nearest: readonly string[] = []

  const write = async (text: string): Promise<void> => {
    if (text === '') return
    written = text
    await stdout.writeRaw(text)
  }
  const end = async (): Promise<void> => {
    await write(stream.finish())
    if (written !== '' && !written.endsWith('\n')) await write('\n')
    written = ''
    stream = await open()
  }
  const endThinking = async (): Promise<void> => {
    if (isThinking) await stderr.write('\n')
    isThinking = false
  }

  return {
    end,
    async show(event) {
      if (event.parent !== undefined) return
      if (event.type !== 'thinking') await endThinking()
      switch (event.type) {
        case 'start':
          startedAt = event.at
          break
        case 'retrieval':
          if (nearest.length === 0) nearest = event.chunks.map(({ source }) => source)
          break
        case 'text_delta':
          if (step !== undefined && step !== event.step) await end()
          step = event.step
          await write(stream.push(event.text))
          break
        case 'thinking':
          if (showThinking) await stderr.writeRaw(stderr.style('dim', visibleText(event.content)))
          isThinking = showThinking
          break
        case 'reset':
        case 'cancelled':
          await end()
          break
        case 'error':
          await end()
          break
        case 'complete':
          await end()
          await write(
            await sourceList(event.result.citations ?? [], event.result.uncited ?? 0, io.stdout, {
              cwd: io.cwd,
              base: sourceBase,
            }),
          )
          written = ''
          if (event.result.abstained === true && nearest.length > 0)
            await note(io, nearestNote(nearest, { cwd: io.cwd, base: sourceBase }))
          await finishNotes(event.result, startedAt === undefined ? null : event.at - startedAt, io)
          break
        default:
          break
      }
      const told = eventNote(event)
      if (told !== undefined) await note(io, told)
    },
  }
}

async function openText({ stdout }: Io): Promise<TextStream> {
  if (!stdout.isTerminal) return wholeCharacters()
  const { markdownStream } = await import('./terminal/markdown.ts')
  return markdownStream({ width: stdout.columns, colour: stdout.colour })
}

const MOST_NEAREST = 3

/** A refusal does not say whether anything was found: who asked can look there. */
function nearestNote(sources: readonly string[], from: Standpoint): string {
  const places = [...new Set(sources)].slice(0, MOST_NEAREST).map((source) => visibleLine(placeOf(source, {}, from)))
  return `what was found nearest is in ${places.join(', ')}.`
}

async function finishNotes(result: QueryResult, tookMs: number | null, io: Io): Promise<void> {
  const why = finishNote(result)
  if (why !== undefined) await note(io, why)
  if (!io.stderr.isTerminal) return
  const facts = [result.model, formatMs(tookMs), formatUsage(result.usage), formatCost(result.costUsd), result.turnId]
  const shown = await broken(visibleLine(facts.join(' · ')), io.stderr)
  await io.stderr.writeRaw(`${io.stderr.style('dim', shown)}\n`)
}
