/**
 * The one error class and the closed list of its codes.
 *
 * Mistakes of the caller are thrown at once as a `CriaError`. Failures after the first event arrive as an
 * `error` event with the same facts as plain JSON (`ErrorInfo`).
 */

import type { JsonObject } from './json.ts'
import type { Usage } from './usage.ts'

export interface CodeFacts {
  /** `true`: the same call may succeed when repeated. */
  readonly retryable: boolean
  /** Default remedy, used when the error is raised without a hint of its own. */
  readonly hint?: string
}

const CODES = {
  aborted: { retryable: false },
  rate_limited: { retryable: true, hint: 'Wait, lower the rate of requests, or name a fallback model.' },
  overloaded: { retryable: true, hint: 'The provider is overloaded: try later or name a fallback model.' },
  context_length: { retryable: false, hint: 'Shorten the input, allow compaction, or use a model with a larger context window.' },
  model_unavailable: { retryable: false, hint: 'Check the name of the model with `cria models`, or name a fallback model.' },
  auth: { retryable: false, hint: 'Check the API key of this provider; `cria doctor` shows which one is used.' },
  quota: { retryable: false, hint: 'The account has no credit or quota left: check its billing page.' },
  policy: { retryable: false, hint: 'The provider refused the content: rephrase the request.' },
  invalid_request: { retryable: false },
  network: { retryable: true, hint: 'Check the connection and the base URL of the provider.' },
  timeout: { retryable: true, hint: 'Try again, or raise the time limit.' },
  stream_interrupted: { retryable: true, hint: 'The answer broke off; the text that had arrived was kept. Ask again.' },
  invalid_response: {
    retryable: true,
    hint: 'The server did not answer as this API does: check the base URL and the proxy in between.',
  },
  tool_failure: { retryable: false },
  permission_denied: { retryable: false, hint: 'Allow the tool by a rule or answer the permission request.' },
  budget_exceeded: { retryable: false, hint: 'Raise the budget or ask for less.' },
  max_steps: { retryable: false, hint: 'Raise `maxSteps` or make the task smaller.' },
  max_retries: { retryable: false },
  no_assistant_message: { retryable: true },
  configuration: { retryable: false },
  session_busy: { retryable: true, hint: 'Wait until the running turn of this session ends, cancel it, or use another session.' },
  turn_lost: { retryable: true, hint: 'The process that ran this turn ended before the turn did. Ask again.' },
  journal_failed: { retryable: false, hint: 'Check free space and permissions of the journal file, or run without a recorder.' },
  store_failed: { retryable: false },
  not_found: { retryable: false },
  internal: { retryable: false, hint: 'This is a bug in cria: please report it with the trace id.' },
} as const

/** One of the keys of `ERROR_CODES`. */
export type ErrorCode = keyof typeof CODES

/** Every error code, with its defaults. */
export const ERROR_CODES: Readonly<Record<ErrorCode, CodeFacts>> = CODES

/** An error as plain JSON, as in events and in the journal. */
export interface ErrorInfo {
  /** The code of the failure. */
  readonly code: ErrorCode
  /** Says what happened, what was expected, what to do; never holds a key or a whole prompt. */
  readonly message: string
  /** `true`: the same call may succeed later. */
  readonly retryable: boolean
  /** HTTP status of the provider's answer, if there was one. */
  readonly status?: number
  /** Advice for the user on how to resolve the error. */
  readonly hint?: string
  /** Message of the underlying error, if it adds something. */
  readonly cause?: string
  /** Further facts, as plain JSON. */
  readonly details?: JsonObject
  /** Tokens of the turn that ended with it, failed attempts included. */
  readonly usage?: Usage
  /** Cost of that turn in US dollars; `null` if the price of a model it used is unknown. */
  readonly costUsd?: number | null
}

/** Members of an error beside its code and message. */
export interface CriaErrorOptions {
  /** Default: that of the code. */
  readonly retryable?: boolean | undefined
  /** HTTP status of the provider's answer; absent if there was none. */
  readonly status?: number | undefined
  /** Advice for the user on how to resolve the error; default: the hint of the code. */
  readonly hint?: string | undefined
  /** Further facts, as plain JSON. */
  readonly details?: JsonObject | undefined
  /** Tokens of the turn until it failed; absent if there was no turn. */
  readonly usage?: Usage | undefined
  /** US dollars until it failed; `null`: unknown. */
  readonly costUsd?: number | null | undefined
  /** The underlying error. */
  readonly cause?: unknown
}

/** Identifies a `CriaError` across several installed copies of the package. */
const MARKER: unique symbol = Symbol.for('cria.error') as never

const OPTIONAL = ['status', 'hint', 'details', 'usage', 'costUsd'] as const

/** The error that every function of this package throws or rejects with. Its `name` is `AbortError` if its code is `aborted`. */
export class CriaError extends Error {
  /** One of `ERROR_CODES`. */
  readonly code: ErrorCode
  /** `true`: the same call may succeed when repeated. */
  readonly retryable: boolean
  /** HTTP status of the provider's answer, if there was one. */
  readonly status: number | undefined
  /** Advice for the user on how to resolve the error. */
  readonly hint: string | undefined
  /** Facts by name. Errors of bots hold `turnId`, and `text` if part of an answer had arrived. */
  readonly details: JsonObject | undefined
  /** Tokens of the turn that ended with it, failed attempts included; absent if no turn was started. */
  readonly usage: Usage | undefined
  /** Cost of that turn in US dollars; `null` if a price is unknown, absent if no turn was started. */
  readonly costUsd: number | null | undefined

  constructor(code: ErrorCode, message: string, options: CriaErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    const facts = ERROR_CODES[code]
    this.name = code === 'aborted' ? 'AbortError' : 'CriaError'
    this.code = code
    this.retryable = options.retryable ?? facts.retryable
    this.status = options.status
    this.hint = options.hint ?? facts.hint
    this.details = options.details
    this.usage = options.usage
    this.costUsd = options.costUsd
    Object.defineProperty(this, MARKER, { value: true })
    // Node prints the members of an uncaught error: hide those without a value.
    for (const name of OPTIONAL) if (this[name] === undefined) Object.defineProperty(this, name, { enumerable: false })
  }

  /** Returns the error as plain JSON, without its stack. */
  toJSON(): ErrorInfo {
    const given = OPTIONAL.filter((name) => this[name] !== undefined)
    const { code, message, retryable } = this
    return { code, message, retryable, ...Object.fromEntries(given.map((name) => [name, this[name]])) }
  }
}

/** The caller's options are wrong. Thrown before any request is made or any row is written. */
export class ConfigurationError extends CriaError {
  constructor(message: string, options: CriaErrorOptions = {}) {
    super('configuration', message, options)
    this.name = 'ConfigurationError'
  }
}

/** A stream of an assistant ended without an assistant message. */
export class NoAssistantMessageError extends CriaError {
  constructor(message: string, options: CriaErrorOptions = {}) {
    super('no_assistant_message', message, options)
    this.name = 'NoAssistantMessageError'
  }
}

/** All attempts failed; `cause` is the last failure. */
export class MaxRetriesExceededError extends CriaError {
  constructor(message: string, options: CriaErrorOptions = {}) {
    super('max_retries', message, options)
    this.name = 'MaxRetriesExceededError'
  }
}

/** Returns `true` for a `CriaError`, including one of another installed copy of the package. */
export function isCriaError(value: unknown): value is CriaError {
  return typeof value === 'object' && value !== null && (value as { [MARKER]?: unknown })[MARKER] === true
}

/**
 * Converts any thrown value to a `CriaError`. An `AbortError` gets the code `aborted`, a `TimeoutError` gets `timeout`,
 * anything else gets `fallback`.
 */
export function toCriaError(thrown: unknown, fallback: ErrorCode = 'internal'): CriaError {
  if (isCriaError(thrown)) return thrown
  if (thrown instanceof Error) {
    const code = thrown.name === 'AbortError' ? 'aborted' : thrown.name === 'TimeoutError' ? 'timeout' : fallback
    return new CriaError(code, thrown.message || thrown.name, { cause: thrown })
  }
  return new CriaError(fallback, `A value that is not an Error was thrown: ${describe(thrown)}`, { cause: thrown })
}

/** Rebuilds an error from its JSON, with the class of its code. Used to reject with the error that ended a stream. */
export function errorFromInfo(info: ErrorInfo, cause?: unknown): CriaError {
  const { code, message, ...members } = info
  const options = { ...members, cause }
  if (code === 'configuration') return new ConfigurationError(message, options)
  if (code === 'no_assistant_message') return new NoAssistantMessageError(message, options)
  if (code === 'max_retries') return new MaxRetriesExceededError(message, options)
  return new CriaError(code, message, options)
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 200))
  return value === null ? 'null' : typeof value
}
