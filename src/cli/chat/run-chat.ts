/** Starts a chat: what can be typed into comes first, and what it takes to answer is loaded meanwhile. */

import { EXIT } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { prepareStore, readConfig } from '../prepare-store.ts'
import type { ChatOptions, Start } from './options.ts'
import { PlainFront } from './plain-front.ts'

/** @throws ConfigurationError when there is no model that can use tools, or no such session. */
export async function runChat(options: ChatOptions, io: Io): Promise<number> {
  const loaded = await readConfig(io)
  // Documents that are named are read first, which may take a while and shows a bar.
  const documents = options.docs.length > 0 ? await prepareStore(options, loaded, io) : undefined
  const hasScreen = io.stdin.isTTY === true && io.stdout.live && !options.plain
  const start = { options, loaded, io, documents }
  return hasScreen ? onScreen(start) : byLines(start)
}

async function byLines(start: Start): Promise<number> {
  const front = new PlainFront(start.io)
  try {
    const { openProgram } = await import('./program.ts')
    const program = await openProgram(start, front)
    return await program.run()
  } finally {
    await front.close()
  }
}

async function onScreen(start: Start): Promise<number> {
  const { loaded, io } = start
  const { ScreenFront } = await import('./screen-front.ts')
  const { slashNames, slashOf } = await import('./slash-names.ts')
  const models = [...Object.keys(loaded.config.models ?? {}), ...Object.values(loaded.config.models ?? {})]
  const front = new ScreenFront({
    io,
    paths: loaded.paths,
    completable: { commands: slashNames, values: { model: models }, cwd: io.cwd },
  })
  try {
    const [{ openProgram }, { findSlash, runSlash }, { statusLine }, { describeFailure }] = await Promise.all([
      import('./program.ts'),
      import('./slash.ts'),
      import('./status.ts'),
      import('../failure.ts'),
    ])
    // What takes its time, as a server that does not start, holds back nobody who wants to leave.
    const signal = AbortSignal.any([io.signal, front.leaving])
    const program = await openProgram({ ...start, io: { ...io, signal } }, front).catch((thrown: unknown) => {
      if (!front.leaving.aborted) throw thrown
    })
    if (program === undefined) return EXIT.done
    front.attach({
      status: (columns) => statusLine(program.conversation.status, columns),
      isImmediate: (text) => findSlash(slashOf(text)?.name ?? '')?.isImmediate === true,
      async runNow(text) {
        try {
          if ((await runSlash(text, program.slash)) === 'leave') front.leave()
        } catch (thrown) {
          await front.note(describeFailure(thrown, io.env))
        }
      },
    })
    await program.run()
    await front.close()
    const { sessionId } = program.conversation
    if (sessionId !== undefined)
      await io.stdout.writeRaw(`${io.stdout.style('dim', `To go on: cria chat --resume ${sessionId}`)}\n`)
    return front.wasInterrupted ? EXIT.interrupted : EXIT.done
  } finally {
    await front.close()
  }
}
