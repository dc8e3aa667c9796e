import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { homePaths } from '../../app/paths.ts'
import type { HomePaths } from '../../app/paths.ts'
import { keepInHistory, older, readHistory, recalled, recallOf, remembered, textAt, withQuery } from './history.ts'
import type { Recall, Search } from './history.ts'

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

test('entries of several lines are stored in a file that only its owner can read', async () => {
  expect(await readHistory(paths)).toEqual([])
  await keepInHistory('one', paths)
  await keepInHistory('two\nlines "quoted"', paths)
  expect(await readHistory(paths)).toEqual(['one', 'two\nlines "quoted"'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(paths.home, '.gitignore'), 'utf8')).toContain('cria.*')
})

test('a damaged or missing history file does not prevent a chat', async () => {
  await keepInHistory('one', paths)
  writeFileSync(file, '"one"\n{"no": 1}\n"half\n\u0000\n"two"\n')
  expect(await readHistory(paths)).toEqual(['one', 'two'])
  rmSync(file)
  execFileSync('mkfifo', [file])
  expect(await readHistory(paths)).toEqual([])
})

test('an unwritable history file is ignored', async () => {
  await keepInHistory('one', paths)
  chmodSync(file, 0o400)
  await expect(keepInHistory('two', paths)).resolves.toBeUndefined()
})

test('the history file is cut to the newest 1000 entries', async () => {
  await keepInHistory('first', paths)
  writeFileSync(file, Array.from({ length: 2500 }, (_, index) => `"${index}"\n`).join(''))
  const entries = await readHistory(paths)
  expect([entries.length, entries[0], entries.at(-1)]).toEqual([1000, '1500', '2499'])
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(1001)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('Up and Down step through different entries, and end at the draft', () => {
  const begun = recallOf(['one', 'two', 'two'])
  const step = (from: Recall | undefined, text: string, by: -1 | 1): Recall | undefined => from && recalled(from, text, by)
  const back = step(begun, 'draft', -1)
  const further = step(back, 'two', -1)
  const forth = step(further, 'one', 1)
  const places = [back, further, forth, step(forth, 'two', 1)]
  expect(places.map((place) => place && textAt(place))).toEqual(['two', 'one', 'two', 'draft'])
  expect(step(further, 'one', -1)).toBeUndefined()
  expect(remembered(begun, 'two').entries).toEqual(['one', 'two', 'two'])
})

describe('Ctrl-R', () => {
  const ENTRIES = ['Fix the tide table', 'run the tests', 'Fix the mill', 'Fix the mill', 'what is new?']
  const begin = (entries: readonly string[], draft: string): Search => ({
    ...recallOf(entries, draft),
    query: '',
    isExhausted: false,
  })

  test('a longer query keeps a match, a shorter one searches again from the newest entry, and a repetition finds an older match', () => {
    const shown = (search: Search): [string, boolean] => [textAt(search), search.isExhausted]
    const begun = begin(ENTRIES, 'half a tho')
    expect(shown(begun)).toEqual(['half a tho', false])
    const fix = withQuery(begun, 'fix')
    expect(shown(fix)).toEqual(['Fix the mill', false])
    expect(shown(withQuery(fix, 'fix the m'))).toEqual(['Fix the mill', false])
    const further = older(fix)
    expect(shown(further)).toEqual(['Fix the tide table', false])
    expect(shown(older(further))).toEqual(['Fix the tide table', true])
    expect(shown(withQuery(further, 'fi'))).toEqual(['Fix the mill', false])
    const lost = withQuery(further, 'fixed')
    expect(shown(lost)).toEqual(['Fix the tide table', true])
    expect(shown(withQuery(lost, 'fix'))).toEqual(['Fix the mill', false])
  })

  test('an empty history has no matches', () => {
    const search = withQuery(begin([], ''), 'a')
    expect([textAt(search), search.isExhausted]).toEqual(['', true])
    expect(older(search)).toMatchObject({ isExhausted: true })
  })
})
