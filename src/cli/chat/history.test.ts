import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { homePaths } from '../../app/paths.ts'
import type { HomePaths } from '../../app/paths.ts'
import { keepInHistory, readHistory } from './history.ts'

let folder: string
let paths: HomePaths
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cria-history-'))
  paths = homePaths({ env: { CRIA_HOME: join(folder, 'home') }, cwd: folder })
  file = join(paths.home, 'cria.history')
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

test('K04 keeps entries of several lines, in a file that only its owner reads', async () => {
  expect(await readHistory(paths)).toEqual([])
  await keepInHistory('one', paths)
  await keepInHistory('two\nlines "quoted"', paths)
  expect(await readHistory(paths)).toEqual(['one', 'two\nlines "quoted"'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(paths.home, '.gitignore'), 'utf8')).toContain('cria.*')
})

test('a file that is damaged, or no file, keeps nobody from talking', async () => {
  await keepInHistory('one', paths)
  writeFileSync(file, '"one"\n{"no": 1}\n"half\n\u0000\n"two"\n')
  expect(await readHistory(paths)).toEqual(['one', 'two'])
  rmSync(file)
  execFileSync('mkfifo', [file])
  expect(await readHistory(paths)).toEqual([])
})

test('a home that cannot be written is told by others', async () => {
  await keepInHistory('one', paths)
  chmodSync(file, 0o400)
  await expect(keepInHistory('two', paths)).resolves.toBeUndefined()
})

test('grows no further than what anybody goes back', async () => {
  await keepInHistory('first', paths)
  writeFileSync(file, Array.from({ length: 2500 }, (_, index) => `"${index}"\n`).join(''))
  const entries = await readHistory(paths)
  expect([entries.length, entries[0], entries.at(-1)]).toEqual([1000, '1500', '2499'])
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(1001)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})
