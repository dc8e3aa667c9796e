/** Files that tools have read earlier in the session, as they are now. */

import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ContextPiece, ContextSource } from '../../core/injection.ts'
import { readText } from './read-text.ts'
import { realPath, workspaceRoot } from './root.ts'

/** The files that were read last; older ones have had their time. */
const MOST_FILES = 10
/** Names that are looked at to find them. */
const MOST_NAMES = 100

export interface RecentFilesOptions {
  readonly cwd: string
  readonly maxTokens: number
}

/**
 * A file is put in when its present text does not stand in the conversation any more: it has changed, or what the tool told has been
 * shortened since. One that is gone is dropped.
 */
export function recentFilesSource({ cwd, maxTokens }: RecentFilesOptions): ContextSource {
  return {
    name: 'files',
    maxTokens,
    async load({ reads, maxTokens: most }) {
      const folder = realPath(cwd)
      const root = workspaceRoot(folder)
      const pieces: ContextPiece[] = []
      const seen = new Set<string>()
      const told = reads.map(({ result }) => withoutReturns(result))
      for (const { name } of reads.toReversed().slice(0, MOST_NAMES)) {
        const path = pathOf(name, folder)
        const read = path === undefined ? undefined : await readText(path, root, Math.max(1024, most * 8))
        if (read === undefined || 'skipped' in read || seen.has(read.realName)) continue
        seen.add(read.realName)
        if (seen.size > MOST_FILES) break
        if (isToldAlready(read.text, told)) continue
        pieces.unshift({
          title: 'file that was read earlier, as it is now',
          source: read.realName,
          text: read.text,
          ...(read.isCut ? { isCut: true } : {}),
        })
      }
      return pieces
    },
  }
}

/** Names of resources are free: those that are no path of a file lead nowhere. */
function pathOf(name: string, folder: string): string | undefined {
  if (name === '' || name.endsWith('/') || name.includes('\0')) return undefined
  if (!name.startsWith('file:')) return isAbsolute(name) ? name : join(folder, name)
  try {
    return fileURLToPath(name)
  } catch {
    return undefined
  }
}

function isToldAlready(text: string, told: readonly string[]): boolean {
  const lines = withoutReturns(text).trimEnd()
  return told.some((result) => result.includes(lines))
}

function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n')
}
