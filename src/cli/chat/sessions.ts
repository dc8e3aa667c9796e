/** Lets the user choose a session, and continues it. */

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
 * Asks the user which session to continue. Offers the sessions of this folder, newest first, a search, and the sessions of other folders.
 *
 * @returns `undefined` when there are no sessions or none was chosen.
 */
export async function chooseSession(journal: Pick<Journal, 'sessions'>, front: Front, here: string): Promise<string | undefined> {
  let folder: string | undefined = here
  let search: string | undefined
  for (;;) {
    let sessions = await journal.sessions({ ...defined({ folder, search }), limit: MOST })
    if (sessions.length === 0 && folder !== undefined && search === undefined) {
      // Sessions that an older version started have no folder.
      folder = undefined
      sessions = await journal.sessions({ limit: MOST })
    }
    if (sessions.length === 0) {
      const missing =
        search === undefined ? 'there is no session to continue yet.' : `no session contains ${JSON.stringify(search)}.`
      await front.note(missing)
      if (search === undefined) return undefined
    }
    const labels = sessions.map((session) => labelOf(session, folder === undefined, front.columns))
    const elsewhere =
      folder === undefined ? { key: 'h', label: 'sessions of this folder' } : { key: 'a', label: 'sessions of all folders' }
    const choices = [...numbered(labels), { key: 's', label: 'search for words in messages' }, elsewhere]
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

/** Continues a session: lists its interrupted tool calls, then shows its last turn. @throws CriaError `not_found` */
export async function continueSession(sessionId: string, conversation: Conversation, front: Front): Promise<void> {
  const { turns } = await conversation.journal.read.turns({ sessionId, limit: 1 })
  if (turns.length === 0) {
    throw new CriaError('not_found', `There is no session ${JSON.stringify(sessionId.slice(0, 100))} in the journal.`, {
      hint: '"cria logs sessions --all" lists the sessions of all folders.',
    })
  }
  const history = await conversation.resume(sessionId)
  const unknown = unknownEffects(history)
  if (unknown.length > 0) {
    const calls = unknown
      .map((call) => `  ${exactText(callLine({ ...call, title: conversation.calls.titleOf(call) })).replaceAll('\n', '␊')}\n`)
      .join('')
    await front.print(
      `${front.style('yellow', 'This session was interrupted while tools were running. The effects of these calls are unknown:')}\n${calls}` +
        `Check them before you continue. The model knows; the same call does not run again without your permission.\n\n`,
    )
  }
  await showLast(sessionId, conversation, front)
  await front.note(`continuing with ${sessionId}`)
}

type Call = Pick<ToolUse, 'name' | 'input'>

/** Returns the calls with unknown effects, except those that were repeated later with success. */
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

/** Turns that are searched for one with an answer: some only compacted or forked the session. */
const MOST_SEARCHED = 10

/** Shows the last question and its answer from the stored events, as they were shown live. */
async function showLast(sessionId: string, { journal, calls }: Conversation, front: Front): Promise<void> {
  const { turns } = await journal.read.turns({ sessionId, nested: false, limit: MOST_SEARCHED })
  for (const { turnId, question } of turns) {
    const events = await journal.read.events(turnId)
    if (!events.some(({ type }) => type === 'text_delta' || type === 'tool_request')) continue
    await front.print(echoOf(question, front.style))
    // Not to standard output, which receives only the answers to messages of this chat.
    const text = events.flatMap((event) => (event.type === 'text_delta' ? event.text : [])).join('')
    if (front.canAsk) await front.follow(() => events, calls)
    else await front.print(`${visibleText(text)}\n`)
    return
  }
}
