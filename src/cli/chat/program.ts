/** Runs a chat: a message, its turn, the next message, and slash commands. */

import { keepApproval } from '../../app/approvals.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { PermissionChecker } from '../../core/tool.ts'
import type { MessageInput } from '../../core/message.ts'
import { exactText } from '../../util/terminal.ts'
import { wrapWords } from '../../util/cells.ts'
import { EXIT } from '../exit-codes.ts'
import { describeFailure, exitCodeOf } from '../failure.ts'
import { MESSAGE_INDENT } from '../io.ts'
import { Conversation } from './conversation.ts'
import type { Front } from './front.ts'
import type { Start } from './options.ts'
import { permissionAsker } from './permission.ts'
import { takeUp } from './sessions.ts'
import { slashOf } from './slash-names.ts'
import { runSlash } from './slash.ts'
import type { SlashContext } from './slash.ts'

export interface Program {
  readonly conversation: Conversation
  /** Commands that need not wait for the turn under way. */
  readonly slash: SlashContext
  /** Resolves to the exit code when the user leaves. */
  run(): Promise<number>
}

/** @throws ConfigurationError when there is no model that can be talked with, or no such session. */
export async function openProgram(start: Start, front: Front): Promise<Program> {
  const { options, loaded, io } = start
  const askUser = front.canAsk ? askerOf(front) : undefined
  const conversation = await Conversation.open({ ...start, askUser, tell: (message) => front.note(message) })
  front.steerWith(conversation.steering)
  const bell = bellOf(front, bellMs(options.bell, loaded.config.bell))
  const asked = front.canAsk
    ? permissionAsker({
        front,
        tools: () => conversation.tools,
        isSafe: options.safe,
        keep: (rule, folder) => keepApproval(rule, { folder }, loaded.paths),
        folder: io.cwd,
      })
    : undefined
  const permit: PermissionChecker | undefined = asked && ((requests, ctx) => bell.around(() => asked(requests, ctx)))

  const follow: SlashContext['follow'] = (make) => {
    const stop = new AbortController()
    const events = make(AbortSignal.any([io.signal, stop.signal]))
    return front.follow(events, conversation.calls, () => stop.abort(new DOMException('Interrupted by the user.', 'AbortError')))
  }
  /** Whether anything was said in this chat. */
  let hasBegun = false
  const slash: SlashContext = { conversation, front, loaded, io, follow }

  return {
    conversation,
    slash,
    async run() {
      try {
        if (options.resume !== undefined) await takeUp(options.resume, conversation, front)
        return await talk()
      } finally {
        await conversation.close()
      }
    },
  }

  /** Few messages name a file. */
  async function withFiles(said: string): Promise<MessageInput> {
    const begins = !hasBegun || conversation.sessionId === undefined
    const question = begins && start.begin !== undefined ? start.begin(said) : said
    if (!said.includes('@')) return question
    const { withMentioned } = await import('./mentions.ts')
    return withMentioned(said, { question, front, io, check: (handed) => conversation.checkReadable(handed) })
  }

  async function talk(): Promise<number> {
    let code: number = EXIT.done
    for (;;) {
      const said = await front.next()
      if (said === undefined || io.signal.aborted) return code
      try {
        if (slashOf(said) === undefined) {
          const message = await withFiles(said)
          hasBegun = true
          code = await bell.turn(() => follow((signal) => conversation.turn(message, permit, signal)))
          const sources = await conversation.sourcesRead()
          if (code === EXIT.done) await front.tell(sources)
        } else if ((await runSlash(said, slash)) === 'leave') return code
      } catch (thrown) {
        // What is wrong with one message ends no session.
        const told = describeFailure(thrown, io.env)
        await front.tell(`${front.style('red', front.canAsk ? wrapWords(told, front.columns, MESSAGE_INDENT) : told)}\n`)
        code = exitCodeOf(thrown)
      }
    }
  }
}

const DEFAULT_BELL_S = 10

/** @returns milliseconds from which a turn is a long one; `Infinity`: nothing rings. @throws ConfigurationError */
function bellMs(option: string | undefined, configured: number | undefined): number {
  if (option === undefined) return configured === undefined ? Infinity : configured * 1000
  const seconds = option === '' ? (configured ?? DEFAULT_BELL_S) : Number(option)
  if (/^(\d+(\.\d+)?)?$/.test(option)) return seconds * 1000
  throw new ConfigurationError(`--bell takes seconds, 0 or more, but is ${JSON.stringify(option.slice(0, 60))}.`)
}

interface Bell {
  /** Rings when a long turn has ended. */
  turn<T>(work: () => Promise<T>): Promise<T>
  /** Rings when a long turn waits for the user; what the user takes does not count. */
  around<T>(ask: () => T | Promise<T>): Promise<T>
}

function bellOf(front: Front, longMs: number): Bell {
  let since = performance.now()
  const ring = async (): Promise<void> => {
    if (performance.now() - since >= longMs) await front.ring()
    since = performance.now()
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
      try {
        return await ask()
      } finally {
        since = performance.now()
      }
    },
  }
}

/** Puts a question of the model to the user. */
function askerOf(front: Front): NonNullable<Parameters<typeof Conversation.open>[0]['askUser']> {
  return async ({ question, options }, signal) => {
    await front.tell(`${front.style('yellow', '?')} ${exactText(question)}\n`)
    if (options.length === 0) return front.ask('Your answer:', signal)
    const choices = [...options, 'something else'].map((label, index) => ({ key: String(index + 1), label: exactText(label) }))
    const chosen = await front.choose('Your answer:', choices, { initial: 0, signal })
    return chosen === options.length ? front.ask('Your answer:', signal) : chosen === undefined ? undefined : options[chosen]
  }
}
