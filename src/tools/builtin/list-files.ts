/** The tool `list_files`: lists the files and folders below a folder. */

import { stat } from 'node:fs/promises'
import { defineTool } from '../define-tool.ts'
import type { Tool } from '../../core/tool.ts'
import { globPattern, isClosed } from '../../util/glob.ts'
import { problem } from './open-file.ts'
import { shownName, walkFiles } from './walk-files.ts'
import type { Entry } from './walk-files.ts'
import { quoted } from './workspace.ts'
import type { Workspace } from './workspace.ts'

const DEFAULT_LIMIT = 500
const MAX_LIMIT = 5000

export function listFilesTool(workspace: Workspace): Tool {
  return defineTool({
    name: 'list_files',
    description:
      'Lists files and folders below a folder, upper ones first. What .gitignore names, hidden files and installed packages are left out.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Folder, relative to the working folder; default the working folder.' },
        glob: { type: 'string', description: 'Only files like this: "*.ts", "src/**/*.{js,ts}".' },
        depth: { type: 'integer', minimum: 1, description: 'Levels of folders; default all.' },
        hidden: { type: 'boolean', description: 'Also what begins with a dot; default false.' },
        limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, description: `Entries at most; default ${DEFAULT_LIMIT}.` },
      },
      additionalProperties: false,
    },
    isReadOnly: true,
    needsPermission: false,
    subjects: ({ path = '.' }) => [workspace.subject(path)],
    resources: ({ path = '.' }) => ({ reads: [`${workspace.key(path).replace(/\/$/, '')}/`] }),
    title: ({ path, glob }) => path ?? glob,
    maxResultChars: 50_000,
    async call({ path = '.', glob, depth = Infinity, hidden = false, limit = DEFAULT_LIMIT }, { signal, closedPaths = [] }) {
      const { real, name } = await workspace.place(path)
      const found = await stat(real).catch(() => undefined)
      if (found === undefined) throw problem(`There is no folder ${quoted(path)}.`)
      if (!found.isDirectory()) throw problem(`${quoted(path)} is not a folder: use read_file.`)
      const pattern = glob === undefined ? undefined : globPattern(glob)
      const lines: string[] = []
      for await (const entry of walkFiles(real, { hidden, signal })) {
        // Upper levels come first, so all further entries are at least as deep.
        if (entry.name.split('/').length > depth) break
        if (isClosed(entry.path, closedPaths)) continue
        const inRoot = name === '.' ? entry.name : `${name}/${entry.name}`
        if (pattern !== undefined && (entry.kind === 'folder' || pattern.matches(inRoot) === pattern.negated)) continue
        if (lines.length === limit) {
          lines.push(`[More than ${limit} entries: name a folder, a glob or a depth.]`)
          break
        }
        lines.push(lineOf(entry, inRoot))
      }
      return lines.length === 0 ? '(nothing found)' : lines.join('\n')
    },
  })
}

function lineOf({ kind }: Entry, name: string): string {
  const shown = shownName(name)
  return kind === 'folder' ? `${shown}/` : kind === 'link' ? `${shown} (link)` : shown
}
