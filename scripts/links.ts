/**
 * Checks that every relative link in Markdown files leads to a file of the project, and every `#anchor` to a heading in it.
 *
 *     npm run links
 */

import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { projectFiles, ROOT } from './files.ts'

export interface Link {
  readonly line: number
  readonly target: string
}

const FENCED = /^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ *\2[`~]*$/gm
const INLINE_CODE = /(`+)[^`\n]+\1/g

/** Replaces every character except line breaks with a space. */
function blank(code: string): string {
  return code.replaceAll(/[^\n]/g, ' ')
}

/** Matches inline links, images and reference definitions. */
export function readLinks(text: string): Link[] {
  return text
    .replaceAll(FENCED, blank)
    .replaceAll(INLINE_CODE, blank)
    .split('\n')
    .flatMap((content, index) =>
      [...content.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s+<?([^\s>]+)/g)].map((match) => ({
        line: index + 1,
        target: match[1] ?? match[2] ?? '',
      })),
    )
}

/** Returns the anchors of a page's headings, as GitHub generates them: lower case, without punctuation, repetitions numbered. */
export function anchors(text: string): Set<string> {
  const found = new Set<string>()
  for (const [, heading = ''] of text.replaceAll(FENCED, blank).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    let name = slug
    for (let copy = 1; found.has(name); copy += 1) name = `${slug}-${copy}`
    found.add(name)
  }
  return found
}

/** Finds broken links. @param read returns the text of a project file, or `undefined`; a folder exists if a file lies in it. */
export function brokenLinks(file: string, text: string, files: ReadonlySet<string>, read: (path: string) => string): string[] {
  const broken: string[] = []
  for (const { line, target } of readLinks(text)) {
    if (/^[a-z][a-z+.-]*:|^\/\//i.test(target)) continue
    const [path = '', anchor] = decodeURI(target).split('#')
    const found = path === '' ? file : normalize(join(dirname(file), path)).replace(/\/$/, '')
    if (found !== '.' && !files.has(found) && ![...files].some((other) => other.startsWith(`${found}/`))) {
      broken.push(`${file}:${line}  ${target}  there is no ${found}`)
    } else if (anchor !== undefined && anchor !== '' && found.endsWith('.md') && !anchors(read(found)).has(anchor)) {
      broken.push(`${file}:${line}  ${target}  ${found} has no heading #${anchor}`)
    }
  }
  return broken
}

if (import.meta.main) {
  const files = new Set(projectFiles())
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
  const pages = [...files].filter((path) => path.endsWith('.md'))
  const broken = pages.flatMap((path) => brokenLinks(path, read(path), files, read))
  for (const problem of broken) console.error(problem)
  console.log(`${pages.length} pages, ${broken.length} broken links`)
  if (broken.length > 0) process.exitCode = 1
}
