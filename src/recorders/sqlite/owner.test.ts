import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { livenessOf, thisOwner } from './owner.ts'

describe('livenessOf', () => {
  const here = thisOwner()

  it('knows that the process which asks lives', () => {
    expect(livenessOf(here, here)).toBe(here.started === '' ? 'unknown' : 'alive')
  })

  it('knows of a process that it has ended', () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    expect(livenessOf({ ...here, pid, started: '1' }, here)).toBe('dead')
  })

  it('knows of a process that it has ended although another one has its id now', () => {
    expect(livenessOf({ ...here, started: `${here.started}0` }, here)).toBe(here.started === '' ? 'unknown' : 'dead')
  })

  it('does not know of another machine, nor where the start of the process was not told', () => {
    expect(livenessOf({ ...here, pid: 2 ** 22 + 1, machine: 'another' }, here)).toBe('unknown')
    expect(livenessOf({ ...here, pid: 1, started: '' }, here)).toBe('unknown')
  })

  it('knows this process apart from others that had its id', () => {
    expect(here.pid).toBe(process.pid)
    expect(here.host).not.toBe('')
    expect(thisOwner()).toEqual(here)
  })
})
