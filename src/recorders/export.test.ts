import { describe, expect, it } from 'vitest'
import { closeOf, openOf, stamper } from '../testing/turns.ts'
import type { TurnDetail } from '../core/recorder.ts'
import { exportTurns } from './export.ts'
import { SqliteRecorder } from './sqlite/recorder.ts'

async function journalOf(turns: number): Promise<SqliteRecorder> {
  const recorder = await SqliteRecorder.open({ path: ':memory:' })
  for (let n = 0; n < turns; n++) {
    const open = openOf(`turn_${n}`, { question: `Line\nbreak ${n}`, model: n % 2 === 0 ? 'even' : 'odd' })
    await recorder.openTurn(open)
    await recorder.closeTurn(
      open.turnId,
      closeOf(stamper(open)(0, { type: 'cancelled', reason: 'Enough.' }), { model: open.model }),
    )
  }
  return recorder
}

async function linesOf(pieces: AsyncIterable<string>): Promise<string[]> {
  const text = (await Array.fromAsync(pieces)).join('')
  expect(text.endsWith('\n')).toBe(true)
  return text.slice(0, -1).split('\n')
}

describe('exportTurns', () => {
  it('exports every complete turn as one line of JSON, newest first', async () => {
    const recorder = await journalOf(250)
    const lines = await linesOf(exportTurns(recorder.read))
    expect(lines).toHaveLength(250)
    const turns = lines.map((line) => JSON.parse(line) as TurnDetail)
    expect(turns.map(({ turn }) => turn.turnId)).toEqual(Array.from({ length: 250 }, (_, n) => `turn_${249 - n}`))
    expect(turns[0]).toEqual(recorder.read.turn('turn_249'))
    await recorder.close()
  })

  it('exports the requested number of the selected turns', async () => {
    const recorder = await journalOf(250)
    const ids = async (limit: number): Promise<string[]> => {
      const lines = await linesOf(exportTurns(recorder.read, { model: 'even', limit }))
      return lines.map((line) => (JSON.parse(line) as TurnDetail).turn.turnId)
    }
    expect(await ids(2)).toEqual(['turn_248', 'turn_246'])
    expect(await ids(1000)).toHaveLength(125)
    expect(await ids(100)).toHaveLength(100)
    await recorder.close()
  })
})
