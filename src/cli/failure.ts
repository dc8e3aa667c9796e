/** Formats errors for users: message, hint and exit code, without keys; stack traces only with `CRIA_DEBUG`. */

import type { Surroundings } from '../app/paths.ts'
import { toCriaError } from '../core/error.ts'
import { redact } from '../util/redact.ts'
import { visibleText } from '../util/terminal.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { broken, MESSAGE_INDENT } from './io.ts'
import type { Io } from './io.ts'

export function exitCodeOf(thrown: unknown): number {
  return EXIT_CODES[toCriaError(thrown).code]
}

/** Returns one or two lines; with `CRIA_DEBUG` also the stacks of the error and its causes. */
export function describeFailure(thrown: unknown, env: Surroundings['env']): string {
  const error = toCriaError(thrown)
  const lines = [`cria: ${error.message}`]
  if (error.hint !== undefined && !error.message.includes(error.hint)) lines.push(`      ${error.hint}`)
  if ((env['CRIA_DEBUG'] ?? '') !== '') {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) lines.push(cause.stack ?? cause.message)
  }
  return visibleText(withoutSecrets(lines.join('\n'), env))
}

/** Writes the failure to standard error, wrapped on a terminal. */
export async function tellFailure(thrown: unknown, { stderr, env }: Pick<Io, 'stderr' | 'env'>): Promise<void> {
  return stderr.writeRaw(await broken(`${describeFailure(thrown, env)}\n`, stderr, MESSAGE_INDENT))
}

const SECRET_NAME = /(_KEY|_TOKEN|_SECRET|_PASSWORD|PASSWD)$/

/** Masks values of secret environment variables, in case an error contains a key. */
function withoutSecrets(text: string, env: Surroundings['env']): string {
  const secrets = Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []))
  return redact(text, secrets)
}
