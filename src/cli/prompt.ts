/** Reads the input of `ask` and `run`: the question, attached data, a template, and settings of the call. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { homePaths, storePath } from '../app/paths.ts'
import { handOver, handOverBytes, withHandedOver } from '../app/hand-over.ts'
import type { HandedOver } from '../app/hand-over.ts'
import { openJournal, openJournalToRead } from '../app/journal.ts'
import { ConfigurationError } from '../core/error.ts'
import type { Message } from '../core/message.ts'
import type { SessionSummary, TurnSummary } from '../core/recorder.ts'
import { visibleLine } from '../util/terminal.ts'
import type { TurnOptions } from './shared-options.ts'
import { didYouMean, formatBytes, plural, quoted } from './format.ts'
import { modelSettings, pairOf } from './model-options.ts'
import type { ModelSettings } from './model-options.ts'
import { note } from './io.ts'
import type { Io } from './io.ts'
import { readData, readPiped, readText } from './read-text.ts'
import { askedWith } from './session-settings.ts'
import type { AskedWith } from './session-settings.ts'

export interface Prompt {
  /** Attached data, then the question. */
  readonly messages: readonly Message[]
  readonly question: string
  readonly handed: readonly HandedOver[]
  /** Documents, system prompt and settings; those not given on the command line come from the continued session. */
  readonly asked: AskedWith
  readonly settings: ModelSettings
  /** Model name as after `-m`. */
  readonly model: string | undefined
  readonly sessionId: string | undefined
}

/**
 * @param word the question; `-`: standard input; empty: the question of the template, or standard input.
 * @throws ConfigurationError when there is no question, or an option cannot be used.
 */
export async function readPrompt(word: string, what: 'question' | 'task', options: TurnOptions, io: Io): Promise<Prompt> {
  const { attach, option } = options
  const values = paramsOf(options)
  const isQuestionPiped = word === '-' || (word === '' && options.template === undefined && io.piped !== undefined)
  if (isQuestionPiped && attach.includes('-'))
    throw new ConfigurationError(
      `Standard input is the ${what} already, so -a - has nothing to read: write the ${what} as an argument.`,
    )
  const templates = options.template === undefined ? undefined : await import('../app/templates.ts')
  const template = templates?.readTemplate(options.template ?? '', homePaths(io), io.cwd)
  const own = [...(template?.options ?? []), ...option]
  modelSettings(own)

  const said = await readText(isQuestionPiped ? '-' : word, what, io)
  const filled = template === undefined ? undefined : templates?.fillTemplate(template, said, values)
  const prompt = filled?.prompt ?? said

  const handed: HandedOver[] = []
  for (const where of attach) handed.push(where === '-' ? handOverBytes(await readData(io), STDIN) : await handOver(where, io))
  const piped = isQuestionPiped || attach.includes('-') ? undefined : await readPiped(io)
  if (piped !== undefined) handed.unshift(handOverBytes(piped, STDIN))
  if (io.stderr.isTerminal && handed.length > 0) await note(io, `attached: ${handedLine(handed)}`)
  const question = String(prompt)
  if (question.trim() === '') {
    if (word === '' && !isQuestionPiped && handed.length === 0)
      throw new ConfigurationError(`<${what}> is missing: write it as an argument, or "-" to read it from standard input.`, {
        hint: `See: cria ${what === 'task' ? 'run' : 'ask'} --help`,
      })
    throw new ConfigurationError(`The ${what} is empty: say what ${what === 'task' ? 'is to be done' : 'you want to know'}.`)
  }
  const last = options.continue ? await lastSession(io) : undefined
  const before = askedWith(last?.settings ?? {})
  const documents =
    options.store !== undefined || options.docs.length > 0 ? options : await stillThere(before, last?.folder ?? io.cwd, io)
  const asked: AskedWith = {
    store: documents.store,
    docs: documents.docs,
    system: options.system ?? filled?.system ?? before.system,
    option: [...before.option, ...own],
  }
  return {
    question,
    handed,
    messages: withHandedOver(prompt, handed),
    asked,
    settings: modelSettings(asked.option),
    model: options.model ?? template?.model ?? last?.model,
    sessionId: options.session ?? last?.sessionId,
  }
}

/** Parses `-p NAME=VALUE`. @throws ConfigurationError when no template is named */
export function paramsOf({ param, template }: Pick<TurnOptions, 'param' | 'template'>): Readonly<Record<string, string>> {
  if (param.length > 0 && template === undefined)
    throw new ConfigurationError('-p sets variables of a template: name a template with -t.')
  return Object.fromEntries(param.map((pair) => pairOf(pair, '-p')).map(({ name, value }) => [name, value]))
}

/** Returns the documents of a continued session; prints a note about those that no longer exist and are left out. */
async function stillThere({ store, docs: paths }: AskedWith, folder: string, io: Io): Promise<Pick<AskedWith, 'store' | 'docs'>> {
  const docs = paths.map((path) => resolve(folder, path))
  const there = docs.filter((path) => existsSync(path))
  const isStore = store !== undefined && existsSync(storePath(homePaths(io), store))
  const gone = [
    ...docs.filter((path) => !there.includes(path)),
    ...(store === undefined || isStore ? [] : [`the store ${store}`]),
  ]
  if (gone.length > 0) await note(io, `the session continues without ${gone.map(visibleLine).join(', ')}: not found any more.`)
  const named = [...(isStore ? [`the store ${store}`] : []), ...there].map(visibleLine)
  if (named.length > 0) await note(io, `searching ${named.join(', ')}, as before.`)
  return { store: isStore ? store : undefined, docs: there }
}

/** Describes attached data: `notes.md (text/markdown, 12 lines, 340 B)`. */
export function handedLine(handed: readonly HandedOver[]): string {
  return handed
    .map(({ name, mediaType, bytes, text }) => {
      const lines = text === undefined ? '' : `${plural(text.trimEnd().split('\n').length, 'line')}, `
      return `${visibleLine(name)} (${mediaType}, ${lines}${formatBytes(bytes)})`
    })
    .join(', ')
}

const STDIN = 'standard input'

interface LastSession extends Pick<TurnSummary, 'sessionId' | 'model'>, Pick<SessionSummary, 'folder' | 'settings'> {}

async function lastSession(io: Io): Promise<LastSession> {
  const journal = await openJournalToRead(io)
  const [newest] = (await journal?.sessionStats(1)) ?? []
  const turn = newest === undefined ? undefined : (await journal?.read.turns({ sessionId: newest.sessionId, limit: 1 }))?.turns[0]
  if (turn === undefined) throw new ConfigurationError('There is no session to continue yet: leave out --continue.')
  const { sessionId, model } = turn
  await note(io, `continuing ${sessionId}.`)
  const [known] = (await journal?.sessions({ sessionId, limit: 1 })) ?? []
  return { sessionId, model, folder: known?.folder ?? null, settings: known?.settings ?? null }
}

const MOST_KNOWN = 50

/** Warns when `--session` names a session that does not exist yet: it may be a typo. */
export async function noteNewSession(sessionId: string | undefined, io: Io): Promise<void> {
  if (sessionId === undefined) return
  const journal = await openJournal(io)
  const { turns } = await journal.read.turns({ sessionId, limit: 1 })
  if (turns.length > 0) return
  const known = (await journal.sessionStats(MOST_KNOWN)).map((session) => session.sessionId)
  const meant = didYouMean(sessionId, known)
  await note(io, `there is no session ${quoted(sessionId, 100)} in the journal: this turn starts it.${meant}`)
}
