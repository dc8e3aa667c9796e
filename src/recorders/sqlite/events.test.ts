import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { QueryEvent } from '../../core/event.ts'
import { fromRow, toRows } from './events.ts'

const turn = { sessionId: 'session', turnId: 'turn' }

function delta(seq: number, changes: Partial<QueryEvent> = {}): QueryEvent {
  return { type: 'text_delta', text: `${seq}`, attempt: 1, ...turn, step: 1, seq, at: 1000 + seq, ...changes } as QueryEvent
}

function readBack(events: readonly QueryEvent[]): QueryEvent[] {
  return toRows(events).flatMap((row) => fromRow({ ...row, messageBody: null, message: null }, turn, () => ''))
}

describe('rows of events', () => {
  it('consecutive deltas share a row', () => {
    const rows = toRows([delta(4), delta(5), delta(6)])
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ seq: 6, at: 1004 })
  })

  it.each<[difference: string, second: QueryEvent]>([
    ['another kind', delta(1, { type: 'thinking', content: 'x' })],
    ['another step', delta(1, { step: 2 })],
    ['another attempt', delta(1, { attempt: 2 })],
    ['a gap between them', delta(3)],
    ['a time that is not a whole number', delta(1, { at: 1000.1 })],
  ])('%s starts a new row', (_difference, second) => {
    expect(toRows([delta(0), second])).toHaveLength(2)
  })

  it('reads packed events back unchanged', () => {
    const anyDelta = fc.record(
      {
        isThinking: fc.boolean(),
        text: fc.string({ unit: 'binary' }),
        attempt: fc.integer({ min: 1, max: 2 }),
        step: fc.integer({ min: 1, max: 2 }),
        gap: fc.oneof(fc.integer({ min: -50, max: 5000 }), fc.constant(0.1)),
        isMissing: fc.boolean(),
      },
      { noNullPrototype: true },
    )
    fc.assert(
      fc.property(fc.array(anyDelta, { maxLength: 40, size: 'max' }), (deltas) => {
        let at = 1_700_000_000_000
        let seq = 0
        const events = deltas.map(({ isThinking, text, attempt, step, gap, isMissing }): QueryEvent => {
          at += gap
          seq += isMissing ? 2 : 1
          const stamp = { ...turn, step, seq, at }
          return isThinking
            ? { type: 'thinking', content: text, attempt, ...stamp }
            : { type: 'text_delta', text, attempt, ...stamp }
        })
        expect(readBack(events)).toEqual(events)
      }),
    )
  })
})
