/** Starts a chat: what can be typed into comes first, and what it takes to answer is loaded meanwhile. */

import { statSync } from 'node:fs'
import { openJournal, openJournalToRead } from '../../app/journal.ts'
import { homePaths } from '../../app/paths.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { SessionSummary } from '../../core/recorder.ts'
import { EXIT } from '../failure.ts'
import { note } from '../io.ts'
import type { Io } from '../io.ts'
import { paramsOf } from '../prompt.ts'
import { EXTRACTIVE } from '../model-choice.ts'
import { prepareStore, readConfig } from '../prepare-store.ts'
import type { Front } from './front.ts'
import type { ChatOptions } from '../shared-options.ts'
import type { Start } from './conversation.ts'
import { PlainFront } from './plain-front.ts'
import { restored } from '../session-settings.ts'

/** @throws ConfigurationError when there is no model that can use tools, or no such session. */
export async function runChat(given: ChatOptions, io: Io): Promise<number> {
  const options = await continued(given, io)
  const hasScreen = io.stdin.isTTY === true && io.stdout.live && !options.plain
  return hasScreen ? onScreen(await startOf(await chosenOnScreen(options, io), io)) : byLines(options, io)
}

/** A session goes on in its folder, with its model and tools. Documents are read first, which may take a while and shows a bar. */
async function startOf(given: ChatOptions, io: Io): Promise<Start> {
  const { options, begin } = await withTemplate(given, io)
  const { resume = '' } = options
  const session = resume === '' ? undefined : await firstSession({ sessionId: resume }, io)
  const there = session?.folder == null || session.folder === io.cwd ? io : await inFolder(session.folder, io)
  const loaded = await readConfig(there)
  const goesOn = session === undefined ? options : restored(options, session.settings ?? modelOf(session))
  const documents = goesOn.docs.length > 0 ? await prepareStore(goesOn, loaded, there) : undefined
  return { options: goesOn, loaded, io: there, documents, begin }
}

/** What a template says beside its prompt goes behind the command line. */
async function withTemplate(options: ChatOptions, io: Io): Promise<Pick<Start, 'options' | 'begin'>> {
  const values = paramsOf(options)
  if (options.template === undefined) return { options, begin: undefined }
  const { readTemplate, fillTemplate } = await import('../../app/templates.ts')
  const template = readTemplate(options.template, homePaths(io), io.cwd)
  const { system } = fillTemplate(template, '', values)
  return {
    options: {
      ...options,
      model: options.model ?? template.model,
      system: options.system ?? system,
      option: [...template.options, ...options.option],
    },
    begin: (said) => fillTemplate(template, said, values).prompt,
  }
}

/** With `--continue` the last session of the folder. @throws ConfigurationError when there is none */
async function continued(options: ChatOptions, io: Io): Promise<ChatOptions> {
  if (!options.continue) return options
  if (options.resume !== undefined)
    throw new ConfigurationError('--continue and --resume exclude each other: both say which session goes on.')
  const newest = await firstSession({ folder: io.cwd }, io)
  if (newest === undefined)
    throw new ConfigurationError('There is no session of this folder to go on with yet: leave --continue out.', {
      hint: '"cria logs sessions --all" lists those of other folders.',
    })
  return { ...options, resume: newest.sessionId }
}

async function firstSession(
  filter: { readonly sessionId: string } | { readonly folder: string },
  io: Io,
): Promise<SessionSummary | undefined> {
  const journal = await openJournalToRead(io)
  return (await journal?.sessions({ ...filter, limit: 1 }))?.[0]
}

/** Of a session that no chat began: the model that answered last, unless it only quotes. */
function modelOf({ model }: SessionSummary): JsonObject {
  return model === EXTRACTIVE ? {} : { model }
}

async function inFolder(folder: string, io: Io): Promise<Io> {
  if (!(statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false)) {
    await note(io, `the folder of this session is not there any more (${folder}): tools work in ${io.cwd}.`)
    return io
  }
  await note(io, `tools work in ${folder}, where this session was begun.`)
  return { ...io, cwd: folder }
}

const ANEW = 'what you say begins a new session.'

async function chosenBy(front: Front, io: Io): Promise<string | undefined> {
  const { chooseSession } = await import('./sessions.ts')
  return chooseSession(await openJournal(io), front, io.cwd)
}

/** Asks which session goes on, where none was named. The question has a screen of its own: nothing is known of the chat before. */
async function chosenOnScreen(options: ChatOptions, io: Io): Promise<ChatOptions> {
  if (options.resume !== '') return options
  const { ScreenFront } = await import('./screen-front.ts')
  const front = new ScreenFront({ io, paths: homePaths(io), completable: { commands: [], values: {}, cwd: io.cwd } })
  try {
    const resume = await chosenBy(front, io)
    await front.close()
    // Said when the chat can be typed into: what was typed to the question before would be lost.
    if (resume === undefined) await io.stdout.writeRaw(`${io.stdout.style('dim', ANEW)}\n`)
    return { ...options, resume }
  } finally {
    await front.close()
  }
}

async function byLines(options: ChatOptions, io: Io): Promise<number> {
  const front = new PlainFront(io)
  try {
    if (options.resume === '' && !front.canAsk) {
      throw new ConfigurationError('--resume needs the ID of a session where nobody can choose one.', {
        hint: '"cria logs sessions" lists them.',
      })
    }
    const resume = options.resume === '' ? await chosenBy(front, io) : options.resume
    if (options.resume === '' && resume === undefined) await front.note(ANEW)
    const start = await startOf({ ...options, resume }, io)
    const { converse } = await import('./program.ts')
    const { code, sessionId } = await converse(start, front)
    if (front.canAsk && sessionId !== undefined) await front.note(`to go on: cria chat --resume ${sessionId}`)
    return code
  } finally {
    await front.close()
  }
}

async function onScreen(start: Start): Promise<number> {
  const { loaded, io } = start
  const { ScreenFront } = await import('./screen-front.ts')
  const { SLASH_COMMANDS } = await import('./slash.ts')
  const models = Object.entries(loaded.config.models ?? {}).flat()
  const commands = SLASH_COMMANDS.map(({ name }) => name)
  const front = new ScreenFront({ io, paths: loaded.paths, completable: { commands, values: { model: models }, cwd: io.cwd } })
  try {
    const { converse } = await import('./program.ts')
    // What takes its time, as a server that does not start, holds back nobody who wants to leave.
    const signal = AbortSignal.any([io.signal, front.leaving])
    const talked = await converse({ ...start, io: { ...io, signal } }, front).catch((thrown: unknown) => {
      if (!front.leaving.aborted) throw thrown
    })
    await front.close()
    if (talked?.sessionId !== undefined)
      await io.stdout.writeRaw(`${io.stdout.style('dim', `To go on: cria chat --resume ${talked.sessionId}`)}\n`)
    return front.wasInterrupted ? EXIT.interrupted : EXIT.done
  } finally {
    await front.close()
  }
}
