/** A known gap between what an API sends and what the package that decodes it takes: one file each, mended on the wire. */

import type { JsonObject } from '../../../core/json.ts'
import type { CreateDialect, Verdict, WireNotes } from '../../wire/dialect.ts'
import { parseObject } from '../../wire/dialect.ts'

/** Made anew for each call, so that it may remember what came before. */
export interface Gap {
  /** What an event that concerns this gap has in it; empty: every event does. */
  readonly markers: readonly string[]
  event?(event: JsonObject): Verdict
  body?(body: JsonObject): JsonObject
  missingEnd?(): JsonObject | undefined
  /** Until this is true, every event concerns this gap. */
  hasBegun?(): boolean
}

export type CreateGap = (notes: WireNotes) => Gap

/** What OpenAI ends a stream with, and others after it, whatever their API. */
const DONE = '[DONE]'

/** @param essence see `Dialect.essence`. */
export function dialectOf(gaps: readonly CreateGap[], essence: (body: JsonObject) => JsonObject): CreateDialect {
  return (notes) => {
    const made = gaps.map((create) => create(notes))
    const readsAll = made.some((gap) => gap.event !== undefined && gap.markers.length === 0)
    return {
      markers: readsAll ? [] : [...new Set([DONE, ...made.flatMap((gap) => gap.markers)])],
      event: (data) => (isDone(data) ? 'end' : judge(made, data)),
      hasBegun: () => made.every((gap) => gap.hasBegun?.() !== false),
      missingEnd: () => {
        for (const gap of made) {
          const end = gap.missingEnd?.()
          if (end !== undefined) return end
        }
        return undefined
      },
      body: (body) => made.reduce((mended, gap) => gap.body?.(mended) ?? mended, body),
      essence,
    }
  }
}

/** Some servers put no empty line after it, and what follows becomes part of the same event. */
function isDone(data: string): boolean {
  return data.trim() === DONE || data.startsWith(`${DONE}\n`)
}

function judge(gaps: readonly Gap[], data: string): Verdict {
  const parsed = parseObject(data)
  if (parsed === undefined) return 'garbled'
  let event = parsed
  for (const gap of gaps) {
    const verdict = gap.event?.(event) ?? 'keep'
    if (typeof verdict === 'object') event = verdict.replace
    else if (verdict !== 'keep') return verdict
  }
  return event === parsed ? 'keep' : { replace: event }
}
