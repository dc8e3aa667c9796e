import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForEach } from '../../test/support/folder.ts'
import { homePaths } from './paths.ts'
import type { HomePaths } from './paths.ts'
import { chooseStore, requireStore, storeNames } from './store-choice.ts'

let root: string
let paths: HomePaths
folderForEach((made) => {
  root = made
  paths = homePaths({ env: { CRIA_HOME: join(root, 'home') }, cwd: root })
  for (const folder of ['a', 'b', 'a/below']) mkdirSync(join(root, folder))
})

const choose = (options: Parameters<typeof chooseStore>[0], config = {}, cwd = root): ReturnType<typeof chooseStore> =>
  chooseStore(options, config, paths, cwd)

test('chooses the named store, else that of the configuration, else the default', () => {
  expect(choose({ store: 'mine' }, { store: 'theirs' }).name).toBe('mine')
  expect(choose({}, { store: 'theirs' }).name).toBe('theirs')
  expect(choose({})).toEqual({
    name: 'default',
    path: join(root, 'home', 'stores', 'default.db'),
    documents: undefined,
    exists: false,
  })
})

test('a set of paths has one store, independent of order and spelling', () => {
  symlinkSync(join(root, 'a'), join(root, 'link'))
  const { name, documents } = choose({ docs: ['a', 'b'] })
  expect(name).toMatch(/^docs-[0-9a-f]{16}$/)
  expect(documents).toEqual([join(root, 'a'), join(root, 'b')])
  for (const same of [
    ['b', 'a'],
    ['./a/', 'b', 'a'],
    ['link', 'b'],
    [join(root, 'a'), 'b'],
  ]) {
    expect(choose({ docs: same }).name).toBe(name)
  }
  expect(choose({ docs: ['../b', '../a'] }, {}, join(root, 'a')).name).toBe(name)
  for (const other of [['a'], ['b'], ['a', 'b', 'a/below']]) expect(choose({ docs: other }).name).not.toBe(name)
})

test('names a path that does not exist', () => {
  expect(() => choose({ docs: ['a', 'gone'] })).toThrow('The path gone does not exist.')
  expect(() => choose({ docs: ['a\0b'] })).toThrow(/NUL/)
})

test('a store and paths exclude each other', () => {
  expect(() => choose({ store: 'x', docs: ['a'] })).toThrow(/exclude each other/)
})

test.each(['../x', 'a/b', '', '.', '..', '-x', 'a b', 'x\0', 'x'.repeat(101), "x'; DROP TABLE chunks; --", 'C:\\x'])(
  '%j is not the name of a store',
  (name) => {
    expect(() => choose({ store: name })).toThrow(/A store is named with/)
  },
)

test('the error for a missing store names the others', () => {
  mkdirSync(paths.stores, { recursive: true })
  for (const file of ['handbook.db', 'notes.db', 'notes.db-wal', `docs-${'0'.repeat(16)}.db`])
    writeFileSync(join(paths.stores, file), '')
  expect(storeNames(paths)).toEqual(['handbook', 'notes'])
  expect(() => requireStore(choose({ store: 'handbok' }), paths)).toThrow(
    /Did you mean "handbook"\? There are: handbook, notes\./,
  )
  expect(() => requireStore(choose({ store: 'notes' }), paths)).not.toThrow()
})
