/** Maps errors to exit codes, and formats them for users: message and hint, without keys; stack traces only with `CRIA_DEBUG`. */

import type { Surroundings } from '../app/paths.ts'
import { toCriaError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import { redact } from '../util/redact.ts'
import { visibleText } from '../util/terminal.ts'
import { broken, MESSAGE_INDENT } from './io.ts'
import type { Io } from './io.ts'

/** Exit codes by outcome. Scripts rely on them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  provider: 3,
  permission: 4,
  budget: 5,
  interrupted: 130,
  terminated: 143,
} as const

/** Exit codes by error code. */
export const EXIT_CODES: Readonly<Record<ErrorCode, number>> = {
  aborted: EXIT.interrupted,
  rate_limited: EXIT.provider,
  overloaded: EXIT.provider,
  context_length: EXIT.provider,
  model_unavailable: EXIT.provider,
  auth: EXIT.provider,
  quota: EXIT.provider,
  policy: EXIT.provider,
  invalid_request: EXIT.provider,
  network: EXIT.provider,
  timeout: EXIT.provider,
  stream_interrupted: EXIT.provider,
  invalid_response: EXIT.provider,
  max_retries: EXIT.provider,
  no_assistant_message: EXIT.provider,
  tool_failure: EXIT.failed,
  permission_denied: EXIT.permission,
  budget_exceeded: EXIT.budget,
  max_steps: EXIT.failed,
  configuration: EXIT.usage,
  session_busy: EXIT.failed,
  turn_lost: EXIT.failed,
  journal_failed: EXIT.failed,
  store_failed: EXIT.failed,
  not_found: EXIT.failed,
  internal: EXIT.failed,
}

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
export async function printFailure(thrown: unknown, { stderr, env }: Pick<Io, 'stderr' | 'env'>): Promise<void> {
  return stderr.writeRaw(await broken(`${describeFailure(thrown, env)}\n`, stderr, MESSAGE_INDENT))
}

const SECRET_NAME = /(_KEY|_TOKEN|_SECRET|_PASSWORD|PASSWD)$/

/** Masks values of secret environment variables, in case an error contains a key. */
function withoutSecrets(text: string, env: Surroundings['env']): string {
  const secrets = Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []))
  return redact(text, secrets)
}
