/** A known gap between what an API sends and what the package that decodes it takes: one file each, mended on the wire. */

import type { JsonObject } from '../../../core/json.ts'
import type { CreateDialect, Dialect, Verdict, WireNotes } from '../../wire/dialect.ts'
import { END_MARK } from '../../wire/dialect.ts'
import { ERROR_LINE_MARKERS } from '../../wire/events.ts'

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

export interface ApiTraits extends Pick<Dialect, 'deltas' | 'absorb' | 'essence'> {
  readonly gaps: readonly CreateGap[]
}

export function dialectOf({ gaps, ...traits }: ApiTraits): CreateDialect {
  return (notes) => {
    const made = gaps.map((create) => create(notes))
    const readsAll = made.some((gap) => gap.event !== undefined && gap.markers.length === 0)
    return {
      ...traits,
      markers: readsAll ? [] : [...new Set([END_MARK, ...ERROR_LINE_MARKERS, ...made.flatMap((gap) => gap.markers)])],
      event: (event) => judge(made, event),
      hasBegun: () => made.every((gap) => gap.hasBegun?.() !== false),
      hasEnded: () => notes.ended,
      missingEnd: () => {
        for (const gap of made) {
          const end = gap.missingEnd?.()
          if (end !== undefined) return end
        }
        return undefined
      },
      body: (body) => made.reduce((mended, gap) => gap.body?.(mended) ?? mended, body),
    }
  }
}

function judge(gaps: readonly Gap[], given: JsonObject): Verdict {
  let event = given
  const before: JsonObject[] = []
  for (const gap of gaps) {
    const verdict = gap.event?.(event) ?? 'keep'
    if (typeof verdict === 'object') {
      event = verdict.replace
      before.push(...(verdict.before ?? []))
    } else if (verdict !== 'keep') return verdict
  }
  return event === given && before.length === 0 ? 'keep' : { replace: event, before }
}
