import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { entriesOf, openOf, stamper } from '../../testing/turns.ts'
import { livenessOf, thisOwner } from './lease.ts'
import { SqliteRecorder } from './recorder.ts'

test('REC-LOG-001 a write renews a lease with less than two thirds left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cria-lease-'))
  let now = 0
  const options = { path: join(folder, 'cria.db'), leaseMs: 60_000, clock: { now: () => now } }
  const recorder = await SqliteRecorder.open(options)
  // From another machine, the state of this process is unknown.
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

describe('livenessOf', () => {
  const here = thisOwner()

  it('reports the calling process as alive', () => {
    expect(livenessOf(here, here)).toBe(here.started === '' ? 'unknown' : 'alive')
  })

  it('reports an ended process as dead', () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    expect(livenessOf({ ...here, pid, started: '1' }, here)).toBe('dead')
  })

  it('reports an ended process as dead although another process has its id', () => {
    expect(livenessOf({ ...here, started: `${here.started}0` }, here)).toBe(here.started === '' ? 'unknown' : 'dead')
  })

  it('is unknown on another machine, and without the start of the process', () => {
    expect(livenessOf({ ...here, pid: 2 ** 22 + 1, machine: 'another' }, here)).toBe('unknown')
    expect(livenessOf({ ...here, pid: 1, started: '' }, here)).toBe('unknown')
  })

  it('distinguishes this process from earlier processes with its id', () => {
    expect(here.pid).toBe(process.pid)
    expect(here.host).not.toBe('')
    expect(thisOwner()).toEqual(here)
  })
})
