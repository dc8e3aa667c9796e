/** Reads `--source` and `--filter`: which documents are searched. */

import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { ChunkFilter, FilterTest, FilterValue } from '../core/store.ts'
import { pairOf } from './model-options.ts'
import type { Standpoint } from './sources.ts'

export interface FilterWords {
  readonly source: readonly string[]
  readonly filter: readonly string[]
}

/**
 * Makes a filter of the words; `undefined` when there are none.
 *
 * @param from where relative paths begin, and what the sources of the store are relative to.
 * @throws ConfigurationError for a filter that is no `KEY=VALUE`.
 */
export function filterOf({ source, filter }: FilterWords, from: Standpoint): ChunkFilter | undefined {
  const tests = [
    ...filter.flatMap((word) => {
      const { name: key, value } = pairOf(word, '--filter')
      return valuesOf(value).map((test) => ({ key, test }))
    }),
    ...source.flatMap((word) => pathTests(word, from).map((test) => ({ key: 'source', test }))),
  ]
  const byKey = [...Map.groupBy(tests, ({ key }) => key)].map(([key, of]) => [key, of.map(({ test }) => test)] as const)
  return byKey.length === 0 ? undefined : Object.fromEntries(byKey)
}

/**
 * As `filterOf`, with each `--source` taken for what the store has: a path seen from here, else a name in the store as `--json` tells it,
 * else either with the lines or pages that stand behind a path below an answer.
 *
 * @param holdsAny whether the store has a document that passes.
 */
export async function chosenFilter(
  words: FilterWords,
  from: Standpoint,
  holdsAny: (filter: ChunkFilter) => Promise<boolean>,
): Promise<ChunkFilter | undefined> {
  const source: string[] = []
  for (const word of words.source) source.push(await asMeant(word, from, holdsAny))
  return filterOf({ ...words, source }, from)
}

// `docs/guide.md:12, 40`, `report.pdf, page 3`, `report.pdf, pages 3, 7`.
const BEHIND_PATH = /(?::\d+|, pages? \d+)(?:, \d+)*$/

async function asMeant(word: string, from: Standpoint, holdsAny: (filter: ChunkFilter) => Promise<boolean>): Promise<string> {
  const mark = word.startsWith('!') ? '!' : ''
  const path = word.slice(mark.length)
  const { cwd, base = cwd } = from
  const names = [path, path.replace(BEHIND_PATH, '')].flatMap((name) => [name, ...(isAbsolute(name) ? [] : [`${base}/${name}`])])
  for (const name of new Set(names)) {
    const filter = filterOf({ source: [name], filter: [] }, from)
    if (filter !== undefined && (await holdsAny(filter))) return `${mark}${name}`
  }
  return word
}

/** Says that no document of the store passes. */
export function emptyChoice({ source, filter }: FilterWords): string {
  const names = [...(source.length > 0 ? ['--source'] : []), ...(filter.length > 0 ? ['--filter'] : [])]
  return `no document of the store is one that ${names.join(' and ')} ${names.length > 1 ? 'ask' : 'asks'} for.`
}

/** On a command line everything is text; in a document `1874` may be a number. */
function valuesOf(text: string): FilterValue[] {
  const number = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? [Number(text)] : []
  const word = { true: [true], false: [false], null: [null], '': [null] }[text] ?? []
  return [text, ...number, ...word]
}

const WILD = /[*?[{]/

function pathTests(word: string, { cwd, base = cwd }: Standpoint): FilterTest[] {
  const isNegated = word.startsWith('!')
  const path = isNegated ? word.slice(1) : word
  const as = (glob: string): FilterTest => ({ glob: isNegated ? `!${glob}` : glob })
  const isWild = WILD.test(path)
  // A name, wherever the file lies.
  if (isWild && !path.includes('/')) return [as(path)]
  const names = /^[a-z][a-z\d+.-]*:\/\//i.test(path) ? [path] : namesOf(path, cwd, base)
  return names.flatMap((name) => (isWild ? as(name) : below(name, as, isNegated)))
}

/** A path as it may be kept: relative to the folder of the store, or whole. */
function namesOf(path: string, cwd: string, base: string): string[] {
  const absolute = resolve(cwd, path)
  const inside = relative(base, absolute).split(sep).join('/')
  return inside === '' ? ['**'] : [inside, absolute]
}

/** The file of this name, and the files in the folder of this name. A folder above the one of the store holds all. */
function below(name: string, as: (glob: string) => FilterTest, isNegated: boolean): FilterTest[] {
  if (/^(?:\.\.\/?)+$/.test(name)) return [as('**')]
  const bare = name.replace(/\/+$/, '')
  // With a `/` in it, a pattern is about the whole path.
  const whole = bare.includes('/') ? bare : `/${bare}`
  return [isNegated ? as(whole) : bare, as(`${bare}/**`)]
}
