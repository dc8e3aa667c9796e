import type { Message } from '../../core/message.ts'
import type { TurnDetail, TurnMetrics } from '../../core/recorder.ts'
import { pageAt } from '../../core/store.ts'
import { visibleText } from '../../util/terminal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { findTurn } from '../find-turn.ts'
import { formatCost, formatMs, formatTime, formatUsage, plural, shorten, table } from '../format.ts'
import { broken, note, roomOf, toJsonLinePieces } from '../io.ts'
import type { Channel } from '../io.ts'
import { sourceList } from '../source-list.ts'
import { findSession, showSession } from '../session-view.ts'
import { placeOf } from '../sources.ts'
import type { Standpoint } from '../sources.ts'
import { waterfall } from '../waterfall.ts'

export const logsShow: Command = defineCommand({
  name: 'logs show',
  arguments: [{ name: 'id', about: 'id of a turn or of a session, or "last"', offers: () => ['last'] }],
  options: {
    json: jsonOption('{ turn, messages, events, spans, nested }; of a session { session, turns, messages }'),
  },
  examples: ['cria logs show last', 'cria logs show turn_01j8… --json', 'cria logs show ses_01j8…'],
  async run({ arguments: [id = ''], options }, io) {
    const session = await findSession(io, id)
    if (session !== undefined) return showSession(session, options.json, io)
    const { detail } = await findTurn(io, id, 'turn or session')
    for (const what of detail.damaged ?? []) await note(io, `not shown: ${what}.`)
    if (options.json) for (const piece of toJsonLinePieces(detail)) await io.stdout.write(piece)
    else await io.stdout.writeRaw(await describe(detail, io.stdout, { cwd: io.cwd }))
  },
})

async function describe(
  { turn, messages, events, spans, nested, prompts = [] }: TurnDetail,
  out: Channel,
  from: Standpoint,
): Promise<string> {
  const heading = (text: string): string => `\n${out.style('bold', text)}\n`
  const facts: (readonly [string, string])[] = [
    ['turn', turn.turnId],
    ['session', turn.sessionId],
    ['status', turn.finishReason === null ? turn.status : `${turn.status} (${turn.finishReason})`],
    ['bot', turn.bot === null ? '–' : [turn.bot.kind, turn.bot.name].filter((part) => part !== undefined).join(' ')],
    ['model', turn.model],
    ...(prompts.length === 0 ? [] : [['prompts', prompts.map(({ name, version }) => `${name} v${version}`).join(', ')] as const]),
    ['started', formatTime(turn.startedAt)],
    ['took', `${formatMs(turn.latencyMs)}${turn.metrics?.slow === true ? ' (slow)' : ''}${firstToken(turn.metrics)}`],
    ...(turn.metrics === null ? [] : [['did', formatMetrics(turn.metrics)] as const]),
    ['usage', formatUsage(turn.usage)],
    ['cost', formatCost(turn.costUsd)],
    ['rating', turn.rating === null ? '–' : `${turn.rating}${turn.ratingComment === null ? '' : ` (${turn.ratingComment})`}`],
    ['trace', turn.traceId],
  ]
  const searched = events.flatMap((event) => (event.type === 'retrieval' && event.query !== turn.question ? event.query : []))
  const citations = events.flatMap((event) => (event.type === 'complete' ? (event.result.citations ?? []) : []))
  const uncited = events.reduce((sum, event) => sum + (event.type === 'complete' ? (event.result.uncited ?? 0) : 0), 0)
  const error = turn.error === null ? '' : `${heading('Error')}${visibleText(`${turn.error.code}: ${turn.error.message}`)}\n`
  return [
    table(
      facts.map(([name, value]) => [name, shorten(value, 200)]),
      [],
      roomOf(out),
    ),
    heading('Question'),
    `${await broken(visibleText(turn.question), out)}\n`,
    searched.length === 0
      ? ''
      : `${heading('Searched for')}${[...new Set(searched)].map((query) => `${visibleText(query)}\n`).join('')}`,
    heading('Answer'),
    turn.text === '' ? '(none)\n' : `${await broken(visibleText(turn.text), out)}\n`,
    await sourceList(citations, uncited, out, from),
    error,
    heading(`${plural(messages.length, 'message')}, ${plural(events.length, 'event')}`),
    table(
      messages.map((message) => [message.role, shorten(contentOf(message, from), 140)]),
      [],
      roomOf(out),
    ),
    nested.length === 0 ? '' : `${heading(`Made by its tools (${plural(nested.length, 'turn')})`)}${nestedTable(nested, out)}`,
    spans.length === 0 ? '' : `${heading('Spans')}${waterfall(spans, roomOf(out))}`,
  ].join('')
}

function firstToken(metrics: TurnMetrics | null): string {
  const ms = metrics?.timeToFirstTokenMs ?? null
  return ms === null ? '' : `, the first token after ${formatMs(ms)}`
}

function formatMetrics({ steps, toolsExecuted, errors, retries }: TurnMetrics): string {
  const counts = [
    plural(steps, 'step'),
    plural(toolsExecuted, 'tool call'),
    ...(errors === 0 ? [] : [plural(errors, 'error')]),
    ...(retries === 0 ? [] : [`${retries} ${retries === 1 ? 'retry' : 'retries'}`]),
  ]
  return counts.join(', ')
}

/** What was said, and which tools were called; where a passage stands and how well it was found. */
function contentOf({ content, toolCalls = [], retrieved }: Message, from: Standpoint): string {
  if (retrieved !== undefined) {
    const { marker, chunk } = retrieved
    return `[${marker}] ${placeOf(chunk.source, { lines: chunk.lines, page: pageAt(chunk) }, from)}  ${chunk.score.toPrecision(4)}  ${content}`
  }
  const calls = toolCalls.map(({ name, input }) => `→ ${name} ${JSON.stringify(input)}`)
  return [content, ...calls].filter((text) => text !== '').join(' ')
}

function nestedTable(nested: TurnDetail['nested'], out: Channel): string {
  const rows = nested.map(({ turnId, callId, status, latencyMs, costUsd, question }) => [
    turnId,
    callId,
    status,
    formatMs(latencyMs),
    formatCost(costUsd),
    shorten(question, 120),
  ])
  return table(rows, [3, 4], roomOf(out))
}
