/** Tests a lock held by another process. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { beforeEach, describe, expect, it } from 'vitest'
import { query } from '../../engine/query.ts'
import { ScriptedModel } from '../../providers/scripted/scripted-model.ts'
import { closeOf, entriesOf, openOf, stamper } from '../../testing/turns.ts'
import { journalFolder } from '../../../test/support/journal-folder.ts'
import { SqliteRecorder } from './recorder.ts'

const HOLDER = join(import.meta.dirname, '../../../test/support/lock-holder.ts')
/** Milliseconds for which the event loop may be blocked, with allowance for a busy machine. */
const MOST_DELAY_MS = 500

const place = journalFolder()
let recorder: SqliteRecorder

beforeEach(async () => {
  recorder = await place.open()
})

/** Resolves when another process holds the lock; `released` resolves when that process has ended. */
async function hold(ms: number, ...mode: readonly 'exclusive'[]): Promise<{ readonly released: Promise<unknown> }> {
  const child = spawn(process.execPath, [HOLDER, place.path, String(ms), ...mode], { stdio: ['ignore', 'pipe', 'inherit'] })
  const released = once(child, 'exit')
  await once(child.stdout, 'data')
  return { released }
}

/** Returns the longest time in milliseconds for which the event loop was blocked during `work`. */
async function delayDuring(work: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 5 })
  histogram.enable()
  await work()
  histogram.disable()
  return histogram.max / 1e6
}

describe('a lock held by another process', () => {
  it('makes every writing method wait without blocking the event loop', async () => {
    const open = openOf('turn_a')
    const at = stamper(open)
    const { released } = await hold(1500)
    const delay = await delayDuring(async () => {
      await recorder.openTurn(open)
      await recorder.record('turn_a', entriesOf([at(0, { type: 'start', model: 'm' })]))
      await recorder.closeTurn('turn_a', closeOf(at(0, { type: 'cancelled', reason: '' })))
    })
    await released
    expect(delay).toBeLessThan(MOST_DELAY_MS)
    expect(recorder.read.turn('turn_a')?.turn.status).toBe('cancelled')
  })

  it('does not prevent reading, or opening for writing', async () => {
    const { released } = await hold(1200)
    const delay = await delayDuring(async () => {
      const other = await SqliteRecorder.open({ path: place.path })
      expect(other.read.turns().turns).toEqual([])
      await other.close()
    })
    expect(delay).toBeLessThan(MOST_DELAY_MS)
    await released
  })

  it('delays opening the file when it excludes readers', async () => {
    await recorder.close()
    const { released } = await hold(1500, 'exclusive')
    const delay = await delayDuring(async () => {
      recorder = await SqliteRecorder.open({ path: place.path })
    })
    expect(delay).toBeLessThan(MOST_DELAY_MS)
    expect(recorder.read.turns().turns).toEqual([])
    await released
  })

  it('keeps the order of the writes of several turns', async () => {
    const turns = ['a', 'b', 'c'].map((turnId) => openOf(turnId, { sessionId: turnId }))
    for (const turn of turns) await recorder.openTurn(turn)
    const events = turns.map((turn) => {
      const at = stamper(turn)
      return ['0', '1', '2'].map((text) => at(1, { type: 'text_delta', text, attempt: 1 }))
    })
    const { released } = await hold(300)
    const writes = [0, 1, 2].flatMap((round) =>
      turns.map(async ({ turnId }, index) => recorder.record(turnId, entriesOf(events[index]?.slice(round, round + 1) ?? []))),
    )
    await Promise.all(writes)
    for (const { turnId } of turns)
      expect(recorder.read.events(turnId).map((event) => (event.type === 'text_delta' ? event.text : ''))).toEqual([
        '0',
        '1',
        '2',
      ])
    await released
  })

  it('ENG-ERR-001 lets an aborted turn end soon, and closes its row after the lock is released', async () => {
    const caller = new AbortController()
    const model = new ScriptedModel([{ text: ['one ', 'two ', 'three'] }])
    const turn = query({ model, prompt: 'Hi', recorder, sessionId: 's', abortSignal: caller.signal })
    expect((await turn.next()).value).toMatchObject({ type: 'start' })
    const { released } = await hold(2500)
    const began = performance.now()
    setTimeout(() => caller.abort(new Error('Enough.')), 100)
    let last: unknown
    for await (const event of turn) last = event
    expect(last).toMatchObject({ type: 'cancelled' })
    expect(performance.now() - began).toBeLessThan(1500)
    await released
    await expect.poll(() => recorder.read.turns().turns.map(({ status }) => status), { timeout: 5000 }).toEqual(['cancelled'])
    await expect(
      Array.fromAsync(query({ model: new ScriptedModel(['Yes.']), prompt: 'Again', recorder, sessionId: 's' })),
    ).resolves.toSatisfy((events: { type: string }[]) => events.at(-1)?.type === 'complete')
  })
})
