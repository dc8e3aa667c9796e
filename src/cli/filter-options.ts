/** Turns `--source` and `--filter` into a filter of the documents to search. */

import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { ChunkFilter, FilterTest, FilterValue } from '../core/store.ts'
import { pairOf } from './model-options.ts'
import type { Standpoint } from './sources.ts'

export interface FilterWords {
  readonly source: readonly string[]
  readonly filter: readonly string[]
}

/**
 * Builds a filter from the words; `undefined` when there are none.
 *
 * @param from the folders that relative paths and the sources of the store are relative to.
 * @throws ConfigurationError for a filter that is not `KEY=VALUE`.
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
 * Like `filterOf`, but resolves each `--source` against the store: as a path from here, else as a source name as in `--json`,
 * else as either followed by line or page numbers, as printed below an answer.
 *
 * @param holdsAny resolves to whether the store has a document that passes the filter.
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

/** Returns the note that no document of the store passes the filter. */
export function emptyChoice({ source, filter }: FilterWords): string {
  const names = [...(source.length > 0 ? ['--source'] : []), ...(filter.length > 0 ? ['--filter'] : [])]
  return `no document of the store matches ${names.join(' and ')}.`
}

/** Returns the text and the number, boolean or null it may stand for: metadata of documents is typed, the command line is not. */
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
  // A pattern without `/` matches file names in any folder.
  if (isWild && !path.includes('/')) return [as(path)]
  const names = /^[a-z][a-z\d+.-]*:\/\//i.test(path) ? [path] : namesOf(path, cwd, base)
  return names.flatMap((name) => (isWild ? as(name) : below(name, as, isNegated)))
}

/** Returns the forms in which a store may hold a path: relative to its base folder, or absolute. */
function namesOf(path: string, cwd: string, base: string): string[] {
  const absolute = resolve(cwd, path)
  const inside = relative(base, absolute).split(sep).join('/')
  return inside === '' ? ['**'] : [inside, absolute]
}

/** Matches the file of this name and the files in the folder of this name. A folder above that of the store matches all. */
function below(name: string, as: (glob: string) => FilterTest, isNegated: boolean): FilterTest[] {
  if (/^(?:\.\.\/?)+$/.test(name)) return [as('**')]
  const bare = name.replace(/\/+$/, '')
  // A pattern with a `/` matches the whole path.
  const whole = bare.includes('/') ? bare : `/${bare}`
  return [isNegated ? as(whole) : bare, as(`${bare}/**`)]
}
