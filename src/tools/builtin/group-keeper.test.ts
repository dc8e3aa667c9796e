import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { until } from '../../../test/support/processes.ts'
import { kept, release } from './group-keeper.ts'

const listsChildren = existsSync(`/proc/self/task/${process.pid}/children`)

/** Shells that wait for the end of this process. */
function keepers(): number[] {
  const threads = readdirSync('/proc/self/task')
  const children = threads.flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' '))
  return children.map(Number).filter((pid) => pid > 0 && commandOf(pid).startsWith('/bin/sh\0-c\0\nalive='))
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

it.runIf(listsChildren)('runs as long as a group runs, and no longer', async () => {
  const groups = [1, 2].map(() => kept(() => spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })))
  await until(() => keepers().length === 1)
  for (const { pid = 0 } of groups) {
    expect(keepers()).toHaveLength(1)
    process.kill(-pid, 'SIGKILL')
    release(pid)
  }
  await until(() => keepers().length === 0)
})

it.runIf(listsChildren)('ends when the first process of a group cannot be started', async () => {
  const failure = new Error('too long')
  const failing = (): never => {
    throw failure
  }
  expect(() => kept(failing)).toThrow(failure)
  await until(() => keepers().length === 0)
  const missing = kept(() => spawn('/no/such/program', { stdio: 'ignore' }))
  await new Promise((resolve) => missing.once('error', resolve))
  await until(() => keepers().length === 0)
})
