/**
 * A stream of server-sent events on its way from the socket to the package that decodes it: cut at events, mended where the dialect
 * says so, ended where the API says so.
 */

import type { ByteSource } from './byte-source.ts'
import type { Dialect, WireNotes } from './dialect.ts'
import { isEndMark, parseObject } from './dialect.ts'
import { EventBlocks } from './event-blocks.ts'
import { countEvents, formatEvent, parseEvent, splitEvents } from './events.ts'
import { Mender } from './mender.ts'
import { isAbort } from './network.ts'

/** After the end mark the rest of the response is read so that the connection can be used again, but not for ever. */
const DRAIN_MS = 250
const DRAIN_BYTES = 64 * 1024
/** What may be said beside an answer that has ended, as what it cost, is not waited for longer: some servers keep the connection open. */
const AFTER_END_MS = 1000

/** Blocks that the decoder may still be busy with; it is never further behind than the buffers between. */
const REMEMBERED_BLOCKS = 32

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** The data of an event is no JSON. */
export class GarbledEventError extends Error {
  /** From 1. */
  readonly number: number | undefined
  readonly data: string
  constructor(data: string, number: number | undefined) {
    super(`event ${number ?? '?'} of the stream is no JSON`)
    this.name = 'GarbledEventError'
    this.data = data
    this.number = number
  }
}

export class EventStream {
  readonly #source: ByteSource
  readonly #dialect: Dialect
  readonly #notes: WireNotes
  readonly #blocks: EventBlocks
  readonly #mender: Mender
  readonly #recent: { readonly first: number; readonly block: Buffer }[] = []
  #events = 0
  #atStart = true
  #atEnd = false
  #lastWait: NodeJS.Timeout | undefined
  #broken: Error | undefined
  /** What is to be thrown after all that came before it. */
  #failure: GarbledEventError | undefined
  /** Where the answer begins anew. */
  #restart: Buffer | undefined

  constructor(source: ByteSource, dialect: Dialect, notes: WireNotes, maxEventBytes?: number) {
    this.#source = source
    this.#dialect = dialect
    this.#notes = notes
    this.#blocks = new EventBlocks(maxEventBytes)
    this.#mender = new Mender(dialect)
  }

  /**
   * For the package: everything up to the end of the answer, or up to where the answer begins anew.
   * @param explain turns what the socket throws into an error that a person understands.
   */
  readable(explain: (thrown: unknown) => Error): ReadableStream<Uint8Array> {
    let first = this.#restart
    this.#restart = undefined
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          for (;;) {
            if (this.#failure !== undefined) throw this.#failure
            const block = first ?? (await this.#nextBlock())
            first = undefined
            const bytes = block === undefined ? this.#missingEnd() : this.#mend(block)
            if (bytes.length > 0) controller.enqueue(bytes)
            if (this.#notes.ended) await this.#drain()
            if (block === undefined || this.#notes.ended || this.#restart !== undefined) return controller.close()
            if (bytes.length > 0) return
          }
        } catch (thrown) {
          this.#close()
          if (isAbort(thrown) || thrown instanceof GarbledEventError) return controller.error(explain(thrown))
          this.#broken = explain(thrown)
          controller.close()
        }
      },
      cancel: () => this.#close(),
    })
  }

  /** What broke the connection. It is told when all that came before has been read: an error in a stream empties the buffers behind it. */
  get broken(): Error | undefined {
    return this.#broken
  }

  /** The provider has begun its answer anew: `readable` gives the rest. */
  get restarts(): boolean {
    return this.#restart !== undefined
  }

  /** The number of the event, from 1, whose data is this; `undefined` when it is not among the last ones. */
  numberOf(data: string): number | undefined {
    for (const { first, block } of this.#recent) {
      let number = first
      for (const piece of splitEvents(block)) {
        const event = parseEvent(piece.toString())
        if (event === undefined) continue
        if (event.data === data) return number
        number++
      }
    }
    return undefined
  }

  async #nextBlock(): Promise<Buffer | undefined> {
    while (!this.#atEnd) {
      if (this.#notes.complete) this.#lastWait ??= setTimeout(() => this.#source.close(), AFTER_END_MS).unref()
      const bytes = await this.#source.read().catch((thrown: unknown) => {
        if (this.#notes.complete && !isAbort(thrown)) return undefined
        throw thrown
      })
      if (bytes === undefined) {
        this.#atEnd = true
        clearTimeout(this.#lastWait)
        return this.#rest()
      }
      const block = this.#blocks.push(bytes)
      if (block !== undefined) return this.#withoutMark(block)
    }
    return undefined
  }

  #withoutMark(block: Buffer): Buffer {
    const marked = this.#atStart && block.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    this.#atStart = false
    return marked ? block.subarray(BYTE_ORDER_MARK.length) : block
  }

  /**
   * The specification drops an event that no empty line ends. Some servers end their last one that way, so it counts when it is whole;
   * when it is not, the decoder finds the end of the answer missing.
   */
  #rest(): Buffer | undefined {
    const rest = this.#withoutMark(this.#blocks.rest())
    const event = parseEvent(rest.toString())
    const whole = event !== undefined && (isEndMark(event.data) || parseObject(event.data) !== undefined)
    return whole ? Buffer.concat([rest, Buffer.from('\n\n')]) : undefined
  }

  #missingEnd(): Buffer {
    const end = this.#dialect.missingEnd?.()
    return Buffer.from(end === undefined ? '' : formatEvent(end))
  }

  #mend(block: Buffer): Buffer {
    this.#remember(block)
    const { bytes, ended, restart, garbled } = this.#mender.mend(block)
    this.#notes.ended ||= ended === true
    this.#restart = restart
    if (garbled !== undefined) this.#failure = new GarbledEventError(garbled, this.numberOf(garbled))
    return bytes
  }

  #remember(block: Buffer): void {
    this.#recent.push({ first: this.#events + 1, block })
    this.#events += countEvents(block)
    if (this.#recent.length > REMEMBERED_BLOCKS) this.#recent.shift()
  }

  #close(): void {
    clearTimeout(this.#lastWait)
    this.#source.close()
  }

  async #drain(): Promise<void> {
    const giveUp = setTimeout(() => this.#source.close(), DRAIN_MS)
    try {
      for (let bytes = 0; bytes < DRAIN_BYTES;) {
        const piece = await this.#source.read()
        if (piece === undefined) break
        bytes += piece.length
      }
    } catch {
      // The answer is complete; how the connection ends does not matter any more.
    } finally {
      clearTimeout(giveUp)
      this.#close()
    }
  }
}
