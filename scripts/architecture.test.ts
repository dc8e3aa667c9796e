/** Checks what docs/architecture.md and CONTRIBUTING.md say against the project. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectFiles, ROOT } from './files.ts'
import { MAY_IMPORT } from './layers.ts'

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')

function section(heading: string): string {
  return page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
}

function codeSpans(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
}

test('the table of allowed imports in the documentation equals the checked one', () => {
  const rows = section('Who may import whom').matchAll(/^\| (`.*?) \|.*\|(.*)\|$/gm)
  const shown = [...rows].flatMap(([, folders = '', allowed = '']) =>
    codeSpans(folders).map((folder) => [folder, codeSpans(allowed).toSorted()] as const),
  )
  const exists = (folder: string): boolean => existsSync(join(ROOT, 'src', folder))
  const checked = Object.entries(MAY_IMPORT)
    .filter(([folder]) => exists(folder))
    .map(([folder, allowed]) => [folder, allowed.filter(exists).toSorted()] as const)
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(checked))
})

test('the walk of one question takes at most 20 files, which exist', () => {
  const files = [...section('Walk one question').matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path)
  expect(files.length).toBeGreaterThan(10)
  expect(files.length).toBeLessThanOrEqual(20)
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('the source files that pages name in code spans exist', () => {
  const files = projectFiles()
  const named = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((page) => {
      const spans = codeSpans(readFileSync(join(ROOT, page), 'utf8').replaceAll(/```.*?```/gs, ''))
      const paths = spans.filter((span) => /^[\w.-]+\/[\w./-]+\.ts$/.test(span) && !span.includes('NAME'))
      return paths.map((path) => ({ page, path }))
    })
  expect(named.filter(({ page }) => page === 'CONTRIBUTING.md').length).toBeGreaterThan(10)
  expect(named.filter(({ path }) => !files.some((file) => `/${file}`.endsWith(`/${path}`)))).toEqual([])
})
