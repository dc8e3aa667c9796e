import { expect, test } from 'vitest'
import { beginSearch, older, textOf, withQuery } from './backward-search.ts'

const ENTRIES = ['Fix the tide table', 'run the tests', 'Fix the mill', 'Fix the mill', 'what is new?']

test('a longer query stays where it fits, a shorter one begins anew, and each repetition goes further back', () => {
  const shown = (search: ReturnType<typeof beginSearch>): [string, boolean] => [textOf(search, ENTRIES), search.isLost]
  const begun = beginSearch(ENTRIES, 'half a tho')
  expect(shown(begun)).toEqual(['half a tho', false])
  const fix = withQuery(begun, ENTRIES, 'fix')
  expect(shown(fix)).toEqual(['Fix the mill', false])
  expect(shown(withQuery(fix, ENTRIES, 'fix the m'))).toEqual(['Fix the mill', false])
  const further = older(fix, ENTRIES)
  expect(shown(further)).toEqual(['Fix the tide table', false])
  expect(shown(older(further, ENTRIES))).toEqual(['Fix the tide table', true])
  expect(shown(withQuery(further, ENTRIES, 'fi'))).toEqual(['Fix the mill', false])
  const lost = withQuery(further, ENTRIES, 'fixed')
  expect(shown(lost)).toEqual(['Fix the tide table', true])
  expect(shown(withQuery(lost, ENTRIES, 'fix'))).toEqual(['Fix the mill', false])
})

test('nothing is found where nothing was typed before', () => {
  const search = withQuery(beginSearch([], ''), [], 'a')
  expect([textOf(search, []), search.isLost]).toEqual(['', true])
  expect(older(search, [])).toMatchObject({ isLost: true })
})
