/**
 * Goes through the events of a stream: hands those that concern a known gap to the dialect, and makes one event of pieces of the same text that
 * came together, so that what decodes them has less to do. What needs neither passes as the bytes it came as.
 */

import type { JsonObject } from '../../core/json.ts'
import type { Dialect, Verdict } from './dialect.ts'
import { isEndMark, parseObject, saysNothing } from './dialect.ts'
import { errorLineIn, formatEvent, parseEvent, splitEvents } from './events.ts'

export interface Mended {
  readonly bytes: Buffer
  /** The API's end mark was in it: nothing after it belongs to the answer. */
  readonly ended?: boolean
  /** The answer begins anew with these bytes, which are not part of `bytes`. */
  readonly restart?: Buffer
  /** The data of an event that should be JSON and is not; `bytes` is what came before it. */
  readonly garbled?: string
}

/** An event that waits to see whether the next one goes on with its text. */
interface Pending {
  readonly event: JsonObject
  readonly name: string | undefined
  /** As it came; `undefined` once it has changed. */
  piece: Buffer | undefined
}

export class Mender {
  readonly #dialect: Dialect
  readonly #markers: readonly Buffer[]
  readonly #deltas: readonly Buffer[]

  constructor(dialect: Dialect) {
    this.#dialect = dialect
    this.#markers = dialect.markers.map((marker) => Buffer.from(marker))
    this.#deltas = dialect.deltas.map((marker) => Buffer.from(marker))
  }

  /** @param block whole events. */
  mend(block: Buffer): Mended {
    const mayMerge = isSeveral(block) && has(block, this.#deltas)
    const someMarked = this.#isMarked(block)
    if (!mayMerge && !someMarked) return { bytes: block }

    const out: Buffer[] = []
    let pending: Pending | undefined
    const flush = (): void => {
      if (pending !== undefined) out.push(pending.piece ?? Buffer.from(formatEvent(pending.event, pending.name)))
      pending = undefined
    }
    const result = (rest: Omit<Mended, 'bytes'>): Mended => {
      flush()
      return { bytes: out.length === 1 && out[0] !== undefined ? out[0] : Buffer.concat(out), ...rest }
    }

    let at = 0
    for (const piece of splitEvents(block)) {
      const marked = someMarked && this.#isMarked(piece)
      const parsed = marked || (mayMerge && has(piece, this.#deltas)) ? parseEvent(piece.toString()) : undefined
      if (marked && parsed !== undefined && isEndMark(parsed.data)) return result({ ended: true })
      const event = parsed === undefined ? errorIn(piece, marked) : parseObject(parsed.data)
      if (marked && parsed !== undefined && event === undefined) {
        if (!saysNothing(parsed.data)) return result({ garbled: parsed.data })
        at += piece.length
        continue
      }
      if (event === undefined) {
        flush()
        out.push(piece)
        at += piece.length
        continue
      }
      const verdict: Verdict = marked ? this.#dialect.event(event) : 'keep'
      if (verdict === 'restart') return result({ restart: block.subarray(at) })
      at += piece.length
      if (verdict !== 'drop') {
        for (const earlier of typeof verdict === 'object' ? (verdict.before ?? []) : []) {
          flush()
          out.push(Buffer.from(formatEvent(earlier)))
        }
        const next =
          typeof verdict === 'object'
            ? { event: verdict.replace, piece: undefined }
            : { event, piece: parsed === undefined ? undefined : piece }
        if (pending !== undefined && this.#dialect.absorb(pending.event, next.event)) pending.piece = undefined
        else {
          flush()
          pending = { ...next, name: parsed?.name }
        }
      }
      if (verdict === 'last' || this.#dialect.hasEnded()) return result({ ended: true })
    }
    return result({})
  }

  #isMarked(bytes: Buffer): boolean {
    return this.#markers.length === 0 || !this.#dialect.hasBegun() || has(bytes, this.#markers)
  }
}

function errorIn(piece: Buffer, marked: boolean): JsonObject | undefined {
  const error = marked ? errorLineIn(piece.toString()) : undefined
  return error === undefined ? undefined : { error }
}

function has(bytes: Buffer, markers: readonly Buffer[]): boolean {
  return markers.some((marker) => bytes.includes(marker))
}

function isSeveral(block: Buffer): boolean {
  const end = block.indexOf('\n\n')
  return end >= 0 && end + 2 < block.length
}
