/** Reads a question from the command line or standard input, and piped data. */

import { ConfigurationError } from '../core/error.ts'
import { note } from './io.ts'
import type { Io, Piped } from './io.ts'

/** Longer than any question, but bounded in case a large file is piped in by mistake. */
export const MAX_CHARACTERS: number = 4_000_000
/** Maximum size of piped data, the same as that of an attachment. */
const MAX_BYTES = 20_000_000

/** Returns the word, or for `-` standard input without its last line end. @throws ConfigurationError when it is too long. */
export async function readText(word: string, what: string, io: Pick<Io, 'stdin' | 'signal'>): Promise<string> {
  const text = word === '-' ? new TextDecoder().decode(await readAll(io, what, MAX_CHARACTERS * 4)).replace(/\r?\n$/, '') : word
  if (text.length > MAX_CHARACTERS) throw tooLong(what)
  return text
}

/**
 * Milliseconds to wait for the first byte of standard input. A shell pipeline may take a moment to start. A program that passes a socket and
 * never closes it, as `exec` of Node does, must not delay the command for long.
 */
const PATIENCE = { pipe: 3000, socket: 500, file: Infinity } as const

/**
 * Reads piped data that the command line does not mention.
 *
 * @returns `undefined` when nothing is piped, it is empty, or no data arrives in time, for which a note is printed.
 */
export async function readPiped(
  io: Pick<Io, 'stdin' | 'signal' | 'stderr' | 'piped'>,
  patience: Readonly<Record<NonNullable<Piped>, number>> = PATIENCE,
): Promise<Uint8Array | undefined> {
  if (io.piped === undefined) return undefined
  const wait = patience[io.piped]
  const bytes = await readAll(io, 'standard input', MAX_BYTES, wait)
  if (bytes !== undefined) return bytes.length === 0 ? undefined : bytes
  // No note for a socket: it comes from a program that starts the command without sending data.
  if (io.piped === 'pipe')
    await note(io, `no data arrived on standard input within ${wait / 1000} s, so it is left out. To wait for it, add -a -`)
  return undefined
}

/** Reads standard input to its end; `undefined` when the first byte has not arrived after `wait` milliseconds. */
async function readAll(
  { stdin, signal }: Pick<Io, 'stdin' | 'signal'>,
  what: string,
  limit: number,
  wait = Infinity,
): Promise<Uint8Array | undefined> {
  const stop = (): void => void stdin.destroy()
  signal.addEventListener('abort', stop, { once: true })
  let isLate = false
  const giveUp = (): void => {
    isLate = true
    stop()
  }
  const timer = Number.isFinite(wait) ? setTimeout(giveUp, wait) : undefined
  try {
    const pieces: Uint8Array[] = []
    let length = 0
    for await (const piece of stdin) {
      clearTimeout(timer)
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : (piece as Uint8Array)
      length += bytes.length
      if (length > limit) throw tooLong(what)
      pieces.push(bytes)
    }
    signal.throwIfAborted()
    return Buffer.concat(pieces)
  } catch (thrown) {
    signal.throwIfAborted()
    if (isLate) return undefined
    throw thrown
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** Reads standard input without a time limit. @throws ConfigurationError when there is more than 20 MB. */
export async function readData(io: Pick<Io, 'stdin' | 'signal'>): Promise<Uint8Array> {
  return (await readAll(io, 'standard input', MAX_BYTES)) ?? new Uint8Array()
}

export function tooLong(what: string): ConfigurationError {
  if (what === 'standard input')
    return new ConfigurationError(`Standard input has more than ${MAX_BYTES / 1e6} MB, which is too much for one question.`, {
      hint: 'Write it to a file and name that with --docs.',
    })
  return new ConfigurationError(`The ${what} has more than ${MAX_CHARACTERS.toLocaleString('en')} characters, which is too long.`)
}
