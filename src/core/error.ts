/**
 * The one error class and the closed list of its codes.
 *
 * Mistakes of the caller are thrown at once as a `CriaError`; whatever goes wrong after the first event arrives as an
 * `error` event that carries the same facts as plain JSON (`ErrorInfo`).
 */

import type { JsonObject } from './json.ts'
import type { Usage } from './usage.ts'

export interface CodeFacts {
  /** Whether the same call may succeed when it is made again. */
  readonly retryable: boolean
  /** The remedy, when the place that raised the error knows nothing better. */
  readonly hint?: string
}

const CODES = {
  aborted: { retryable: false },
  rate_limited: { retryable: true, hint: 'Wait, lower the rate of requests, or name a fallback model.' },
  overloaded: { retryable: true, hint: 'The provider is overloaded: try later or name a fallback model.' },
  context_length: { retryable: false, hint: 'Shorten the input, allow compaction, or use a model with a larger context window.' },
  model_unavailable: { retryable: false, hint: 'Check the name of the model with `cria models`, or name a fallback model.' },
  auth: { retryable: false, hint: 'Check the API key of this provider; `cria doctor` tells which one is used.' },
  quota: { retryable: false, hint: 'The account has no credit or quota left: check its billing page.' },
  policy: { retryable: false, hint: 'The provider refused the content: rephrase the request.' },
  invalid_request: { retryable: false },
  network: { retryable: true, hint: 'Check the connection and the base URL of the provider.' },
  timeout: { retryable: true, hint: 'Try again, or raise the time limit.' },
  stream_interrupted: { retryable: true, hint: 'The answer broke off; what had arrived was kept. Ask again.' },
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

/** Every error code there is, with what holds for it in general. */
export const ERROR_CODES: Readonly<Record<ErrorCode, CodeFacts>> = CODES

/** An error as plain JSON, as it stands in events and in the journal. */
export interface ErrorInfo {
  /** The code of the failure. */
  readonly code: ErrorCode
  /** Says what happened, what was expected, what to do; never holds a key or a whole prompt. */
  readonly message: string
  /** The same call may succeed later. */
  readonly retryable: boolean
  /** HTTP status of the provider's answer, where there was one. */
  readonly status?: number
  /** The remedy. */
  readonly hint?: string
  /** The message of what caused it, where that says more. */
  readonly cause?: string
  /** More about it, as plain JSON. */
  readonly details?: JsonObject
  /** Tokens of the turn that ended with it, failed attempts included. */
  readonly usage?: Usage
  /** Cost of that turn in US dollars; `null` when the price of a model that was used is unknown. */
  readonly costUsd?: number | null
}

/** Members of an error beside its code and message. */
export interface CriaErrorOptions {
  /** Default what holds for the code. */
  readonly retryable?: boolean | undefined
  /** HTTP status of the provider's answer; absent where there was none. */
  readonly status?: number | undefined
  /** The remedy; default the hint of the code. */
  readonly hint?: string | undefined
  /** More about it, as plain JSON. */
  readonly details?: JsonObject | undefined
  /** Tokens of the turn until it failed; absent where there was no turn. */
  readonly usage?: Usage | undefined
  /** US dollars until it failed; `null`: not known. */
  readonly costUsd?: number | null | undefined
  /** The error that led to this one. */
  readonly cause?: unknown
}

/** Recognised across two installed copies of the package. */
const MARKER: unique symbol = Symbol.for('cria.error') as never

const OPTIONAL = ['status', 'hint', 'details', 'usage', 'costUsd'] as const

/** The error that everything here throws or rejects with. Its `name` is `AbortError` where its code is `aborted`. */
export class CriaError extends Error {
  /** One of `ERROR_CODES`. */
  readonly code: ErrorCode
  /** Whether the same call may succeed when it is made again. */
  readonly retryable: boolean
  /** HTTP status of the provider's answer, where there was one. */
  readonly status: number | undefined
  /** The remedy. */
  readonly hint: string | undefined
  /** Facts by name; with bots `turnId`, and `text` where part of an answer had come. */
  readonly details: JsonObject | undefined
  /** Tokens of the turn that ended with it, failed attempts included; absent where no turn was begun. */
  readonly usage: Usage | undefined
  /** Cost of that turn in US dollars; `null` when a price is unknown, absent where no turn was begun. */
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
    // An error that nobody catches is printed with its members: those without a value would only be in the way.
    for (const name of OPTIONAL) if (this[name] === undefined) Object.defineProperty(this, name, { enumerable: false })
  }

  /** As plain JSON, without stack. */
  toJSON(): ErrorInfo {
    const given = OPTIONAL.filter((name) => this[name] !== undefined)
    const { code, message, retryable } = this
    return { code, message, retryable, ...Object.fromEntries(given.map((name) => [name, this[name]])) }
  }
}

/** The caller's options are wrong; thrown before any request is made and any row is written. */
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

/** Tells a `CriaError` from other values, also where several copies of the package are loaded. */
export function isCriaError(value: unknown): value is CriaError {
  return typeof value === 'object' && value !== null && (value as { [MARKER]?: unknown })[MARKER] === true
}

/**
 * Makes a `CriaError` of anything that was thrown. An `AbortError` becomes `aborted`, a `TimeoutError` becomes `timeout`, what is
 * unknown gets `fallback`.
 */
export function toCriaError(thrown: unknown, fallback: ErrorCode = 'internal'): CriaError {
  if (isCriaError(thrown)) return thrown
  if (thrown instanceof Error) {
    const code = thrown.name === 'AbortError' ? 'aborted' : thrown.name === 'TimeoutError' ? 'timeout' : fallback
    return new CriaError(code, thrown.message || thrown.name, { cause: thrown })
  }
  return new CriaError(fallback, `Something that is no error was thrown: ${describe(thrown)}`, { cause: thrown })
}

/** Rebuilds the error from its JSON, of the class that its code has, for those who reject with what a stream ended in. */
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
