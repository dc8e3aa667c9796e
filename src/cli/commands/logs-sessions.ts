/** `cria logs sessions`: lists sessions. Also prints a single session for `cria logs show`. */

import { openJournalToRead } from '../../app/journal.ts'
import type { Journal } from '../../app/journal.ts'
import type { SessionSummary } from '../../core/recorder.ts'
import { visibleLine, visibleText } from '../../util/terminal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { formatCost, formatTime, heading, plural, shorten, table, tableOver } from '../format.ts'
import { broken, note, printJson, roomOf, printLargeJson } from '../io.ts'
import type { Io } from '../io.ts'
import { turnTable } from './logs-list.ts'

export const logsSessions: Command = defineCommand({
  name: 'logs sessions',
  arguments: [{ name: 'words', about: 'words in its messages, or in one of its tool calls', many: true, required: false }],
  options: {
    all: { type: 'flag', about: 'list sessions of all folders' },
    limit: { type: 'integer', short: 'n', value: 'N', about: 'maximum number of sessions', default: 20, min: 1, max: 100_000 },
    json: jsonOption('{ sessions: [{ sessionId, folder, settings, title, model, turns, startedAt, lastTurnAt }] }'),
  },
  details: `A session belongs to the folder it was started in. "cria chat --resume ID" continues it in that folder, with its model and
tools; "cria logs show ID" prints its turns.`,
  examples: ['cria logs sessions', 'cria logs sessions refund --all'],
  async run({ arguments: words, options: { all, limit, json } }, io) {
    const journal = await openJournalToRead(io)
    const asked = { limit, ...(all ? {} : { folder: io.cwd }), ...(words.length === 0 ? {} : { search: words.join(' ') }) }
    const sessions = (await journal?.sessions(asked)) ?? []
    if (json) return printJson(io, { sessions })
    if (sessions.length > 0) return io.stdout.writeRaw(sessionTable(sessions, roomOf(io.stdout), all))
    await note(io, all ? 'no sessions were found.' : 'no sessions of this folder were found; --all looks in all folders.')
  },
})

/** Columns below which a session takes two lines. */
const ONE_LINE = 110

/** Formats sessions, newest first, optionally with their folders. */
function sessionTable(sessions: readonly SessionSummary[], room: number, withFolder: boolean): string {
  const rows = sessions.map(({ sessionId, lastTurnAt, turns, model, folder, title }) => ({
    facts: [visibleLine(sessionId), formatTime(lastTurnAt), plural(turns, 'turn')],
    about: [shorten(model, 40), ...(withFolder ? [shorten(folder ?? '–', 60)] : []), shorten(title, 200)],
  }))
  if (room >= ONE_LINE)
    return table(
      rows.map(({ facts, about }) => [...facts, ...about]),
      [2],
      room,
    )
  const below = rows.map(({ about }) => [`    ${shorten(about.toReversed().join('  '), room - 5)}`])
  return tableOver(
    rows.map(({ facts }) => facts),
    below,
    [2],
  )
}

interface FoundSession {
  readonly journal: Journal
  readonly session: SessionSummary
}

/** Finds the session with this id; `undefined` if there is none, or for `last`. */
export async function findSession(io: Io, id: string): Promise<FoundSession | undefined> {
  const journal = id === 'last' ? undefined : await openJournalToRead(io)
  const [session] = (await journal?.sessions({ sessionId: id, limit: 1 })) ?? []
  return journal === undefined || session === undefined ? undefined : { journal, session }
}

const MOST_TURNS = 10_000

/** Prints a session: its facts, its turns, and all questions and answers, oldest first. */
export async function showSession({ journal, session }: FoundSession, isJson: boolean, { stdout }: Io): Promise<void> {
  const { sessionId } = session
  const { turns } = await journal.read.turns({ sessionId, nested: false, limit: MOST_TURNS })
  if (isJson) {
    return printLargeJson({ stdout }, { session, turns, messages: await journal.read.history(sessionId) })
  }
  const room = roomOf(stdout)
  const known = turns.flatMap(({ costUsd }) => costUsd ?? [])
  const cost = formatCost(known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0))
  const facts = {
    session: sessionId,
    folder: session.folder ?? '–',
    model: session.model,
    started: formatTime(session.startedAt),
    'last turn': formatTime(session.lastTurnAt),
    cost: known.length === turns.length || known.length === 0 ? cost : `at least ${cost}`,
    continue: `cria chat --resume ${sessionId}`,
  }
  const shown = Object.entries(facts).map(([name, value]) => [name, shorten(value, 300)])
  await stdout.writeRaw(`${table(shown, [], room)}${heading(plural(turns.length, 'turn'), stdout)}${turnTable(turns, room)}`)
  for (const { turnId } of turns.toReversed()) {
    const detail = await journal.read.turn(turnId)
    if (detail === undefined) continue
    const { question, text, error } = detail.turn
    const calls = detail.events.flatMap((event) => (event.type === 'tool_request' ? event.tool.name : []))
    const done = calls.length === 0 ? '' : `${stdout.style('dim', visibleLine(`tools: ${calls.join(', ')}`))}\n`
    const unanswered = error === null ? '(no answer)' : `${error.code}: ${error.message}`
    const said = await broken(visibleText((text === '' ? unanswered : text).trimEnd()), stdout)
    await stdout.writeRaw(`${heading(`> ${shorten(question, 500)}`, stdout)}${done}${said}\n`)
  }
}
