/** Sessions to go on with: which there are, and where one stands. */

import type { Journal } from '../../app/journal.ts'
import { CriaError } from '../../core/error.ts'
import type { QueryEvent } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import { exactText, visibleText } from '../../util/terminal.ts'
import { callLine } from '../deeds-view.ts'
import { formatTime, plural, shorten } from '../format.ts'
import type { Conversation } from './conversation.ts'
import type { Choice, Front } from './front.ts'
import { echoOf } from './layout.ts'

export interface SessionLine {
  readonly sessionId: string
  /** The first question. */
  readonly title: string
  readonly lastTurnAt: number
  readonly turns: number
}

const MOST = 50

/** Newest first. */
async function listSessions(journal: Journal): Promise<readonly SessionLine[]> {
  const stats = await journal.sessionStats(MOST)
  return Promise.all(
    stats.map(async ({ sessionId, lastTurnAt, turns }) => {
      const all = await journal.read.turns({ sessionId, limit: 10_000 })
      return { sessionId, lastTurnAt, turns, title: all.turns.at(-1)?.question ?? '' }
    }),
  )
}

/** `undefined` when none was chosen, or there is none. */
export async function chooseSession(journal: Journal, front: Front): Promise<string | undefined> {
  const sessions = await listSessions(journal)
  if (sessions.length === 0) {
    await front.note('there is no session to go on with yet.')
    return undefined
  }
  const choices = sessions.map(({ title, lastTurnAt, turns }, index): Choice => {
    const facts = `${formatTime(lastTurnAt)}  ${plural(turns, 'turn').padStart(8)}  `
    return { key: String(index + 1), label: `${facts}${shorten(title, Math.max(10, front.columns - facts.length - 10))}` }
  })
  const chosen = await front.choose('Which session?', choices, { initial: 0 })
  return chosen === undefined ? undefined : sessions[chosen]?.sessionId
}

/** Goes on with a session: first what nobody knows, then where it stands. @throws CriaError `not_found` */
export async function takeUp(sessionId: string, conversation: Conversation, front: Front): Promise<void> {
  const { turns } = await conversation.journal.read.turns({ sessionId, limit: 1 })
  if (turns.length === 0) {
    throw new CriaError('not_found', `There is no session ${JSON.stringify(sessionId.slice(0, 100))} in the journal.`, {
      hint: '"cria chat --resume" lists those there are.',
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
