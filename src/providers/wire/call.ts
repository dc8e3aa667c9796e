/** One call on the wire: the `fetch` that a provider package is given for it, and what was seen of the answer. */

import { CriaError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { BodyKind } from './byte-source.ts'
import { ByteSource } from './byte-source.ts'
import type { CreateDialect, Dialect, WireNotes } from './dialect.ts'
import { createNotes, ErrorBody, objectsIn, parseObject } from './dialect.ts'
import { isErrorReport } from './error-report.ts'
import { EventTooLargeError } from './event-blocks.ts'
import { EventStream, GarbledEventError } from './event-stream.ts'
import type { Peer } from './network.ts'
import { brokenOff, isAbort } from './network.ts'
import { bodyOf } from './read-ahead.ts'
import { send } from './send.ts'

/** How the package is going to read the answer. */
export type Shape = 'stream' | 'whole'

/** An answer in one piece is kept in memory. */
const MAX_BODY_BYTES = 64 * 1024 * 1024
const MAX_ERROR_BODY_BYTES = 256 * 1024
/** The words of an error come with its status, or they are not waited for. */
const ERROR_BODY_MS = 2000

/** The server answered in the other shape than it was asked for; the call has the answer ready to be read in that shape. */
export class OtherShape extends Error {
  readonly shape: Shape
  constructor(shape: Shape) {
    super(`The server answered in the other shape (${shape}).`)
    this.name = 'OtherShape'
    this.shape = shape
  }
}

export interface WireOptions {
  readonly peer: Peer
  readonly dialect: CreateDialect
  readonly fetch?: typeof fetch
  readonly maxEventBytes?: number
}

export class WireCall {
  readonly notes: WireNotes = createNotes()
  readonly fetch: typeof fetch
  /** Set before the package is asked. */
  shape: Shape = 'stream'
  readonly #options: WireOptions
  readonly #dialect: Dialect
  #source: ByteSource | undefined
  #events: EventStream | undefined
  #body: JsonObject | undefined
  #ready: Response | undefined

  constructor(options: WireOptions) {
    this.#options = options
    this.#dialect = options.dialect(this.notes)
    this.fetch = (url, init) => this.#fetch(url, init ?? {})
  }

  /** The answer in one piece was refused by the package: gives it less to refuse, once. */
  tryEssence(): boolean {
    if (this.#body === undefined) return false
    this.#ready = Response.json(this.#dialect.essence(this.#body))
    this.#body = undefined
    return true
  }

  /** The stream that the package reads has ended because the answer begins anew. */
  get restarts(): boolean {
    return this.#events?.restarts === true
  }

  /** The answer begins anew: the package has to be asked again, and gets the rest. */
  tryRestart(): boolean {
    if (this.#events === undefined || !this.restarts) return false
    this.notes.usage = undefined
    this.notes.rawReason = undefined
    this.notes.complete = false
    this.#ready = this.#streamOf(this.#events)
    return true
  }

  /** The number, from 1, of the event with this data, as far as it is still known. */
  numberOf(data: string): number | undefined {
    return this.#events?.numberOf(data)
  }

  /** All that came of the stream has been read. @throws what broke the connection before the answer was complete. */
  throwIfBroken(): void {
    if (this.#events?.broken !== undefined) throw this.#events.broken
  }

  /** Lets go of the connection. */
  close(): void {
    this.#source?.close()
  }

  async #fetch(url: Parameters<typeof fetch>[0], init: RequestInit): Promise<Response> {
    const ready = this.#ready
    if (ready !== undefined) {
      this.#ready = undefined
      return ready
    }
    const href = typeof url === 'string' ? url : url instanceof URL ? url.href : url.url
    const response = await send(this.#options.fetch ?? globalThis.fetch, href, init, this.#options.peer)
    try {
      return response.ok ? await this.#answer(response) : await this.#failure(response)
    } catch (thrown) {
      this.close()
      throw this.#explain(thrown)
    }
  }

  /** The body of an error is short, or it is cut short. */
  async #failure(response: Response): Promise<Response> {
    const source = this.#open(response)
    let text = ''
    const giveUp = setTimeout(() => source?.close(), ERROR_BODY_MS)
    try {
      text = (await source?.text(MAX_ERROR_BODY_BYTES)) ?? ''
    } catch (thrown) {
      // The status says more than a body that broke off or never ends.
      if (isAbort(thrown)) throw thrown
    } finally {
      clearTimeout(giveUp)
    }
    // A response of our own cannot have these; no API answers a question with one.
    const isOdd = response.status === 304 || response.status < 200 || response.status > 599
    return new Response(text, {
      status: isOdd ? 502 : response.status,
      statusText: response.statusText,
      headers: plain(response.headers),
    })
  }

  async #answer(response: Response): Promise<Response> {
    const source = this.#open(response)
    const kind: BodyKind = source === undefined ? 'empty' : await source.kind()
    if (source === undefined || kind === 'empty' || kind === 'markup' || kind === 'text') {
      throw this.#notAnAnswer(kind, response, source === undefined ? '' : await source.text(MAX_ERROR_BODY_BYTES))
    }
    if (kind === 'events') {
      this.#events = new EventStream(source, this.#dialect, this.notes, this.#options.maxEventBytes)
      return this.#inShape('stream', this.#streamOf(this.#events, response.headers))
    }
    const text = await source.text(MAX_BODY_BYTES)
    const body = parseObject(text)
    if (body === undefined) throw this.#notAnAnswer('text', response, text)
    if (isError(body)) throw new ErrorBody(body)
    this.#body = this.#dialect.body(body)
    return this.#inShape('whole', Response.json(this.#body, { headers: plain(response.headers) }))
  }

  #inShape(shape: Shape, response: Response): Response {
    if (this.shape === shape) return response
    this.#ready = response
    this.shape = shape
    throw new OtherShape(shape)
  }

  #streamOf(events: EventStream, headers?: Headers): Response {
    return new Response(
      events.readable((thrown) => this.#explain(thrown)),
      { headers: { ...(headers === undefined ? {} : plain(headers)), 'content-type': 'text/event-stream' } },
    )
  }

  #open(response: Response): ByteSource | undefined {
    const body = bodyOf(response)
    this.#source = body === null ? undefined : new ByteSource(body)
    return this.#source
  }

  #explain(thrown: unknown): Error {
    if (thrown instanceof CriaError || thrown instanceof OtherShape || thrown instanceof ErrorBody) return thrown
    if (thrown instanceof GarbledEventError || (thrown instanceof Error && isAbort(thrown))) return thrown
    const { provider } = this.#options.peer
    if (thrown instanceof EventTooLargeError || thrown instanceof RangeError) {
      return new CriaError('invalid_response', `${provider}: ${thrown.message}`, { retryable: false, cause: thrown })
    }
    return brokenOff(thrown, this.#options.peer)
  }

  #notAnAnswer(kind: BodyKind, response: Response, text: string): CriaError {
    const { provider, host } = this.#options.peer
    const { status } = response
    if (kind === 'empty') {
      return new CriaError('invalid_response', `${provider}: ${host} answered ${status} with an empty response.`, { status })
    }
    const title = /<title[^>]*>([^<]{1,200})/i.exec(text)?.[1]?.trim()
    const what =
      kind === 'markup'
        ? `a web page${title === undefined || title === '' ? '' : ` (“${title}”)`}`
        : `text that is neither JSON nor an event stream: ${JSON.stringify(text.slice(0, 80))}`
    return new CriaError('invalid_response', `${provider}: ${host} answered ${status} with ${what}.`, {
      status,
      hint: 'Is this the base URL of the API, with its version (…/v1)? A proxy in between may also answer in its place.',
    })
  }
}

/** The body is decoded by now, and its length has changed. */
function plain(headers: Headers): Record<string, string> {
  const kept = Object.fromEntries(headers)
  for (const name of ['content-encoding', 'content-length', 'content-type', 'transfer-encoding']) delete kept[name]
  return { ...kept, 'content-type': 'application/json' }
}

/** An error and no answer beside it, or none that counts; a `null` where an error would stand is none. */
function isError(body: JsonObject): boolean {
  if (!isErrorReport(body)) return false
  const { output, status } = body
  if (status === 'failed') return true
  return !('choices' in body) && !('candidates' in body) && !('content' in body) && objectsIn(output).length === 0
}
