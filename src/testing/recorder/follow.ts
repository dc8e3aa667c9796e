/** Following a turn from the side. */

import assert from 'node:assert/strict'
import type { QueryEvent } from '../../core/event.ts'
import { closeOf, entriesOf, openOf, resultOf, stamper } from '../turns.ts'
import { rejects, say } from './bench.ts'
import type { Suite } from './bench.ts'

async function seqs(events: AsyncIterable<QueryEvent>): Promise<number[]> {
  const seen: number[] = []
  for await (const event of events) seen.push(event.seq)
  return seen
}

export function followTests({ describe, test }: Suite): void {
  describe('following a turn', () => {
    test('yields what was and what comes, to the terminal event, for whoever wrote it', async (bench) => {
      const [writer, other] = [await bench.open(), await bench.open()]
      const open = openOf('turn_a')
      const at = stamper(open)
      await writer.openTurn(open)
      await writer.record('turn_a', entriesOf([at(0, { type: 'start', model: open.model })]))
      const followers = [writer.follow('turn_a'), other.follow('turn_a')]
      for (const follower of followers) assert.equal((await follower.next()).value?.type, 'start')
      const waiting = followers.map((follower) => follower.next())
      await writer.record('turn_a', entriesOf([at(1, { type: 'text_delta', text: 'A', attempt: 1 })]))
      for (const next of await Promise.all(waiting)) assert.equal(next.value?.type, 'text_delta')
      const rest = followers.map(seqs)
      const late = other.follow('turn_a', { after: 0 })
      await writer.record('turn_a', entriesOf([at(1, { type: 'text_delta', text: 'B', attempt: 1 })]))
      await writer.closeTurn('turn_a', closeOf(at(1, { type: 'complete', result: resultOf(open, 'AB') })))
      assert.deepEqual(await Promise.all(rest), [
        [2, 3],
        [2, 3],
      ])
      assert.deepEqual(await seqs(late), [1, 2, 3])
    })

    test('of one that has ended goes on behind any of its events', async (bench) => {
      const recorder = await bench.open()
      await say(recorder, 'turn_a', 'Yes.')
      assert.deepEqual(await seqs(recorder.follow('turn_a')), [0, 1, 2, 3])
      assert.deepEqual(await seqs(recorder.follow('turn_a', { after: 1 })), [2, 3])
      for (const after of [3, 400]) assert.deepEqual(await seqs(recorder.follow('turn_a', { after })), [])
    })

    test('ends when it is left or aborted in the middle of a wait', async (bench) => {
      const recorder = await bench.open()
      await recorder.openTurn(openOf('turn_a'))
      const left = recorder.follow('turn_a')
      const next = left.next()
      await left.return()
      assert.equal((await next).done, true)
      const stopping = new AbortController()
      const aborted = seqs(recorder.follow('turn_a', { signal: stopping.signal }))
      stopping.abort()
      assert.deepEqual(await aborted, [])
      assert.equal((await bench.turn('turn_a')).turn.status, 'open')
    })

    test('refuses a turn that is not there, and a place that is none', async (bench) => {
      const recorder = await bench.open()
      await rejects('not_found', async () => recorder.follow('turn_x'))
      await say(recorder, 'turn_a', 'Yes.')
      for (const after of [-2, 0.5, Number.NaN, '1' as never])
        await rejects('configuration', async () => recorder.follow('turn_a', { after }))
    })

    test('throws when the turn was deleted before all was read', async (bench) => {
      const recorder = await bench.open()
      const open = openOf('turn_a')
      const at = stamper(open)
      await recorder.openTurn(open)
      await recorder.record('turn_a', entriesOf([at(0, { type: 'start', model: open.model })]))
      const events = recorder.follow('turn_a')
      await events.next()
      await recorder.closeTurn('turn_a', closeOf(at(1, { type: 'cancelled', reason: 'Enough.' })))
      await recorder.deleteSession('session')
      await rejects('not_found', () => events.next())
    })
  })
}
