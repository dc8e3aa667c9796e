/** Checks that adapters of a port are run through the conformance suite of that port: by their name, or by a test in their folder. */

import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { projectFiles, ROOT } from './files.ts'

const SUITES: Readonly<Record<string, string>> = {
  DocumentStore: 'documentStoreSuite',
  Recorder: 'recorderSuite',
  BudgetStore: 'budgetStoreSuite',
  CacheStore: 'cacheStoreSuite',
}

const sources = projectFiles()
  .filter((path) => /^src\/.*\.ts$/.test(path))
  .map((path) => ({ path, folder: posix.dirname(path), text: readFileSync(join(ROOT, path), 'utf8') }))
const tests = sources.filter(({ path, text }) => path.endsWith('.test.ts') && /\w+Suite\(/.test(text))

/** A class that implements a port, or the end of the head of a function that returns one. */
const ADAPTER = /class (?<type>\w+)[^{\n]* implements (?<ports>[^{\n]+)|^.*\): (?<made>[^;{=]+)\{$/gm

const adapters = sources
  .filter(({ path }) => !path.endsWith('.test.ts') && /^src\/(?:stores|recorders|model)\//.test(path))
  .flatMap(({ path, folder, text }) =>
    [...text.matchAll(ADAPTER)].flatMap(({ groups: { type, ports, made } = {} }) =>
      (ports ?? made ?? '').split(/\W+/).flatMap((port) => {
        const suite = SUITES[port]
        return suite === undefined ? [] : [{ folder, name: type ?? path, port, suite }]
      }),
    ),
  )

test('document stores and recorders are found', () => {
  expect(adapters.map(({ port }) => port)).toEqual(expect.arrayContaining(['DocumentStore', 'Recorder']))
})

test.each(adapters)('$name in $folder is run through the suite of $port', ({ folder, name, suite }) => {
  const found = tests.filter((each) => each.folder === folder || (each.text.includes(suite) && each.text.includes(name)))
  expect(found.map(({ path }) => path)).not.toEqual([])
})
