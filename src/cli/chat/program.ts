/** Runs a chat: reads messages, runs their turns, and carries out slash commands. */

import { keepApproval } from '../../app/trust.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { MessageInput } from '../../core/message.ts'
import type { PermissionChecker } from '../../core/tool.ts'
import { wrapWords } from '../../util/cells.ts'
import { exactText } from '../../util/terminal.ts'
import { describeFailure, EXIT, exitCodeOf } from '../failure.ts'
import { MESSAGE_INDENT } from '../io.ts'
import { Conversation } from './conversation.ts'
import type { AskUser, Start } from './conversation.ts'
import { numbered } from './front.ts'
import type { Front } from './front.ts'
import { permissionAsker } from './permission.ts'
import { continueSession } from './sessions.ts'
import { isImmediate, runSlash, slashOf } from './slash.ts'
import { statusLine } from './status.ts'

/**
 * Runs the chat until the user leaves.
 *
 * @returns the exit code of the last turn, and the session that can be continued.
 * @throws ConfigurationError when there is no suitable model or the session is unknown.
 */
export async function converse(
  start: Start,
  front: Front,
): Promise<{ readonly code: number; readonly sessionId: string | undefined }> {
  const { options, loaded, io } = start
  const askUser = front.canAsk ? askerOf(front) : undefined
  const conversation = await Conversation.open({ ...start, askUser, note: (message) => front.note(message) })
  const slash = { conversation, front, loaded, io }
  const bell = bellOf(front, bellMs(options.bell, loaded.config.bell))
  const asked = permissionAsker({
    front,
    tools: () => conversation.tools,
    isSafe: options.safe,
    keep: (rule, folder) => keepApproval(rule, { folder }, loaded.paths),
    folder: io.cwd,
  })
  const permit: PermissionChecker | undefined = front.canAsk
    ? (requests, ctx) => bell.around(async () => asked(requests, ctx))
    : undefined
  let hasSentMessage = false

  front.attach({
    steering: conversation.steering,
    status: (columns) => statusLine(conversation.status, columns),
    runNow(line) {
      if (!isImmediate(line)) return false
      void runSlash(line, slash).then(
        (ending) => ending === 'leave' && front.leave(),
        (thrown: unknown) => front.note(describeFailure(thrown, io.env)),
      )
      return true
    },
  })
  try {
    if (options.resume !== undefined) await continueSession(options.resume, conversation, front)
    const code = await talk()
    return { code, sessionId: conversation.sessionId }
  } finally {
    await conversation.close()
  }

  async function talk(): Promise<number> {
    let code: number = EXIT.done
    for (;;) {
      const line = await front.next()
      if (line === undefined || io.signal.aborted) return code
      try {
        if (slashOf(line) === undefined) {
          const message = await withFiles(line)
          hasSentMessage = true
          code = await bell.turn(() => front.follow((signal) => conversation.turn(message, permit, signal), conversation.calls))
          const sources = await conversation.sourcesRead()
          if (code === EXIT.done) await front.print(sources)
        } else if ((await runSlash(line, slash)) === 'leave') return code
      } catch (thrown) {
        // An error in one message does not end the chat.
        const text = describeFailure(thrown, io.env)
        await front.print(`${front.style('red', front.canAsk ? wrapWords(text, front.columns, MESSAGE_INDENT) : text)}\n`)
        code = exitCodeOf(thrown)
      }
    }
  }

  async function withFiles(text: string): Promise<MessageInput> {
    const isFirst = !hasSentMessage || conversation.sessionId === undefined
    const question = isFirst && start.begin !== undefined ? start.begin(text) : text
    // Loaded on use, because few messages name a file.
    if (!text.includes('@')) return question
    const { withMentioned } = await import('./mentions.ts')
    return withMentioned(text, question, { front, io, check: (handed) => conversation.checkReadable(handed) })
  }
}

const DEFAULT_BELL_S = 10

/** Returns the milliseconds after which a turn rings the bell; `Infinity`: never. @throws ConfigurationError for an invalid `--bell` */
function bellMs(option: string | undefined, configured: number | undefined): number {
  if (option === undefined) return configured === undefined ? Infinity : configured * 1000
  if (!/^(\d+(\.\d+)?)?$/.test(option))
    throw new ConfigurationError(`--bell takes seconds, 0 or more, but is ${JSON.stringify(option.slice(0, 60))}.`)
  return (option === '' ? (configured ?? DEFAULT_BELL_S) : Number(option)) * 1000
}

interface Bell {
  /** Rings at the end of a long turn. */
  turn<T>(work: () => Promise<T>): Promise<T>
  /** Rings when a long turn waits for the user. The time that the user takes does not count. */
  around<T>(ask: () => Promise<T>): Promise<T>
}

function bellOf(front: Front, longMs: number): Bell {
  let since = performance.now()
  const ring = async (): Promise<void> => {
    if (performance.now() - since >= longMs) await front.ring()
  }
  return {
    async turn(work) {
      since = performance.now()
      try {
        return await work()
      } finally {
        await ring()
      }
    },
    async around(ask) {
      await ring()
      return ask().finally(() => {
        since = performance.now()
      })
    },
  }
}

/** Returns a function that asks the user a question of the model. */
function askerOf(front: Front): AskUser {
  return async ({ question, options }, signal) => {
    await front.print(`${front.style('yellow', '?')} ${exactText(question)}\n`)
    if (options.length === 0) return front.ask('Your answer:', signal)
    const choices = numbered([...options, 'another answer'].map(exactText))
    const chosen = await front.choose('Your answer:', choices, { initial: 0, signal })
    return chosen === options.length ? front.ask('Your answer:', signal) : options[chosen ?? -1]
  }
}
