/** `cria logs show`, `replay` and `rate`: print, replay or rate a turn, named by its id. */

import { openJournalToRead } from '../../app/journal.ts'
import type { Journal } from '../../app/journal.ts'
import { CriaError } from '../../core/error.ts'
import type { Message } from '../../core/message.ts'
import type { TurnDetail, TurnMetrics } from '../../core/recorder.ts'
import { pageAt } from '../../core/store.ts'
import { orAborted } from '../../util/promise.ts'
import { visibleText } from '../../util/terminal.ts'
import { formatOf, showTurn } from '../answer-view.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { ArgumentSpec, Command } from '../command.ts'
import { formatCost, formatMs, formatTime, formatUsage, heading, plural, quoted, shorten, table } from '../format.ts'
import { broken, note, printJson, roomOf, printLargeJson } from '../io.ts'
import type { Channel, Io } from '../io.ts'
import { placeOf, sourceList } from '../sources.ts'
import type { Standpoint } from '../sources.ts'
import { waterfall } from '../waterfall.ts'
import { readRating } from './logs-list.ts'
import { findSession, showSession } from './logs-sessions.ts'

const TURN: ArgumentSpec = { name: 'id', about: 'id of a turn, or "last"', offers: () => ['last'] }

export const logsShow: Command = defineCommand({
  name: 'logs show',
  arguments: [{ ...TURN, about: 'id of a turn or of a session, or "last"' }],
  options: { json: jsonOption('{ turn, messages, events, spans, nested }; of a session { session, turns, messages }') },
  examples: ['cria logs show last', 'cria logs show turn_01j8… --json', 'cria logs show ses_01j8…'],
  async run({ arguments: [id = ''], options }, io) {
    const session = await findSession(io, id)
    if (session !== undefined) return showSession(session, options.json, io)
    const { detail } = await findTurn(io, id, 'turn or session')
    for (const what of detail.damaged ?? []) await note(io, `not shown: ${what}.`)
    if (options.json) await printLargeJson(io, detail)
    else await io.stdout.writeRaw(await describe(detail, io.stdout, { cwd: io.cwd }))
  },
})

export const logsReplay: Command = defineCommand({
  name: 'logs replay',
  arguments: [TURN],
  options: {
    json: { type: 'flag', about: 'print one JSON object, as `cria ask --json` does' },
    events: { type: 'flag', about: 'print one event per line' },
  },
  details: 'Calls no model: the answer comes from the journal. Exits with the exit code of the turn.',
  examples: ['cria logs replay last', 'cria logs replay last --events'],
  async run({ arguments: [id = ''], options }, io) {
    const { detail } = await findTurn(io, id)
    const recorded = (): Promise<TurnDetail['turn']> => Promise.resolve(detail.turn)
    return showTurn(detail.events, io, { format: formatOf(options), showThinking: false, recorded })
  },
})

export const logsRate: Command = defineCommand({
  name: 'logs rate',
  arguments: [TURN, { name: 'rating', about: '1 to 5, up (1), down (-1), or none to remove the rating' }],
  options: { comment: { type: 'text', value: 'TEXT', about: 'reason for the rating' }, json: jsonOption('{ turnId, rating }') },
  examples: ['cria logs rate last 5', 'cria logs rate last down --comment "cites the wrong page"'],
  async run({ arguments: [id = '', word = ''], options }, io) {
    const rating = readRating(word)
    const { journal, detail } = await findTurn(io, id)
    const { turnId } = detail.turn
    await orAborted(Promise.resolve(journal.rate(turnId, rating, options.comment)), io.signal)
    if (options.json) await printJson(io, { turnId, rating })
    else await note(io, rating === null ? `the rating of ${turnId} is removed.` : `${turnId} is rated ${rating}.`)
  },
})

/**
 * Finds the turn with this id. `last` is the newest turn that is not nested: turns that a tool made (sub-agents) are skipped.
 *
 * @param kind noun for the error message.
 * @throws CriaError `not_found`
 */
async function findTurn(
  io: Io,
  id: string,
  kind: 'turn' | 'turn or session' = 'turn',
): Promise<{ readonly journal: Journal; readonly detail: TurnDetail }> {
  const journal = await openJournalToRead(io)
  const turnId = id === 'last' ? (await journal?.read.turns({ nested: false, limit: 1 }))?.turns[0]?.turnId : id
  const detail = turnId === undefined ? undefined : await journal?.read.turn(turnId)
  if (journal !== undefined && detail !== undefined) return { journal, detail }
  const what = id === 'last' ? 'There are no turns yet.' : `There is no ${kind} ${quoted(id, 100)}.`
  const sessions = kind === 'turn' ? '' : ', `cria logs sessions` the sessions'
  throw new CriaError('not_found', what, { hint: `\`cria logs list\` shows the turns${sessions}.` })
}

async function describe(
  { turn, messages, events, spans, nested, prompts = [] }: TurnDetail,
  out: Channel,
  from: Standpoint,
): Promise<string> {
  const { metrics, bot, rating } = turn
  const room = roomOf(out)
  const section = (title: string, text: string): string => (text === '' ? '' : `${heading(title, out)}${text}`)
  const paragraph = async (text: string): Promise<string> => `${await broken(visibleText(text), out)}\n`
  const facts = {
    turn: turn.turnId,
    session: turn.sessionId,
    status: turn.finishReason === null ? turn.status : `${turn.status} (${turn.finishReason})`,
    bot: bot === null ? '–' : [bot.kind, bot.name].filter((part) => part !== undefined).join(' '),
    model: turn.model,
    prompts: prompts.map(({ name, version }) => `${name} v${version}`).join(', '),
    started: formatTime(turn.startedAt),
    took: `${formatMs(turn.latencyMs)}${metrics?.slow === true ? ' (slow)' : ''}${firstToken(metrics)}`,
    did: metrics === null ? '' : formatMetrics(metrics),
    usage: formatUsage(turn.usage),
    cost: formatCost(turn.costUsd),
    rating: rating === null ? '–' : `${rating}${turn.ratingComment === null ? '' : ` (${turn.ratingComment})`}`,
    trace: turn.traceId,
  }
  const shown = Object.entries(facts).flatMap(([name, value]) => (value === '' ? [] : [[name, shorten(value, 200)]]))
  const searched = events.flatMap((event) => (event.type === 'retrieval' && event.query !== turn.question ? event.query : []))
  const results = events.flatMap((event) => (event.type === 'complete' ? event.result : []))
  const citations = results.flatMap((result) => result.citations ?? [])
  const uncited = results.reduce((sum, result) => sum + (result.uncited ?? 0), 0)
  const said = messages.map((message) => [message.role, shorten(contentOf(message, from), 140)])
  return [
    table(shown, [], room),
    section('Question', await paragraph(turn.question)),
    section('Searched for', [...new Set(searched)].map((query) => `${visibleText(query)}\n`).join('')),
    section('Answer', turn.text === '' ? '(none)\n' : await paragraph(turn.text)),
    await sourceList(citations, uncited, out, from),
    section('Error', turn.error === null ? '' : `${visibleText(`${turn.error.code}: ${turn.error.message}`)}\n`),
    heading(`${plural(messages.length, 'message')}, ${plural(events.length, 'event')}`, out),
    table(said, [], room),
    section(`Made by its tools (${plural(nested.length, 'turn')})`, nestedTable(nested, room)),
    section('Spans', spans.length === 0 ? '' : waterfall(spans, room)),
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
    ...(retries === 0 ? [] : [plural(retries, 'retry', 'retries')]),
  ]
  return counts.join(', ')
}

/** Returns the text of a message and its tool calls; for a passage also its place and score. */
function contentOf({ content, toolCalls = [], retrieved }: Message, from: Standpoint): string {
  if (retrieved !== undefined) {
    const { marker, chunk } = retrieved
    return `[${marker}] ${placeOf(chunk.source, { lines: chunk.lines, page: pageAt(chunk) }, from)}  ${chunk.score.toPrecision(4)}  ${content}`
  }
  const calls = toolCalls.map(({ name, input }) => `→ ${name} ${JSON.stringify(input)}`)
  return [content, ...calls].filter((text) => text !== '').join(' ')
}

function nestedTable(nested: TurnDetail['nested'], room: number): string {
  const rows = nested.map(({ turnId, callId, status, latencyMs, costUsd, question }) => [
    turnId,
    callId,
    status,
    formatMs(latencyMs),
    formatCost(costUsd),
    shorten(question, 120),
  ])
  return table(rows, [3, 4], room)
}
