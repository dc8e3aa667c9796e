/** Starts a chat. The input is ready first; the code that answers is loaded while the user types. */

import { statSync } from 'node:fs'
import { openJournal, openJournalToRead } from '../../app/journal.ts'
import { homePaths } from '../../app/paths.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { SessionSummary } from '../../core/recorder.ts'
import { EXIT } from '../failure.ts'
import { note } from '../io.ts'
import type { Io } from '../io.ts'
import { EXTRACTIVE } from '../model-choice.ts'
import { prepareStore, readConfig } from '../prepare-store.ts'
import { paramsOf } from '../prompt.ts'
import { restored } from '../session-settings.ts'
import type { ChatOptions } from '../shared-options.ts'
import type { Start } from './conversation.ts'
import type { Front } from './front.ts'
import { PlainFront } from './plain-front.ts'

/** @throws ConfigurationError when no model can use tools, or the session is unknown. */
export async function runChat(given: ChatOptions, io: Io): Promise<number> {
  const options = await continued(given, io)
  const hasScreen = io.stdin.isTTY === true && io.stdout.live && !options.plain
  return hasScreen ? onScreen(await startOf(await chosenOnScreen(options, io), io)) : byLines(options, io)
}

/** Restores folder, model and tools of a session, and indexes the documents, which may take a while and shows a progress bar. */
async function startOf(given: ChatOptions, io: Io): Promise<Start> {
  const { options, begin } = await withTemplate(given, io)
  const { resume = '' } = options
  const session = resume === '' ? undefined : await firstSession({ sessionId: resume }, io)
  const place = session?.folder == null || session.folder === io.cwd ? io : await inFolder(session.folder, io)
  const loaded = await readConfig(place)
  const restoredOptions = session === undefined ? options : restored(options, session.settings ?? modelOf(session))
  const documents = restoredOptions.docs.length > 0 ? await prepareStore(restoredOptions, loaded, place) : undefined
  return { options: restoredOptions, loaded, io: place, documents, begin }
}

/** Takes model, system prompt and model options from the template; the command line has precedence. */
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
    begin: (message) => fillTemplate(template, message, values).prompt,
  }
}

/** Replaces `--continue` by the id of the last session of the folder. @throws ConfigurationError when there is none */
async function continued(options: ChatOptions, io: Io): Promise<ChatOptions> {
  if (!options.continue) return options
  if (options.resume !== undefined)
    throw new ConfigurationError('--continue and --resume exclude each other: both name the session to continue.')
  const newest = await firstSession({ folder: io.cwd }, io)
  if (newest === undefined)
    throw new ConfigurationError('There is no session of this folder to continue yet: leave out --continue.', {
      hint: '"cria logs sessions --all" lists the sessions of all folders.',
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

/** Returns the settings of a session that has none, because another command started it: its last model, unless it only quotes. */
function modelOf({ model }: SessionSummary): JsonObject {
  return model === EXTRACTIVE ? {} : { model }
}

async function inFolder(folder: string, io: Io): Promise<Io> {
  if (!(statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false)) {
    await note(io, `the folder of this session was not found (${folder}): tools work in ${io.cwd}.`)
    return io
  }
  await note(io, `tools work in ${folder}, where this session was started.`)
  return { ...io, cwd: folder }
}

const NEW_SESSION = 'your first message starts a new session.'

async function chosenBy(front: Front, io: Io): Promise<string | undefined> {
  const { chooseSession } = await import('./sessions.ts')
  return chooseSession(await openJournal(io), front, io.cwd)
}

/** Asks which session to continue, for `--resume` without an id. The question has a screen of its own, because the chat cannot start before. */
async function chosenOnScreen(options: ChatOptions, io: Io): Promise<ChatOptions> {
  if (options.resume !== '') return options
  const { ScreenFront } = await import('./screen-front.ts')
  const front = new ScreenFront({ io, paths: homePaths(io), completable: { commands: [], values: {}, cwd: io.cwd } })
  try {
    const resume = await chosenBy(front, io)
    await front.close()
    // Printed after the question is closed, which discards keys typed until then: the note invites the user to type.
    if (resume === undefined) await io.stdout.writeRaw(`${io.stdout.style('dim', NEW_SESSION)}\n`)
    return { ...options, resume }
  } finally {
    await front.close()
  }
}

async function byLines(options: ChatOptions, io: Io): Promise<number> {
  const front = new PlainFront(io)
  try {
    if (options.resume === '' && !front.canAsk) {
      throw new ConfigurationError('--resume needs the ID of a session when no user can choose one.', {
        hint: '"cria logs sessions" lists them.',
      })
    }
    const resume = options.resume === '' ? await chosenBy(front, io) : options.resume
    if (options.resume === '' && resume === undefined) await front.note(NEW_SESSION)
    const start = await startOf({ ...options, resume }, io)
    const { converse } = await import('./program.ts')
    const { code, sessionId } = await converse(start, front)
    if (front.canAsk && sessionId !== undefined) await front.note(`to continue: cria chat --resume ${sessionId}`)
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
    // Aborted when the user leaves, so that a slow start, such as that of an MCP server, does not delay it.
    const signal = AbortSignal.any([io.signal, front.leaving])
    const ended = await converse({ ...start, io: { ...io, signal } }, front).catch((thrown: unknown) => {
      if (!front.leaving.aborted) throw thrown
    })
    await front.close()
    if (ended?.sessionId !== undefined)
      await io.stdout.writeRaw(`${io.stdout.style('dim', `To continue: cria chat --resume ${ended.sessionId}`)}\n`)
    return front.wasInterrupted ? EXIT.interrupted : EXIT.done
  } finally {
    await front.close()
  }
}
