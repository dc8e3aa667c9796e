/** Suites test the capabilities that an adapter claims, and name the others. */

import { expect, test } from 'vitest'
import { MemoryDocumentStore } from '../index.ts'
import { documentStoreSuite, recorderSuite, STORE_CAPABILITIES } from '../testing.ts'
import type { RecorderCapability, Runner, StoreCapability } from '../testing.ts'

interface Defined {
  readonly suites: string[]
  readonly tests: Map<string, () => Promise<void>>
}

function defined(define: (runner: Runner) => void): Defined {
  const found: Defined = { suites: [], tests: new Map() }
  define({
    describe: (name, within) => {
      found.suites.push(name)
      within()
    },
    it: (title, run) => void found.tests.set(title, run),
  })
  return found
}

const storeSuite = (claims?: readonly StoreCapability[], without?: 'around'): Defined =>
  defined((runner) => {
    const open = (): MemoryDocumentStore => {
      const store = new MemoryDocumentStore()
      return without === undefined ? store : Object.defineProperty(store, without, { value: undefined })
    }
    const create = (): Parameters<typeof documentStoreSuite>[1] extends () => infer Made ? Made : never => ({
      open,
      forgets: true,
      remove: () => {},
    })
    documentStoreSuite('mine', create, runner, claims === undefined ? {} : { claims })
  })

test('CORE-STORE-001 the suite tests the capabilities that a store claims, and its title names the others', () => {
  const all = storeSuite()
  const some = storeSuite(STORE_CAPABILITIES.filter((each) => each !== 'patterns' && each !== 'word-forms'))
  expect(all.suites).toEqual(['mine'])
  expect(some.suites).toEqual(['mine (does not claim patterns, word-forms)'])
  const left = [...all.tests.keys()].filter((title) => !some.tests.has(title))
  expect(left).toEqual([
    'finds other forms of a word, misspellings, parts of names, and scripts without spaces',
    'filters may contain patterns, whose other characters are literal',
    'path filters accept shell glob patterns',
  ])
})

test('a false claim fails', async () => {
  const { tests } = storeSuite(undefined, 'around')
  const [, run] = [...tests].find(([title]) => title.startsWith('around')) ?? []
  await expect(run?.()).rejects.toThrow('it has no method `around`')
})

test('the suite tests the capabilities that a recorder claims, and refuses unknown capabilities', () => {
  const suite = (claims?: readonly RecorderCapability[]): Defined =>
    defined((runner) => recorderSuite('mine', () => Promise.reject(new Error('not run')), runner, claims && { claims }))
  expect(suite().suites).toEqual(expect.arrayContaining(['searches', 'upkeep', 'budgets', 'answers', 'users and tags']))
  const none = suite([])
  expect(none.suites[0]).toBe('mine (does not claim search, users, follow, upkeep, budgets, answers)')
  for (const name of ['searches', 'upkeep', 'budgets', 'answers', 'users and tags']) expect(none.suites).not.toContain(name)
  expect(suite(['budgets']).tests.has('users and tags are counted by day, over all of their sessions')).toBe(false)
  expect(() => suite(['flying' as never])).toThrow(/no capability "flying".*search, users/)
})
