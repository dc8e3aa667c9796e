/**
 * A stream of server-sent events on its way from the socket to the package that decodes it: cut at events, mended where the dialect
 * says so, ended where the API says so. What needs no mending passes as the bytes it came as.
 */

import type { ByteSource } from './byte-source.ts'
import type { Dialect, WireNotes } from './dialect.ts'
import { parseObject } from './dialect.ts'
import { EventBlocks } from './event-blocks.ts'
import { isAbort } from './network.ts'
import { countEvents, formatEvent, parseEvent, splitEvents } from './events.ts'

/** After the end mark the rest of the response is read so that the connection can be used again, but not for ever. */
const DRAIN_MS = 250
const DRAIN_BYTES = 64 * 1024

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
  readonly #markers: readonly Buffer[]
  readonly #recent: { readonly first: number; readonly block: Buffer }[] = []
  #events = 0
  #atStart = true
  #atEnd = false
  /** Where the answer begins anew. */
  #restart: Buffer | undefined

  constructor(source: ByteSource, dialect: Dialect, notes: WireNotes, maxEventBytes?: number) {
    this.#source = source
    this.#dialect = dialect
    this.#notes = notes
    this.#blocks = new EventBlocks(maxEventBytes)
    this.#markers = dialect.markers.map((marker) => Buffer.from(marker))
  }

  /**
   * For the package: everything up to the end of the answer, or up to where the answer begins anew.
   * @param explain turns what the socket throws into an error that a person understands.
   */
  readable(explain: (thrown: unknown) => unknown): ReadableStream<Uint8Array> {
    let first = this.#restart
    this.#restart = undefined
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          for (;;) {
            const block = first ?? (await this.#nextBlock())
            first = undefined
            const bytes = block === undefined ? this.#missingEnd() : this.#mend(block)
            if (bytes.length > 0) controller.enqueue(bytes)
            if (this.#notes.ended) await this.#drain()
            if (block === undefined || this.#notes.ended || this.#restart !== undefined) return controller.close()
            if (bytes.length > 0) return
          }
        } catch (thrown) {
          this.#source.close()
          controller.error(explain(thrown))
        }
      },
      cancel: () => this.#source.close(),
    })
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
      const bytes = await this.#source.read().catch((thrown: unknown) => {
        if (this.#notes.complete && !isAbort(thrown)) return undefined
        throw thrown
      })
      if (bytes === undefined) {
        this.#atEnd = true
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
    const whole = event !== undefined && (event.data === '[DONE]' || parseObject(event.data) !== undefined)
    return whole ? Buffer.concat([rest, Buffer.from('\n\n')]) : undefined
  }

  #missingEnd(): Buffer {
    const end = this.#dialect.missingEnd?.()
    return Buffer.from(end === undefined ? '' : formatEvent(end))
  }

  #mend(block: Buffer): Buffer {
    this.#remember(block)
    if (!this.#isMarked(block)) return block
    const out: Buffer[] = []
    let at = 0
    let changed = false
    for (const piece of splitEvents(block)) {
      const event = this.#isMarked(piece) ? parseEvent(piece.toString()) : undefined
      const verdict = event === undefined ? 'keep' : this.#dialect.event(event.data)
      if (verdict === 'garbled') throw new GarbledEventError(event?.data ?? '', this.numberOf(event?.data ?? ''))
      if (verdict === 'restart') {
        this.#restart = block.subarray(at)
        return Buffer.concat(out)
      }
      at += piece.length
      if (typeof verdict === 'object') out.push(Buffer.from(formatEvent(verdict.replace, event?.name)))
      else if (verdict === 'keep' || verdict === 'last') out.push(piece)
      changed ||= verdict !== 'keep'
      if (verdict === 'last' || verdict === 'end') this.#notes.ended = true
      if (this.#notes.ended) break
    }
    return changed ? Buffer.concat(out) : block
  }

  #isMarked(bytes: Buffer): boolean {
    return this.#markers.length === 0 || !this.#dialect.hasBegun() || this.#markers.some((marker) => bytes.includes(marker))
  }

  #remember(block: Buffer): void {
    this.#recent.push({ first: this.#events + 1, block })
    this.#events += countEvents(block)
    if (this.#recent.length > REMEMBERED_BLOCKS) this.#recent.shift()
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
      this.#source.close()
    }
  }
}
