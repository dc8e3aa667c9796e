/** Sessions to go on with: which there are, and where one stands. */

import { basename } from 'node:path'
import type { Journal } from '../../app/journal.ts'
import { CriaError } from '../../core/error.ts'
import type { Message } from '../../core/message.ts'
import type { SessionSummary } from '../../core/recorder.ts'
import type { ToolUse } from '../../core/tool.ts'
import { defined } from '../../util/check.ts'
import { exactText, visibleText } from '../../util/terminal.ts'
import { callLine } from '../tool-call-view.ts'
import { formatTime, plural, shorten } from '../format.ts'
import type { Conversation } from './conversation.ts'
import { numbered } from './front.ts'
import type { Front } from './front.ts'
import { echoOf } from './screen.ts'

const MOST = 50

/**
 * Asks which session goes on: those of this folder, newest first, with ways to search and to see those of other folders.
 *
 * @returns `undefined` when none was chosen, or there is none.
 */
export async function chooseSession(journal: Pick<Journal, 'sessions'>, front: Front, here: string): Promise<string | undefined> {
  let folder: string | undefined = here
  let search: string | undefined
  for (;;) {
    let sessions = await journal.sessions({ ...defined({ folder, search }), limit: MOST })
    if (sessions.length === 0 && folder !== undefined && search === undefined) {
      // Those that an older version began are of no folder.
      folder = undefined
      sessions = await journal.sessions({ limit: MOST })
    }
    if (sessions.length === 0) {
      const missing =
        search === undefined ? 'there is no session to go on with yet.' : `no session has ${JSON.stringify(search)} in it.`
      await front.note(missing)
      if (search === undefined) return undefined
    }
    const labels = sessions.map((session) => labelOf(session, folder === undefined, front.columns))
    const elsewhere =
      folder === undefined ? { key: 'h', label: 'sessions of this folder' } : { key: 'a', label: 'sessions of all folders' }
    const choices = [...numbered(labels), { key: 's', label: 'search for words that were said' }, elsewhere]
    const question = search === undefined ? 'Which session?' : `Which session with ${JSON.stringify(search)}?`
    const chosen = await front.choose(question, choices, { initial: 0 })
    if (chosen === undefined) return undefined
    if (chosen < sessions.length) return sessions[chosen]?.sessionId
    if (chosen > sessions.length) {
      folder = folder === undefined ? here : undefined
    } else {
      const words = (await front.ask('Words:'))?.trim() ?? ''
      search = words === '' ? undefined : words
    }
  }
}

function labelOf({ title, lastTurnAt, turns, folder }: SessionSummary, withFolder: boolean, columns: number): string {
  const where = withFolder && folder !== null ? `${shorten(basename(folder), 20)}  ` : ''
  const facts = `${formatTime(lastTurnAt)}  ${plural(turns, 'turn').padStart(8)}  ${where}`
  return `${facts}${shorten(title, Math.max(10, columns - facts.length - 10))}`
}

/** Goes on with a session: first what nobody knows, then where it stands. @throws CriaError `not_found` */
export async function takeUp(sessionId: string, conversation: Conversation, front: Front): Promise<void> {
  const { turns } = await conversation.journal.read.turns({ sessionId, limit: 1 })
  if (turns.length === 0) {
    throw new CriaError('not_found', `There is no session ${JSON.stringify(sessionId.slice(0, 100))} in the journal.`, {
      hint: '"cria logs sessions --all" lists those there are.',
    })
  }
  const history = await conversation.resume(sessionId)
  const unknown = unknownEffects(history)
  if (unknown.length > 0) {
    const calls = unknown
      .map((call) => `  ${exactText(callLine({ ...call, title: conversation.calls.titleOf(call) })).replaceAll('\n', '␊')}\n`)
      .join('')
    await front.tell(
      `${front.style('yellow', 'This session was interrupted while tools were at work. Nobody knows what became of:')}\n${calls}` +
        `Look before you go on. The model has been told; the same call is not made again without a question.\n\n`,
    )
  }
  await showLast(sessionId, conversation, front)
  await front.note(`going on with ${sessionId}`)
}

type Call = Pick<ToolUse, 'name' | 'input'>

/** Calls whose effects are unknown, and which were not made good by a later one of the same kind. */
function unknownEffects(history: readonly Message[]): readonly Call[] {
  const calls = new Map<string, Call>()
  const unknown = new Map<string, Call>()
  for (const part of history.flatMap(({ parts }) => parts)) {
    if (part.type === 'tool-call') calls.set(part.id, { name: part.name, input: part.input })
    if (part.type !== 'tool-result') continue
    const call = calls.get(part.id) ?? { name: part.name, input: null }
    const key = JSON.stringify(call)
    if (part.unknownEffects !== undefined) unknown.set(key, call)
    else if (!part.isError) unknown.delete(key)
  }
  return [...unknown.values()]
}

/** Turns that are looked through for one that was answered: some only compacted or forked the conversation. */
const LOOKED_THROUGH = 10

/** Shows the last question and its answer as they were shown when they were new, from their events. */
async function showLast(sessionId: string, { journal, calls }: Conversation, front: Front): Promise<void> {
  const { turns } = await journal.read.turns({ sessionId, nested: false, limit: LOOKED_THROUGH })
  for (const { turnId, question } of turns) {
    const events = await journal.read.events(turnId)
    if (!events.some(({ type }) => type === 'text_delta' || type === 'tool_request')) continue
    await front.tell(echoOf(question, front.style))
    // Answers on standard output are those that were asked for.
    const text = events.flatMap((event) => (event.type === 'text_delta' ? event.text : [])).join('')
    if (front.canAsk) await front.follow(() => events, calls)
    else await front.tell(`${visibleText(text)}\n`)
    return
  }
}
