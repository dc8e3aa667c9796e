import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { homePaths } from './paths.ts'
import { readTemplate } from './templates.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-templates-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

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
