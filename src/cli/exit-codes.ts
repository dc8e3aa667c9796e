/** Exit codes by outcome and by error code. Scripts rely on them. */

import type { ErrorCode } from '../core/error.ts'

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
