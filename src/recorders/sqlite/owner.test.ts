import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { isDead, thisOwner } from './owner.ts'

describe('isDead', () => {
  const here = thisOwner()

  it('is false for the process that asks', () => {
    expect(isDead(here, here)).toBe(false)
  })

  it('is true for a process that has ended', () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    expect(isDead({ ...here, pid, started: '1' }, here)).toBe(true)
  })

  it('is true where another process has the id now', () => {
    expect(isDead({ ...here, started: `${here.started}0` }, here)).toBe(here.started !== '')
  })

  it('is false where nobody can know: on another machine, and for a process of another user', () => {
    expect(isDead({ ...here, pid: 2 ** 22 + 1, machine: 'another' }, here)).toBe(false)
    expect(isDead({ ...here, pid: 1, started: '' }, here)).toBe(false)
  })

  it('knows this process apart from others that had its id', () => {
    expect(here.pid).toBe(process.pid)
    expect(here.host).not.toBe('')
    expect(thisOwner()).toEqual(here)
  })
})
