import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { inAscii, renameWorkers } from './build.ts'

test.each([
  [`new URL('./a-worker.ts', import.meta.url)`, `new URL('./a-worker.js', import.meta.url)`],
  [`new URL("../x/a.ts",\n  import.meta.url)`, `new URL("../x/a.js", import.meta.url)`],
  [`new URL('a.ts', import.meta.url)`, `new URL('a.js', import.meta.url)`],
  [`new URL('./data.json', import.meta.url)`, `new URL('./data.json', import.meta.url)`],
  [`new URL('./a.ts', base)`, `new URL('./a.ts', base)`],
])('%s', (source, built) => {
  expect(renameWorkers(source)).toBe(built)
})

test('a bundle may place workers in another folder', () => {
  expect(renameWorkers(`new URL('../x/a.ts', import.meta.url)`, (specifier) => specifier.toUpperCase())).toBe(
    `new URL('../X/A', import.meta.url)`,
  )
})

test.each([
  ['a string', `'“é” 不 😀'`],
  ['a template', '`–${1}…`'],
  ['a pattern', `/^[é😀-😂]+$/u.exec('é😁')[0]`],
  ['a pattern out of raw text', "new RegExp(String.raw`[‘’]\\w`).exec('’a')[0]"],
])('%s means the same in ASCII', (_, code) => {
  const run = (source: string): unknown => new Script(source).runInNewContext()
  const escaped = inAscii(code)
  expect(escaped).toMatch(/^[\0-\x7f]*$/)
  expect(run(escaped)).toBe(run(code))
})
