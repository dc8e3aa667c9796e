/** Runs one command: signals, help, errors and the exit code. The only place that ends the process. */

import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { homePaths } from '../app/paths.ts'
import { sendOverHttp } from '../app/open-model.ts'
import { describeCleanUp, upkeep } from '../app/upkeep.ts'
import { ConfigurationError } from '../core/error.ts'
import { nearest } from '../util/nearest.ts'
import { COMMANDS, findCommand, PLANNED } from './commands.ts'
import { EXIT } from './exit-codes.ts'
import { describeFailure, exitCodeOf, tellFailure } from './failure.ts'
import { commandHelp, groupHelp, overview } from './help.ts'
import type { HelpLayout } from './help.ts'
import { note, openChannel, pipedInput } from './io.ts'
import type { Channel, Io } from './io.ts'
import { parseCommandLine } from './parse.ts'

/** How long a command that was told to end may take to write down what it has. */
const GRACE_MS = 5000
/** How long the process may live on after its command has ended. */
const LINGER_MS = 100
/** How long a collector may take to accept the spans of the command. */
const SPANS_MS = 3000
/** How long the journal may be looked after when a command has ended; nothing to do takes less than a millisecond. */
const TEND_MS = 1500
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function runCommandLine(words: readonly string[]): Promise<number> {
  upkeep.atEnd = true
  const stop = new AbortController()
  let ended: number | undefined
  const end = (code: number, reason: string): void => {
    if (ended !== undefined) return
    ended = code
    stop.abort(new DOMException(reason, 'AbortError'))
  }

  // A copy: keys are taken out of the environment of the process before a tool can run.
  const { env, stored, problem } = await withKeys({ ...process.env }, process.cwd())
  // Whoever changes how this Node reaches the network, with a proxy or a preloaded module, changes `fetch`.
  if ((env['NODE_OPTIONS'] ?? '') === '' && (env['NODE_USE_ENV_PROXY'] ?? '') === '') sendOverHttp()
  const interrupted = new Set<() => boolean>()
  const io: Io = {
    env,
    cwd: process.cwd(),
    // Nobody reads the answers any more: what is still to come would be made, and paid for, for nobody.
    stdout: openChannel(process.stdout, env, () => end(EXIT.done, 'The reader of the output has gone.')),
    // An answer is not lost because nobody could be told of something beside it.
    stderr: openChannel(process.stderr, env),
    // Making the stream takes time, and few commands read it.
    get stdin() {
      return process.stdin
    },
    get piped() {
      return pipedInput()
    },
    signal: stop.signal,
    storedKeys: stored,
    onInterrupt(listener) {
      interrupted.add(listener)
      return () => void interrupted.delete(listener)
    },
  }
  const removeListeners = listen(io, end, () => [...interrupted].some((listener) => listener()))

  let code: number
  try {
    if (problem !== undefined) await note(io, problem)
    code = await dispatch(words, io)
  } catch (thrown) {
    code = await fail(thrown, io, ended)
  } finally {
    removeListeners()
  }
  const last = ended ?? code
  endAtOnceWhenTold(last)
  if (upkeep.journals.size > 0) await tendJournals(io)
  if (last === EXIT.failed && upkeep.derivedStores.size > 0) await removeDamagedStores(io)
  if ((env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '') !== '') await sendSpans()
  // Sockets that are kept open and timers that nobody waits for must not hold the process back; everything has been written.
  setTimeout(() => process.exit(last), LINGER_MS).unref()
  return last
}

/** The environment with the keys that the user keeps in a file. One that cannot be read is told about, and does without. */
async function withKeys(
  env: Io['env'],
  cwd: string,
): Promise<{ readonly env: Io['env']; readonly stored: readonly string[]; readonly problem?: string }> {
  const paths = homePaths({ env, cwd })
  if (!existsSync(paths.keys)) return { env, stored: [] }
  const { withStoredKeys } = await import('../app/provider-keys.ts')
  try {
    return withStoredKeys(env, paths)
  } catch (thrown) {
    return { env, stored: [], problem: describeFailure(thrown, env) }
  }
}

async function dispatch(words: readonly string[], io: Io): Promise<number> {
  const wantsHelp = words[0] === 'help' || words.includes('--help') || words.includes('-h')
  const named = words[0] === 'help' ? words.slice(1) : words
  const found = findCommand(named)
  if (found === undefined) return unknownCommand(named, wantsHelp, io)

  const command = await found.entry.load()
  const beforeTerminator = found.rest.includes('--') ? found.rest.slice(0, found.rest.indexOf('--')) : found.rest
  if (words[0] === 'help' || beforeTerminator.includes('--help') || beforeTerminator.includes('-h')) {
    await io.stdout.write(commandHelp(command, found.entry.summary, await layoutFor(io.stdout)))
    return EXIT.done
  }
  return command.run(parseCommandLine(command, found.rest), io)
}

async function unknownCommand(words: readonly string[], wantsHelp: boolean, io: Io): Promise<number> {
  const [name = ''] = words
  const channel = wantsHelp ? io.stdout : io.stderr
  const layout = await layoutFor(channel)
  const group = groupHelp(name, layout)
  const following = words[1]?.startsWith('-') === false ? words[1] : undefined
  if (group !== undefined && following === undefined) {
    await channel.write(group)
    return wantsHelp ? EXIT.done : EXIT.usage
  }
  if (name === '' || (wantsHelp && name.startsWith('-'))) {
    await channel.write(overview(layout))
    return wantsHelp ? EXIT.done : EXIT.usage
  }
  if (PLANNED.includes(name))
    throw new ConfigurationError(`"cria ${name}" is planned and not there yet.`, { hint: 'See: cria --help' })

  const typed = group === undefined ? name : `${name} ${following ?? ''}`
  const candidates =
    group === undefined
      ? [...new Set(COMMANDS.map((entry) => entry.name.split(' ')[0] ?? ''))]
      : COMMANDS.map((entry) => entry.name)
  const close = nearest(typed, candidates)
  throw new ConfigurationError(
    `There is no command ${JSON.stringify(typed.slice(0, 60))}.${close === undefined ? '' : ` Did you mean "cria ${close}"?`}`,
    { hint: 'See: cria --help' },
  )
}

async function layoutFor({ isTerminal, columns }: Channel): Promise<HelpLayout | undefined> {
  if (!isTerminal) return undefined
  const { helpLayout } = await import('./terminal/help-layout.ts')
  return helpLayout(columns)
}

async function fail(thrown: unknown, io: Io, ended: number | undefined): Promise<number> {
  // Whoever pressed Ctrl-C knows what happened.
  if (ended !== undefined) return ended
  await tellFailure(thrown, io)
  return exitCodeOf(thrown)
}

/** The first signal asks the command to end, the second ends it. */
function listen(io: Io, end: (code: number, reason: string) => void, isDealtWith: () => boolean): () => void {
  let asked = false
  const onSignal = (name: NodeJS.Signals): void => {
    if (name === 'SIGINT' && !asked && isDealtWith()) return
    const code = name === 'SIGINT' ? EXIT.interrupted : name === 'SIGHUP' ? 129 : EXIT.terminated
    if (asked) process.exit(code)
    asked = true
    end(code, name === 'SIGINT' ? 'Interrupted by the user.' : `Ended by ${name}.`)
    setTimeout(() => process.exit(code), GRACE_MS).unref()
  }
  const onStray = (thrown: unknown): void => {
    void io.stderr.writeRaw(`${describeFailure(thrown, io.env)}\n`)
    process.exit(EXIT.failed)
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  process.on('uncaughtException', onStray)
  process.on('unhandledRejection', onStray)
  return () => {
    for (const name of SIGNALS) process.off(name, onSignal)
    process.off('uncaughtException', onStray)
    process.off('unhandledRejection', onStray)
  }
}

/** What is removed without being asked for is told. A clean-up that fails, or takes longer, is for another day. */
async function tendJournals(io: Io): Promise<void> {
  for (const journal of upkeep.journals) {
    const removed = await journal.tend(AbortSignal.timeout(TEND_MS)).catch(() => undefined)
    if (removed !== undefined) await note(io, describeCleanUp(journal.path, removed))
  }
}

/** A damaged index is made again from its documents, when the command is run again. */
async function removeDamagedStores(io: Io): Promise<void> {
  const { removeIfDamaged } = await import('../app/stores.ts')
  for (const path of upkeep.derivedStores) {
    if (await removeIfDamaged(path))
      await note(
        io,
        'the index of these documents was damaged and has been removed: run the command again, and it is made again.',
      )
  }
}

/** A collector that does not answer keeps nobody waiting for long, and changes no exit code. */
async function sendSpans(): Promise<void> {
  const { spansSent } = await import('../app/journal.ts')
  const patience = new AbortController()
  const late = wait(SPANS_MS, undefined, { signal: patience.signal }).catch(() => undefined)
  await Promise.race([spansSent(), late])
  patience.abort()
}

/**
 * The command is done. What is thrown now is too late to be a failure of it; a signal would end the process before what its tools have left
 * behind is ended, too.
 */
function endAtOnceWhenTold(code: number): void {
  const end = (): never => process.exit(code)
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
  for (const name of SIGNALS) process.on(name, end)
}
