/** Reads a question from the command line or from standard input. */

import { ConfigurationError } from '../core/error.ts'
import type { Io } from './io.ts'

/** Longer than any question, shorter than what a mistaken pipe can send. */
export const MAX_CHARACTERS: number = 4_000_000

/** The word itself; for `-` all of standard input, without its last line end. @throws ConfigurationError when it is too long. */
export async function readText(word: string, what: string, io: Pick<Io, 'stdin' | 'signal'>): Promise<string> {
  // Standard input is made when it is first looked at, which takes as long as reading the configuration.
  const text = word === '-' ? await readAll(io.stdin, what, io.signal) : word
  if (text.length > MAX_CHARACTERS) throw tooLong(what)
  return text
}

async function readAll(stdin: Io['stdin'], what: string, signal: AbortSignal): Promise<string> {
  const stop = (): void => void stdin.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    stdin.setEncoding('utf8')
    let text = ''
    for await (const piece of stdin) {
      text += String(piece)
      if (text.length > MAX_CHARACTERS) throw tooLong(what)
    }
    signal.throwIfAborted()
    return text.replace(/\r?\n$/, '')
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

export function tooLong(what: string): ConfigurationError {
  return new ConfigurationError(`The ${what} has more than ${MAX_CHARACTERS.toLocaleString('en')} characters, which is too long.`)
}
