/** Lists sessions, and shows one: where it was begun, what was asked and what was answered. */

import { openJournalToRead } from '../app/journal.ts'
import type { Journal } from '../app/journal.ts'
import type { SessionSummary } from '../core/recorder.ts'
import { visibleLine, visibleText } from '../util/terminal.ts'
import { turnTable } from './commands/logs-list.ts'
import { formatCost, formatTime, plural, shorten, table } from './format.ts'
import { broken, roomOf, toJsonLinePieces } from './io.ts'
import type { Io } from './io.ts'

interface FoundSession {
  readonly journal: Journal
  readonly session: SessionSummary
}

/** The session with this id, unless a turn has it. */
export async function findSession(io: Io, id: string): Promise<FoundSession | undefined> {
  const journal = id === 'last' ? undefined : await openJournalToRead(io)
  const [session] = (await journal?.sessions({ sessionId: id, limit: 1 })) ?? []
  return journal === undefined || session === undefined ? undefined : { journal, session }
}

const MOST_TURNS = 10_000

/** Prints a session: its facts, its turns, and what was said, oldest first. */
export async function showSession({ journal, session }: FoundSession, isJson: boolean, io: Io): Promise<void> {
  const { sessionId } = session
  const { turns } = await journal.read.turns({ sessionId, nested: false, limit: MOST_TURNS })
  if (isJson) {
    const messages = await journal.read.history(sessionId)
    for (const piece of toJsonLinePieces({ session, turns, messages })) await io.stdout.write(piece)
    return
  }
  const { stdout } = io
  const room = roomOf(stdout)
  const known = turns.flatMap(({ costUsd }) => costUsd ?? [])
  const cost = known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0)
  const facts = [
    ['session', sessionId],
    ['folder', session.folder ?? '–'],
    ['model', session.model],
    ['started', formatTime(session.startedAt)],
    ['last turn', formatTime(session.lastTurnAt)],
    ['cost', known.length === turns.length || cost === null ? formatCost(cost) : `at least ${formatCost(cost)}`],
    ['to go on', `cria chat --resume ${sessionId}`],
  ]
  const heading = (text: string): string => `\n${stdout.style('bold', text)}\n`
  const shown = facts.map(([name = '', value = '']) => [name, shorten(value, 300)])
  await stdout.writeRaw(`${table(shown, [], room)}${heading(plural(turns.length, 'turn'))}${turnTable(turns, room)}`)
  for (const { turnId } of turns.toReversed()) {
    const detail = await journal.read.turn(turnId)
    if (detail === undefined) continue
    const { question, text, error } = detail.turn
    const calls = detail.events.flatMap((event) => (event.type === 'tool_request' ? event.tool.name : []))
    const done = calls.length === 0 ? '' : `${stdout.style('dim', visibleLine(`tools: ${calls.join(', ')}`))}\n`
    const said = text === '' ? (error === null ? '(no answer)' : `${error.code}: ${error.message}`) : text
    await stdout.writeRaw(
      `${heading(`> ${shorten(question, 500)}`)}${done}${await broken(visibleText(said.trimEnd()), stdout)}\n`,
    )
  }
}

/** Columns below which a session takes two lines. */
const ONE_LINE = 110

/** Prints sessions, newest first; with their folders where they are of several. */
export async function listSessions(sessions: readonly SessionSummary[], io: Io, withFolder: boolean): Promise<void> {
  const room = roomOf(io.stdout)
  const facts = sessions.map(({ sessionId, lastTurnAt, turns }) => [
    visibleLine(sessionId),
    formatTime(lastTurnAt),
    plural(turns, 'turn'),
  ])
  const about = sessions.map(({ model, folder, title }) => [
    shorten(model, 40),
    ...(withFolder ? [shorten(folder ?? '–', 60)] : []),
    shorten(title, 200),
  ])
  if (room < ONE_LINE) {
    const lines = table(facts, [2]).trimEnd().split('\n')
    const below = about.map((cells) => shorten(cells.toReversed().join('  '), room - 5))
    await io.stdout.writeRaw(lines.map((line, index) => `${line}\n    ${below[index] ?? ''}\n`).join(''))
  } else {
    const rows = facts.map((cells, index) => [...cells, ...(about[index] ?? [])])
    await io.stdout.writeRaw(table(rows, [2], room))
  }
}
