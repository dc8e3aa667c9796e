import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderForEach } from '../../test/support/folder.ts'
import { checkHome, diskTrouble, spaceCheck } from './doctor.ts'
import { homePaths, remedy } from './paths.ts'

let folder: string
folderForEach((made) => {
  folder = made
})

describe('what to do about a disk', () => {
  test.each([
    ['ENOSPC', /^Free some space, or/],
    ['EDQUOT', /^Free some space, or/],
    // Changing permissions does not make a read-only file system writable.
    ['EROFS', /^Set CRIA_HOME/],
    ['EACCES', /^Make it writable, or/],
  ])('%s', (code, advice) => {
    expect(remedy(Object.assign(new Error('no'), { code }))).toMatch(advice)
  })

  test('a full disk is a failure, and the hint suggests nothing that needs space', () => {
    expect(spaceCheck(0, '/home/ada/.cria', true)).toMatchObject({
      status: 'failed',
      message: 'The disk of /home/ada/.cria is full.',
      hint: expect.not.stringContaining('gc') as string,
    })
  })

  test('a nearly full disk is a warning, whose hint mentions an existing journal', () => {
    expect(spaceCheck(50_000_000, '/x', true)).toMatchObject({
      status: 'warning',
      hint: expect.stringContaining('logs gc') as string,
    })
    expect(spaceCheck(50_000_000, '/x', false)).toMatchObject({ status: 'warning', hint: 'Free some space.' })
    expect(spaceCheck(500_000_000, '/x', true)).toBeUndefined()
  })

  test('a disk with free space causes no problem, whether the file exists or not', () => {
    expect(diskTrouble(join(folder, 'no', 'such', 'file.db'))).toBeUndefined()
  })
})

test('warns about a home that others can read, and leaves nothing behind for a missing home', () => {
  const home = join(folder, 'home')
  const paths = homePaths({ env: { CRIA_HOME: home }, cwd: folder })
  expect(checkHome(paths)[0]).toEqual({ name: 'home', status: 'ok', message: `${home} (made when it is needed)` })
  mkdirSync(home)
  chmodSync(home, 0o755)
  expect(checkHome(paths)).toContainEqual(expect.objectContaining({ status: 'warning', hint: `chmod 700 ${home}` }))
})

test.runIf(process.platform !== 'win32')('reports a home that is a link to itself', () => {
  const home = join(folder, 'loop')
  symlinkSync(home, home)
  expect(checkHome(homePaths({ env: { CRIA_HOME: home }, cwd: folder }))).toMatchObject([
    { status: 'failed', message: `${home} cannot be made: too many symbolic links.` },
  ])
})
