import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { entriesOf, openOf, stamper } from '../../testing/turns.ts'
import { thisOwner } from './owner.ts'
import { SqliteRecorder } from './recorder.ts'

test('REC-LOG-001 writing renews a lease that has less than two thirds left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cria-lease-'))
  let now = 0
  const options = { path: join(folder, 'cria.db'), leaseMs: 60_000, clock: { now: () => now } }
  const recorder = await SqliteRecorder.open(options)
  // Another machine: that this process lives tells it nothing.
  const other = await SqliteRecorder.open({ ...options, owner: { ...thisOwner(), host: 'elsewhere', machine: 'another' } })
  const turn = openOf('one')
  const stamp = stamper(turn)
  await recorder.openTurn(turn)
  now = 30_000
  await recorder.record('one', entriesOf([stamp(0, { type: 'start', model: 'test/model' })]))
  now = 89_000
  expect(other.sweep()).toBe(0)
  now = 91_000
  expect(other.sweep()).toBe(1)
  await recorder.close()
  await other.close()
  rmSync(folder, { recursive: true })
})
