/**
 * Sends the events of a turn over HTTP: as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) in a standard
 * `Response`. Starts turns in the background, and reads turns to their end.
 */

import { setImmediate } from 'node:timers/promises'
import { ConfigurationError, CriaError, errorFromInfo } from '../core/error.ts'
import type { QueryEvent, QueryResult } from '../core/event.ts'
import { checkNames, checkNumber } from '../engine/checks/values.ts'
import { abortReasonOf, causeOf } from '../model/error-info.ts'
import { namesOf } from '../util/nearest.ts'

/** Options of `toResponse()`. */
export interface ResponseOptions {
  /** Headers added to those of server-sent events, or replacing those of the same name. Default none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds between comments that keep proxies from closing a quiet connection; 0 for none. Default 15,000. */
  readonly keepAlive?: number
}

/** Milliseconds; Node fires a longer timer immediately. */
const LONGEST_TIMER = 2 ** 31 - 1

const OPTIONS = namesOf<ResponseOptions>({ headers: true, keepAlive: true })

/**
 * Sends events as server-sent events: `data` is the event as JSON, `id` its `seq`, so that a reconnecting browser sends the last `seq` it received
 * in `Last-Event-ID`. Reads events no faster than they are sent. When the client disconnects, the generator is returned: that cancels `query()`,
 * but only stops following for `recorder.follow()`.
 *
 * @param events of `recorder.follow()`, `query()` or the `events()` of a bot.
 * @returns a response with status 200; its body fails when the events throw.
 * @throws ConfigurationError for a value that yields no events, and for wrong options.
 */
export function toResponse(events: AsyncIterable<QueryEvent>, options: ResponseOptions = {}): Response {
  if (typeof (events as Partial<typeof events> | undefined)?.[Symbol.asyncIterator] !== 'function')
    throw new ConfigurationError('toResponse() takes the events of recorder.follow(), query() or a bot.')
  checkNames('toResponse()', options, OPTIONS)
  checkNumber('keepAlive', options.keepAlive, 0)
  const { keepAlive = 15_000 } = options
  if (keepAlive > LONGEST_TIMER)
    throw new ConfigurationError(`\`keepAlive\` must be at most ${LONGEST_TIMER}, but is ${keepAlive}.`)
  const headers = headersWith(options.headers)
  const iterator = events[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let timer: NodeJS.Timeout | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // Sends the first bytes at once: servers send the headers with them.
      controller.enqueue(encoder.encode(': events\n\n'))
      if (keepAlive === 0) return
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': still here\n\n'))
      }, keepAlive)
      timer.unref()
    },
    async pull(controller) {
      try {
        const next = await iterator.next()
        if (next.done !== true) return controller.enqueue(encoder.encode(frame(next.value)))
        clearInterval(timer)
        controller.close()
      } catch (thrown) {
        clearInterval(timer)
        throw thrown
      }
    },
    async cancel() {
      clearInterval(timer)
      await iterator.return?.()
    },
  })
  return new Response(body, { headers })
}

/** @throws ConfigurationError for a name or value that is not allowed in a header. */
function headersWith(own: ResponseOptions['headers'] = {}): Headers {
  const headers = new Headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  for (const [name, value] of Object.entries(own)) {
    try {
      headers.set(name, value)
    } catch (cause) {
      throw new ConfigurationError(`\`headers\` has ${JSON.stringify(name)}, whose name or value is not that of a header.`, {
        cause,
      })
    }
  }
  return headers
}

/** JSON contains no line breaks. Events of nested turns have no `id`, because their `seq` belongs to another turn. */
function frame(event: QueryEvent): string {
  const id = event.parent === undefined ? `id: ${event.seq}\n` : ''
  return `${id}data: ${JSON.stringify(event)}\n\n`
}

/**
 * Returns the `seq` that a reconnecting client received last, for `recorder.follow(turnId, { after })`.
 *
 * @param headers of the request, as a standard `Headers` or as an object of Node.
 * @returns the number in `Last-Event-ID`; -1, the beginning, where the header is missing or is not a number.
 */
export function lastEventId(headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>): number {
  const value = headers instanceof Headers ? headers.get('last-event-id') : headers['last-event-id']
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : -1
}

/** A turn that runs in the background. */
export interface StartedTurn {
  /** Id of the turn, for `recorder.follow()`. */
  readonly turnId: string
  /** Session of the turn, to continue the conversation afterwards. */
  readonly sessionId: string
  /** Resolves to the result when the turn is complete, to `undefined` when it was cancelled or failed. */
  readonly ended: Promise<QueryResult | undefined>
}

/**
 * Starts a turn and reads it to its end in the background. A client that disconnects does not cancel it.
 *
 * @param events of `query()` or the `events()` of a bot, not yet read. Only a turn with a recorder can be followed.
 * @returns once the turn has begun.
 * @throws ConfigurationError for a value that yields no events; CriaError of a turn that fails at its start: `session_busy`, `permission_denied`, `not_found`, `journal_failed`.
 */
export async function startTurn(events: AsyncGenerator<QueryEvent, QueryResult | undefined>): Promise<StartedTurn> {
  const wrong = new ConfigurationError('startTurn() takes the events of query(), or of events() of a bot.')
  if (typeof (events as Partial<typeof events> | undefined)?.next !== 'function') throw wrong
  const first = await events.next()
  if (first.done !== true && typeof first.value !== 'object') {
    await events.return(undefined) // the generator of stream(), which yields text; this cancels its turn
    throw wrong
  }
  if (first.done === true)
    throw new CriaError('no_assistant_message', 'The turn ended before its first event: was it read before?')
  const { turnId, sessionId } = first.value
  const second = events.next()
  const ended = (async () => {
    let next = await second
    while (next.done !== true) next = await events.next()
    return next.value
  })()
  // A caller that does not await the end finds a failure in the journal.
  ended.catch(() => {})
  const atOnce = await Promise.race([second, setImmediate()])
  if (atOnce?.done === false && atOnce.value.type === 'error') {
    const { code, message, ...facts } = atOnce.value.error
    throw new CriaError(code, message, facts)
  }
  return { turnId, sessionId, ended }
}

/**
 * Reads a turn to its end and returns its result; ignores results of nested turns.
 *
 * @param onEvent called with every event.
 * @returns `undefined` where the events end without a result.
 * @throws CriaError of a turn that failed, `aborted` for one that was cancelled.
 */
export async function resultOf(
  events: AsyncIterable<QueryEvent>,
  onEvent?: (event: QueryEvent) => void,
): Promise<QueryResult | undefined> {
  let result: QueryResult | undefined
  for await (const event of events) {
    onEvent?.(event)
    if (event.parent !== undefined) continue
    if (event.type === 'error') throw errorFromInfo(event.error, causeOf(event.error))
    if (event.type === 'cancelled') throw new CriaError('aborted', event.reason, { cause: abortReasonOf(event) })
    if (event.type === 'complete') result = event.result
  }
  return result
}
