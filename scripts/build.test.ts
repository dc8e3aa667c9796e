import { expect, test } from 'vitest'
import { renameWorkers } from './build.ts'

test.each([
  [`new URL('./a-worker.ts', import.meta.url)`, `new URL('./a-worker.js', import.meta.url)`],
  [`new URL("../x/a.ts",\n  import.meta.url)`, `new URL("../x/a.js", import.meta.url)`],
  [`new URL('a.ts', import.meta.url)`, `new URL('a.js', import.meta.url)`],
  [`new URL('./data.json', import.meta.url)`, `new URL('./data.json', import.meta.url)`],
  [`new URL('./a.ts', base)`, `new URL('./a.ts', base)`],
])('%s', (source, built) => {
  expect(renameWorkers(source)).toBe(built)
})

test('a bundle may put workers elsewhere', () => {
  expect(renameWorkers(`new URL('../x/a.ts', import.meta.url)`, (specifier) => specifier.toUpperCase())).toBe(
    `new URL('../X/A', import.meta.url)`,
  )
})
