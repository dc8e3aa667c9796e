import { execFileSync, spawn } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForEach } from '../../test/support/folder.ts'
import { homePaths } from './paths.ts'
import { readTemplate } from './templates.ts'

let folder: string
folderForEach((made) => {
  folder = made
})

const read = (name: string): ReturnType<typeof readTemplate> =>
  readTemplate(name, homePaths({ env: { CRIA_HOME: join(folder, 'home') }, cwd: folder }), folder)

test.runIf(process.platform !== 'win32')('a template may come from a pipe, such as <(command) of a shell', () => {
  execFileSync('mkfifo', [join(folder, 'pipe')])
  spawn('sh', ['-c', `printf 'Summarise {{what}}.' > pipe`], { cwd: folder })
  expect(read('./pipe')).toMatchObject({ prompt: 'Summarise {{what}}.', variables: { what: null } })
})

test.runIf(process.platform !== 'win32')('a folder or a device is not a template', () => {
  symlinkSync('/dev/zero', join(folder, 'endless.md'))
  expect(() => read('./')).toThrow('it is a folder')
  expect(() => read('endless.md')).toThrow('is not a regular file')
})
