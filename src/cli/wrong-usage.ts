/** Turns unknown names and missing keys into usage errors of the command line. */

import { ConfigurationError, isCriaError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import type { Command } from './command.ts'

/** For `catch`: an error with this code is thrown on as wrong usage, any other as it is. */
export function asWrongUsage(code: ErrorCode): (thrown: unknown) => never {
  return (thrown) => {
    if (!isCriaError(thrown) || thrown.code !== code) throw thrown
    const { message, hint } = thrown
    throw new ConfigurationError(message, { ...(hint === undefined ? {} : { hint }), cause: thrown })
  }
}

/** A command that reads nothing but the files it is given: one that is not there is wrong usage. */
export function readsGivenFiles(command: Command): Command {
  return { ...command, run: (input, io) => command.run(input, io).catch(asWrongUsage('not_found')) }
}
