/** Sessions to go on with: which there are, and where one stands. */

import { basename } from 'node:path'
import type { Journal } from '../../app/journal.ts'
import { CriaError } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import type { SessionSummary } from '../../core/recorder.ts'
import { exactText, visibleText } from '../../util/terminal.ts'
import { callLine } from '../deeds-view.ts'
import { formatTime, plural, shorten } from '../format.ts'
import type { Conversation } from './conversation.ts'
import type { Choice, Front } from './front.ts'
import { echoOf } from './layout.ts'

const MOST = 50

/** What of the journal is listed: sessions of one folder, or of all; with words, those in which they were said. */
interface Shown {
  readonly folder?: string
  readonly search?: string
}

/**
 * Asks which session goes on: those of this folder, newest first, with ways to search and to see those of other folders.
 *
 * @returns `undefined` when none was chosen, or there is none.
 */
export async function chooseSession(
  journal: Pick<Journal, 'sessions'>,
  front: Front,
  folder: string,
): Promise<string | undefined> {
  let shown: Shown = { folder }
  for (;;) {
    let sessions = await journal.sessions({ ...shown, limit: MOST })
    if (sessions.length === 0 && shown.folder !== undefined && shown.search === undefined) {
      // Those that an older version began are of no folder.
      shown = {}
      sessions = await journal.sessions({ limit: MOST })
    }
    if (sessions.length === 0 && shown.search === undefined) {
      await front.note('there is no session to go on with yet.')
      return undefined
    }
    if (sessions.length === 0) await front.note(`no session has ${JSON.stringify(shown.search)} in it.`)
    const choices = sessions.map((session, index): Choice => {
      return { key: String(index + 1), label: labelOf(session, shown.folder === undefined, front.columns) }
    })
    const others: Choice[] = [
      { key: 's', label: 'search for words that were said' },
      shown.folder === undefined
        ? { key: 'h', label: 'sessions of this folder' }
        : { key: 'a', label: 'sessions of all folders' },
    ]
    const question = shown.search === undefined ? 'Which session?' : `Which session with ${JSON.stringify(shown.search)}?`
    const chosen = await front.choose(question, [...choices, ...others], { initial: 0 })
    if (chosen === undefined) return undefined
    if (chosen < sessions.length) return sessions[chosen]?.sessionId
    if (chosen > sessions.length)
      shown = {
        ...(shown.folder === undefined ? { folder } : {}),
        ...(shown.search === undefined ? {} : { search: shown.search }),
      }
    else {
      const words = (await front.ask('Words:'))?.trim() ?? ''
      shown = { ...(shown.folder === undefined ? {} : { folder: shown.folder }), ...(words === '' ? {} : { search: words }) }
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
    const calls = unknown.map((call) => `  ${exactText(callLine(call)).replaceAll('\n', '␊')}\n`).join('')
    await front.tell(
      `${front.style('yellow', 'This session was interrupted while tools were at work. Nobody knows what became of:')}\n${calls}` +
        `Look before you go on. The model has been told; the same call is not made again without a question.\n\n`,
    )
  }
  await showLast(sessionId, conversation, front)
  await front.note(`going on with ${sessionId}`)
}

/** Calls whose effects are unknown, and which were not made good by a later one of the same kind. */
function unknownEffects(history: readonly Message[]): readonly { readonly name: string; readonly input: ToolInput }[] {
  const calls = new Map<string, { readonly name: string; readonly input: ToolInput }>()
  const unknown = new Map<string, { readonly name: string; readonly input: ToolInput }>()
  for (const { parts } of history) {
    for (const part of parts) {
      if (part.type === 'tool-call') calls.set(part.id, { name: part.name, input: part.input })
      if (part.type !== 'tool-result') continue
      const call = calls.get(part.id) ?? { name: part.name, input: null }
      const key = JSON.stringify(call)
      if (part.unknownEffects !== undefined) unknown.set(key, call)
      else if (!part.isError) unknown.delete(key)
    }
  }
  return [...unknown.values()]
}

type ToolInput = Parameters<typeof callLine>[0]['input']

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
    if (front.canAsk) await front.follow(each(events), calls, () => {})
    else await front.tell(`${visibleText(events.flatMap((event) => (event.type === 'text_delta' ? event.text : [])).join(''))}\n`)
    return
  }
}

async function* each(events: readonly QueryEvent[]): AsyncGenerator<QueryEvent> {
  yield* events
}
