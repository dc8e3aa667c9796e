/** Runs a chat: a message, its turn, the next message, and slash commands. */

import { keepApproval } from '../../app/approvals.ts'
import { ConfigurationError } from '../../core/error.ts'
import { exactText } from '../../util/terminal.ts'
import { wrapWords } from '../terminal/wrap.ts'
import { EXIT } from '../exit-codes.ts'
import { describeFailure, exitCodeOf } from '../failure.ts'
import { MESSAGE_INDENT } from '../io.ts'
import { Conversation } from './conversation.ts'
import type { Front } from './front.ts'
import type { Start } from './options.ts'
import { permissionAsker } from './permission.ts'
import { chooseSession, takeUp } from './sessions.ts'
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
  const permit = front.canAsk
    ? permissionAsker({
        front,
        tools: () => conversation.tools,
        isSafe: options.safe,
        keep: (rule, folder) => keepApproval(rule, { folder }, loaded.paths),
        folder: io.cwd,
      })
    : undefined

  const follow: SlashContext['follow'] = (make) => {
    const stop = new AbortController()
    const events = make(AbortSignal.any([io.signal, stop.signal]))
    return front.follow(events, conversation.calls, () => stop.abort(new DOMException('Interrupted by the user.', 'AbortError')))
  }
  const slash: SlashContext = { conversation, front, loaded, io, follow }

  return {
    conversation,
    slash,
    async run() {
      try {
        if (options.resume !== undefined) await resume(options.resume, conversation, front)
        return await talk()
      } finally {
        await conversation.close()
      }
    },
  }

  async function talk(): Promise<number> {
    let code: number = EXIT.done
    for (;;) {
      const said = await front.next()
      if (said === undefined || io.signal.aborted) return code
      try {
        if (slashOf(said) === undefined) code = await follow((signal) => conversation.turn(said, permit, signal))
        else if ((await runSlash(said, slash)) === 'leave') return code
      } catch (thrown) {
        // What is wrong with one message ends no session.
        const told = describeFailure(thrown, io.env)
        await front.tell(`${front.style('red', front.canAsk ? wrapWords(told, front.columns, MESSAGE_INDENT) : told)}\n`)
        code = exitCodeOf(thrown)
      }
    }
  }
}

async function resume(id: string, conversation: Conversation, front: Front): Promise<void> {
  if (id === '' && !front.canAsk) {
    throw new ConfigurationError('--resume needs the ID of a session where nobody can choose one.', {
      hint: '"cria logs list" shows turns; "cria logs show ID" names the session.',
    })
  }
  const chosen = id === '' ? await chooseSession(conversation.journal, front) : id
  if (chosen === undefined) await front.note('what you say begins a new session.')
  else await takeUp(chosen, conversation, front)
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
