/** Runs one command: handles signals, help, errors and the exit code. Only this file ends the process. */

import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { homePaths } from '../app/paths.ts'
import { sendOverHttp } from '../app/open-model.ts'
import { describeCleanUp, upkeep } from '../app/upkeep.ts'
import { ConfigurationError } from '../core/error.ts'
import { nearest } from '../util/nearest.ts'
import { COMMANDS, findCommand, PLANNED } from './commands.ts'
import { describeFailure, EXIT, exitCodeOf, printFailure } from './failure.ts'
import { quoted } from './format.ts'
import { commandHelp, groupHelp, overview, terminalLayout } from './help.ts'
import type { HelpLayout } from './help.ts'
import { note, openChannel, pipedInput } from './io.ts'
import type { Channel, Io } from './io.ts'
import { parseCommandLine } from './parse.ts'

/** Milliseconds that a command has to save its results after a signal. */
const GRACE_MS = 5000
/** Milliseconds that the process may stay alive after its command has ended. */
const LINGER_MS = 100
/** Milliseconds to wait until the collector accepts the spans of the command. */
const SPANS_MS = 3000
/** Milliseconds for the upkeep of the journal after a command; usually it takes less than one. */
const TEND_MS = 1500
/** Exit codes of the handled signals. */
const SIGNALS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: 129 } as const

export async function runCommandLine(words: readonly string[]): Promise<number> {
  upkeep.atEnd = true
  const stop = new AbortController()
  let ended: number | undefined
  const end = (code: number, reason: string): void => {
    if (ended !== undefined) return
    ended = code
    stop.abort(new DOMException(reason, 'AbortError'))
  }

  // A copy, because keys are removed from `process.env` before a tool can run.
  const { env, stored, problem } = await withKeys({ ...process.env }, process.cwd())
  // Either variable may change how Node reaches the network, perhaps only for `fetch` (a preloaded module, a proxy): then `fetch` stays in use.
  if ((env['NODE_OPTIONS'] ?? '') === '' && (env['NODE_USE_ENV_PROXY'] ?? '') === '') sendOverHttp()
  const interrupted = new Set<() => boolean>()
  const io: Io = {
    env,
    cwd: process.cwd(),
    // Stops the turn when the reader is gone: the rest of the answer would be paid for in vain.
    stdout: openChannel(process.stdout, env, () => end(EXIT.done, 'The reader of the output has gone.')),
    // A write error on standard error must not lose the answer.
    stderr: openChannel(process.stderr, env),
    // Created on use: it takes time, and few commands read standard input.
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
    code = exitCodeOf(thrown)
    // After Ctrl-C or a signal no message is needed.
    if (ended === undefined) await printFailure(thrown, io)
  } finally {
    removeListeners()
  }
  const last = ended ?? code
  // The command is done: later errors do not change its exit code. `process.exit` on a signal, unlike the default, also ends processes that
  // tools have left running.
  const endAtOnce = (): never => process.exit(last)
  listenWith(endAtOnce, endAtOnce)
  await tidyUp(last, io)
  // Open sockets and pending timers must not keep the process alive; all output is written.
  setTimeout(() => process.exit(last), LINGER_MS).unref()
  return last
}

/** Adds the keys of the user's key file to the environment. If the file cannot be read, returns `env` unchanged and the `problem`. */
async function withKeys(
  env: Io['env'],
  cwd: string,
): Promise<{ readonly env: Io['env']; readonly stored: readonly string[]; readonly problem?: string }> {
  const paths = homePaths({ env, cwd })
  if (!existsSync(paths.keys)) return { env, stored: [] }
  try {
    return (await import('../app/provider-keys.ts')).withStoredKeys(env, paths)
  } catch (thrown) {
    return { env, stored: [], problem: describeFailure(thrown, env) }
  }
}

async function dispatch(words: readonly string[], io: Io): Promise<number> {
  const asksHelp = (given: readonly string[]): boolean => given.includes('--help') || given.includes('-h')
  const [named, isHelp] = words[0] === 'help' ? [words.slice(1), true] : [words, false]
  const found = findCommand(named)
  if (found === undefined) return unknownCommand(named, isHelp || asksHelp(words), io)

  const command = await found.entry.load()
  const end = found.rest.indexOf('--')
  if (isHelp || asksHelp(end < 0 ? found.rest : found.rest.slice(0, end))) {
    await io.stdout.write(commandHelp(command, found.entry.summary, await layoutFor(io.stdout)))
    return EXIT.done
  }
  return command.run(parseCommandLine(command, found.rest), io)
}

/** Prints the overview or the help of a group if help was asked for or no command is named. @throws ConfigurationError for an unknown name */
async function unknownCommand([name = '', next]: readonly string[], wantsHelp: boolean, io: Io): Promise<number> {
  const channel = wantsHelp ? io.stdout : io.stderr
  const layout = await layoutFor(channel)
  const group = groupHelp(name, layout)
  const following = next?.startsWith('-') === false ? next : undefined
  const isUnnamed = name === '' || (wantsHelp && name.startsWith('-'))
  const listed = isUnnamed ? overview(layout) : group
  const shown = isUnnamed || following === undefined ? listed : undefined
  if (shown !== undefined) {
    await channel.write(shown)
    return wantsHelp ? EXIT.done : EXIT.usage
  }
  if (PLANNED.includes(name))
    throw new ConfigurationError(`"cria ${name}" is planned but not available yet.`, { hint: 'See: cria --help' })

  const typed = group === undefined ? name : `${name} ${following ?? ''}`
  const known = COMMANDS.map((entry) => (group === undefined ? (entry.name.split(' ')[0] ?? '') : entry.name))
  const close = nearest(typed, [...new Set(known)])
  const meant = close === undefined ? '' : ` Did you mean "cria ${close}"?`
  throw new ConfigurationError(`There is no command ${quoted(typed)}.${meant}`, { hint: 'See: cria --help' })
}

function layoutFor({ isTerminal, columns }: Channel): Promise<HelpLayout> | undefined {
  return isTerminal ? terminalLayout(columns) : undefined
}

/** Handles signals: the first asks the command to end, the second ends the process. */
function listen(io: Io, end: (code: number, reason: string) => void, isDealtWith: () => boolean): () => void {
  let asked = false
  const onSignal = (name: NodeJS.Signals): void => {
    if (name === 'SIGINT' && !asked && isDealtWith()) return
    const code = SIGNALS[name as keyof typeof SIGNALS]
    if (asked) process.exit(code)
    asked = true
    end(code, name === 'SIGINT' ? 'Interrupted by the user.' : `Ended by ${name}.`)
    setTimeout(() => process.exit(code), GRACE_MS).unref()
  }
  const onStray = (thrown: unknown): void => {
    void io.stderr.writeRaw(`${describeFailure(thrown, io.env)}\n`)
    process.exit(EXIT.failed)
  }
  return listenWith(onSignal, onStray)
}

/** Returns a function that removes the listeners. */
function listenWith(onSignal: (name: NodeJS.Signals) => void, onStray: (thrown: unknown) => void): () => void {
  const listeners = [
    ...Object.keys(SIGNALS).map((name) => [name, onSignal] as const),
    ['uncaughtException', onStray] as const,
    ['unhandledRejection', onStray] as const,
  ]
  for (const [name, listener] of listeners) process.on(name, listener)
  return () => {
    for (const [name, listener] of listeners) process.off(name, listener)
  }
}

/** Tends the journals and stores that the command has used, prints a note about removals, and waits for spans to be sent. */
async function tidyUp(code: number, io: Io): Promise<void> {
  for (const journal of upkeep.journals) {
    // A clean-up that fails or times out is left to a later command.
    const removed = await journal.tend(AbortSignal.timeout(TEND_MS)).catch(() => undefined)
    if (removed !== undefined) await note(io, describeCleanUp(journal.path, removed))
  }
  // A damaged index is removed here and rebuilt from its documents by the next run.
  if (code === EXIT.failed && upkeep.derivedStores.size > 0) {
    const { removeIfDamaged } = await import('../app/stores.ts')
    const advice = 'the index of these documents was damaged and has been removed: run the command again to rebuild it.'
    for (const path of upkeep.derivedStores) if (await removeIfDamaged(path)) await note(io, advice)
  }
  if ((io.env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '') !== '') {
    const { spansSent } = await import('../app/journal.ts')
    // A collector that does not answer delays the exit only briefly and does not change the exit code.
    const patience = new AbortController()
    const late = wait(SPANS_MS, undefined, { signal: patience.signal }).catch(() => undefined)
    await Promise.race([spansSent(), late])
    patience.abort()
  }
}
