import { describe, expect, test } from 'vitest'
import { readModule, type Module } from './imports.ts'
import { violations } from './layers.ts'

function rulesBroken(files: Record<string, string>, packages: string[] = []): string[] {
  const modules = new Map<string, Module>(Object.entries(files).map(([path, text]) => [path, readModule(path, text)]))
  return violations({ modules, packages: new Set(packages) }).map(({ file, line, rule }) => `${file}:${line} ${rule}`)
}

describe('who may import whom', () => {
  test.each([
    ['src/prepare/a.ts', '../core/x.ts'],
    ['src/prepare/a.ts', './b.ts'],
    ['src/prepare/a.ts', 'node:fs'],
    ['src/engine/a.ts', '../tools/x.ts'],
    ['src/app/a.ts', '../stores/x.ts'],
    ['src/cli/a.ts', '../server/x.ts'],
    ['src/cli/a.ts', '../eval/port.ts'],
    ['src/eval/a.ts', './x.ts'],
    ['src/index.ts', './app/query.ts'],
    ['src/stores/a.ts', 'mammoth'],
  ])('%s may import %s', (file, specifier) => {
    expect(rulesBroken({ [file]: `export { x } from '${specifier}'` })).toEqual([])
  })

  test.each([
    ['src/core/a.ts', 'node:crypto', 'core imports nothing, neither packages nor node: modules'],
    ['src/core/a.ts', '../util/x.ts', 'core imports nothing of ours'],
    ['src/util/a.ts', '../core/x.ts', 'util imports nothing of ours'],
    ['src/prepare/a.ts', '../model/x.ts', 'prepare may import core, text, util'],
    ['src/stores/sqlite/a.ts', '../../recorders/x.ts', 'stores may import core, text, util'],
    ['src/providers/a.ts', '../engine/x.ts', 'providers may import core, text, util'],
    ['src/citations/a.ts', '../prepare/x.ts', 'citations may import core, text, util'],
    ['src/bots/a.ts', '../stores/x.ts', 'bots may import app, engine, core, text, util'],
    ['src/server/a.ts', '../cli/x.ts', 'server may import bots, app, engine, core, text, util'],
    ['src/cli/a.ts', '../eval/x.ts', 'other folders import src/eval/port.ts, which lists the names'],
    [
      'src/app/a.ts',
      '../eval/port.ts',
      'app may import engine, prepare, model, tools, citations, providers, stores, recorders, core, text, util',
    ],
    ['src/eval/a.ts', '../stores/x.ts', 'eval may import core, util'],
    ['src/bots/a.ts', '../index.ts', 'nothing imports an entry: import what it re-exports'],
    ['src/tools/a.ts', './b.test.ts', 'shipped code imports no tests'],
    ['src/tools/a.ts', '../../test/x.ts', 'shipped code imports no tests'],
    ['src/tools/a.ts', '../../scripts/x.ts', 'code under src/ imports nothing outside it'],
    ['src/tools/a.ts', 'left-pad/x', 'not among the dependencies or peerDependencies of package.json'],
    ['src/tools/a.ts', 'markdansi', 'markdansi may be imported under src/cli/ only: it is part of that bundle'],
    ['src/tools/a.ts', '@ai-sdk/provider', 'of @ai-sdk/provider only types may be imported: it is not installed'],
    ['src/tools/a.ts', 'fs', 'write node:fs'],
    ['src/misc/a.ts', './x.ts', 'src/misc is not in the table of scripts/layers.ts'],
  ])('%s may not import %s', (file, specifier, rule) => {
    expect(rulesBroken({ [file]: `\nexport { x } from '${specifier}'` })).toEqual([
      `${file}:${rule.includes('not in the table') ? 1 : 2} ${rule}`,
    ])
  })

  test.each([
    `import type { A } from '../model/x.ts'`,
    `import '../model/x.ts'`,
    `export type { A } from '../model/x.ts'`,
    `export const lazy = () => import('../model/x.ts')`,
    `export type A = import('../model/x.ts').A`,
    `export const worker = new URL('../model/x.ts', import.meta.url)`,
  ])('every way to import counts: %s', (text) => {
    expect(rulesBroken({ 'src/prepare/a.ts': text })).toEqual(['src/prepare/a.ts:1 prepare may import core, text, util'])
  })

  test('words in strings and comments are not imports', () => {
    expect(
      rulesBroken({ 'src/core/a.ts': `// import x from '../model/x.ts'\nexport const a = "import('../model/x.ts')"` }),
    ).toEqual([])
  })

  test('packages are known by their name, scoped or not', () => {
    const text = `export { a } from '@scope/name/deep'\nexport { b } from 'name/deep'`
    expect(rulesBroken({ 'src/tools/a.ts': text }, ['@scope/name', 'name'])).toEqual([])
  })
})

describe('entries', () => {
  test('an entry may not contain code', () => {
    expect(rulesBroken({ 'src/index.ts': 'export const a = 1' })).toEqual([
      'src/index.ts:1 an entry only names what it re-exports: `export { … } from`',
    ])
  })

  test('names are listed one by one', () => {
    expect(rulesBroken({ 'src/tools/a.ts': `export * from './b.ts'` })).toEqual([
      'src/tools/a.ts:1 `export *` hides what is exported: list the names',
    ])
  })
})

describe('cycles', () => {
  test('a circle is reported once, at the import that closes it', () => {
    const files = {
      'src/core/a.ts': `import type { B } from './b.ts'`,
      'src/core/b.ts': `\nimport type { C } from './c.ts'`,
      'src/core/c.ts': `\n\nimport type { A } from './a.ts'`,
    }
    expect(rulesBroken(files)).toEqual([
      'src/core/c.ts:3 import cycle: src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts',
    ])
  })

  test('two ways to the same file are no circle', () => {
    const files = {
      'src/core/a.ts': `import './b.ts'\nimport './c.ts'`,
      'src/core/b.ts': `import './c.ts'`,
      'src/core/c.ts': '',
    }
    expect(rulesBroken(files)).toEqual([])
  })
})

describe('start paths', () => {
  const files = {
    'src/cli/main.ts': `import './run.ts'`,
    'src/cli/run.ts': `import type { Z } from 'zod'\nexport const open = () => import('./heavy.ts')`,
    'src/cli/heavy.ts': `import { z } from 'zod'`,
  }

  test('types and lazy imports cost nothing at the start', () => {
    expect(rulesBroken(files, ['zod'])).toEqual([])
  })

  test('a package on the static path is reported where it is imported', () => {
    expect(rulesBroken({ ...files, 'src/cli/run.ts': `import './heavy.ts'` }, ['zod'])).toEqual([
      'src/cli/heavy.ts:1 loaded at every start: use `await import()` where it is needed',
    ])
  })
})
