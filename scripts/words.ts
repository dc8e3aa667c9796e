/**
 * Checks that committed files do not name the machine they were written on: no absolute paths of a checkout, no registry
 * hosts, no workplace names.
 *
 *     npm run words
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lineOf, projectFiles, ROOT } from './files.ts'

interface Forbidden {
  readonly pattern: RegExp
  readonly why: string
}

/** Matches the start of a word, before an absolute path. */
const START = String.raw`(?<![\w./~-])(?:file://)?`

const FORBIDDEN: readonly Forbidden[] = [
  {
    pattern: new RegExp(`${START}/(work|root|workspace|Users)/`),
    why: 'a path of one machine: write it relative to the repository',
  },
  { pattern: new RegExp(`${START}/tmp/(brief|house|bash_jobs)`), why: 'a path of one machine: use os.tmpdir()' },
  {
    pattern:
      /\b(registry\.(npmjs|yarnpkg)|npm\.pkg\.github|(deb|security)\.debian|repo1?\.maven|proxy\.golang|files\.pythonhosted|static\.crates)\./i,
    why: 'a registry: its client knows the address',
  },
  { pattern: /\bpypi\.org\b/i, why: 'a registry: its client knows the address' },
  {
    pattern: /\bCEO\b|\bworkplace\b|\bsealed\.bin\b|\bsub-?agents? (did|wrote|made)\b/i,
    why: 'says who worked here and how, not what the project is',
  },
]

/** Returns a line `file:line  match  reason` for each forbidden pattern that the text matches. */
export function forbiddenWords(file: string, text: string): string[] {
  return FORBIDDEN.flatMap(({ pattern, why }) => {
    const match = pattern.exec(text)
    return match === null ? [] : [`${file}:${lineOf(text, match.index)}  ${match[0]}  ${why}`]
  })
}

if (import.meta.main) {
  // This file and its test contain the forbidden patterns.
  const files = projectFiles().filter((path) => !/^scripts\/words(\.test)?\.ts$/.test(path))
  const found = files.flatMap((path) => {
    const content = readFileSync(join(ROOT, path))
    return content.includes(0) ? [] : forbiddenWords(path, content.toString('utf8'))
  })
  for (const problem of found) console.error(problem)
  console.log(`${files.length} files, ${found.length} with words that do not belong there`)
  if (found.length > 0) process.exitCode = 1
}
