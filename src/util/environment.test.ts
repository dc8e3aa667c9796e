import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const MODULE = new URL('environment.ts', import.meta.url).href

/** Starts a program with two secrets in its environment, and returns its output. */
function started(program: string): unknown {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], FIRST_KEY: 'canary-1', SECOND_KEY: 'canary-2', FIRST_KEY_ID: 'kept' },
  })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

it('a removed variable is available to us, but not to child processes', () => {
  const program = `
    import { execFileSync } from 'node:child_process'
    import { environment, takenValues, takeVariables } from '${MODULE}'
    takeVariables(['FIRST_KEY', 'SECOND_KEY', 'MISSING'])
    const child = execFileSync('env', { encoding: 'utf8' })
    console.log(JSON.stringify([process.env.FIRST_KEY ?? null, environment().FIRST_KEY, takenValues(), child.includes('canary'), child.includes('FIRST_KEY_ID=kept')]))`
  expect(started(program)).toEqual([null, 'canary-1', ['canary-1', 'canary-2'], false, true])
})

it('its value is erased from the memory that /proc shows', { skip: process.platform !== 'linux' }, () => {
  const program = `
    import { readFileSync } from 'node:fs'
    import { takeVariables } from '${MODULE}'
    const before = readFileSync('/proc/self/environ', 'latin1').includes('canary-1')
    takeVariables(['FIRST_KEY', 'SECOND_KEY'])
    const after = readFileSync('/proc/self/environ', 'latin1')
    console.log(JSON.stringify([before, after.includes('canary'), after.includes('FIRST_KEY_ID=kept')]))`
  expect(started(program)).toEqual([true, false, true])
})
