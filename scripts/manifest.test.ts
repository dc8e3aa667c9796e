/** Checks package.json and package-lock.json: supported Node versions, dependencies, and the files of the package. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './files.ts'
import { brokenLinks } from './links.ts'

type Versions = Record<string, string>
interface Manifest {
  readonly files: readonly string[]
  readonly exports: Record<string, string | Versions>
  readonly dependencies: Versions
  readonly devDependencies: Versions
  readonly allowScripts: Record<string, boolean>
}
interface Lock {
  readonly packages: Record<string, { readonly dev?: boolean; readonly hasInstallScript?: boolean; readonly resolved?: string }>
}

const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
const manifest = read('package.json') as Manifest
const locked = Object.entries((read('package-lock.json') as Lock).packages)

test('versions are pinned exactly', () => {
  const loose = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
  )
  expect(loose).toEqual([])
})

test('the lock file names no registry', () => {
  expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})

test('no package that users install runs a script, and the others that do are approved by name', () => {
  const withScript = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true)
  expect(withScript.filter(([, { dev }]) => dev !== true)).toEqual([])
  expect(withScript.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))).toEqual(
    Object.keys(manifest.allowScripts),
  )
})

test('every file right under src/ is an entry of the package', () => {
  const exported = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [] : [target['cria-source']],
  )
  const entries = globSync('src/*.ts', { cwd: ROOT }).map((path) => `./${path}`)
  expect(entries.filter((path) => !exported.includes(path))).toEqual([])
})

test('pages of the package lead only to files of the package', () => {
  const files = new Set(
    globSync([...manifest.files.filter((path) => !path.startsWith('!')).map((path) => `${path}/**`), 'README.md'], { cwd: ROOT }),
  )
  for (const path of manifest.files) if (path.startsWith('!')) files.delete(path.slice(1))
  const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
  expect(
    globSync('docs/*.md', { cwd: ROOT })
      .filter((page) => files.has(page))
      .flatMap((page) => brokenLinks(page, text(page), files, text)),
  ).toEqual([])
})
