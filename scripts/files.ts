/** Lists the files of the project: those that git tracks or would track, so without build output and installed packages. */

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Absolute path of the repository. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url))

/** Returns paths relative to the root, with `/`, sorted; tracked files that are deleted on disk are left out. */
export function projectFiles(root: string = ROOT): string[] {
  const listing = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  return listing
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)))
    .toSorted()
}

/** Returns the 1-based line of an offset in a text. */
export function lineOf(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
