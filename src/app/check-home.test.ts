import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkHome, diskTrouble, spaceCheck } from './checks.ts'
import { homePaths, remedy } from './paths.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-home-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

describe('what to do about a disk', () => {
  test.each([
    ['ENOSPC', /^Free some space, or/],
    ['EDQUOT', /^Free some space, or/],
    // Nobody can make it writable by its permissions.
    ['EROFS', /^Set CRIA_HOME/],
    ['EACCES', /^Make it writable, or/],
  ])('%s', (code, advice) => {
    expect(remedy(Object.assign(new Error('no'), { code }))).toMatch(advice)
  })

  test('a full one is a failure, and nothing is advised that takes room itself', () => {
    expect(spaceCheck(0, '/home/ada/.cria', true)).toMatchObject({
      status: 'failed',
      message: 'The disk of /home/ada/.cria is full.',
      hint: expect.not.stringContaining('gc') as string,
    })
  })

  test('one that is nearly full is a warning; a journal can be made smaller where there is one', () => {
    expect(spaceCheck(50_000_000, '/x', true)).toMatchObject({
      status: 'warning',
      hint: expect.stringContaining('logs gc') as string,
    })
    expect(spaceCheck(50_000_000, '/x', false)).toMatchObject({ status: 'warning', hint: 'Free some space.' })
    expect(spaceCheck(500_000_000, '/x', true)).toBeUndefined()
  })

  test('one with room is no trouble, whether the file is there or not', () => {
    expect(diskTrouble(join(folder, 'no', 'such', 'file.db'))).toBeUndefined()
  })
})

test('a home that others can read is told, and one that is missing leaves nothing behind', () => {
  const home = join(folder, 'home')
  const paths = homePaths({ env: { CRIA_HOME: home }, cwd: folder })
  expect(checkHome(paths)[0]).toEqual({ name: 'home', status: 'ok', message: `${home} (made when it is needed)` })
  mkdirSync(home)
  chmodSync(home, 0o755)
  expect(checkHome(paths)).toContainEqual(expect.objectContaining({ status: 'warning', hint: `chmod 700 ${home}` }))
})
