/** Finds the root folder of a project. */

import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Real path of the nearest folder upwards that holds `.git`. */
export function repositoryRoot(cwd: string): string | undefined {
  for (let folder = realPath(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** The repository that `cwd` lies in; outside of one, `cwd` itself. */
export function workspaceRoot(cwd: string): string {
  return repositoryRoot(cwd) ?? realPath(cwd)
}

/** With every link followed; as it is where it does not exist. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
