/** The tool `search_files`: searches the text of files for a regular expression, in a thread. */

import { stat } from 'node:fs/promises'
import { defineTool, inputOf } from '../define-tool.ts'
import type { Tool } from '../../core/tool.ts'
import { orAborted } from '../../util/promise.ts'
import { threadProgram } from '../../util/threads.ts'
import { messageOf } from '../output.ts'
import { problem } from './open-file.ts'
import type { SearchJob, SearchNews } from './search-files-worker.ts'
import { quoted } from './workspace.ts'
import type { Workspace } from './workspace.ts'

const SEARCH_TIME = 20_000
const DEFAULT_LIMIT = 200
const MAX_CHARS = 30_000

/** @param searchTime milliseconds after which a search ends and returns the matches so far. */
export function searchFilesTool(workspace: Workspace, searchTime: number = SEARCH_TIME): Tool {
  return defineTool({
    name: 'search_files',
    description:
      'Searches the text of files for a regular expression, line by line. What .gitignore names, hidden, binary and secret files are left out. Shows "file:line:text".',
    inputSchema: inputOf(
      {
        pattern: { type: 'string', minLength: 1, maxLength: 10_000, description: 'A regular expression (JavaScript).' },
        path: { type: 'string', description: 'Folder or file, relative to the working folder; default the working folder.' },
        glob: {
          anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 50 }],
          description: 'Only files like this: "*.ts"; "!*.test.ts" leaves out.',
        },
        literal: { type: 'boolean', description: 'The pattern is plain text; default false.' },
        ignore_case: { type: 'boolean', description: 'Default false.' },
        hidden: { type: 'boolean', description: 'Also files that begin with a dot; default false.' },
        context: { type: 'integer', minimum: 0, maximum: 20, description: 'Lines around each match; default 0.' },
        show: { enum: ['lines', 'files', 'count'], description: 'Default lines.' },
        limit: { type: 'integer', minimum: 1, maximum: 2000, description: `Matches at most; default ${DEFAULT_LIMIT}.` },
      },
      ['pattern'],
    ),
    isReadOnly: true,
    needsPermission: ({ path = '.' }) => workspace.isSecret(path),
    subjects: ({ path = '.' }) => [workspace.subject(path)],
    resources: ({ path = '.' }) => {
      const key = workspace.key(path)
      return { reads: [key, `${key.replace(/\/$/, '')}/`] }
    },
    title: ({ path, pattern }) => path ?? pattern,
    async call(input, { signal, closedPaths = [] }) {
      const { pattern, path = '.', glob = [], literal = false, ignore_case: ignoreCase = false } = input
      const { hidden = false, context = 0, show = 'lines', limit = DEFAULT_LIMIT } = input
      const { real: start } = await workspace.place(path)
      const found = await stat(start).catch(() => undefined)
      if (found === undefined) throw problem(`There is no file or folder ${quoted(path)}.`)
      const where = { root: workspace.root, start, isFolder: found.isDirectory(), globs: [glob].flat(), hidden, closedPaths }
      return run({ pattern, literal, ignoreCase, context, show, limit, ...where }, signal, searchTime)
    },
  })
}

/** Runs a search in a thread, and terminates the thread in every case. */
async function run(job: SearchJob, signal: AbortSignal, time: number): Promise<string> {
  signal.throwIfAborted()
  const start = await threadProgram(new URL('./search-files-worker.ts', import.meta.url))
  signal.throwIfAborted()
  const worker = start({
    name: 'cria-search-files',
    workerData: job,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const found: string[] = []
  let room = MAX_CHARS
  let matches = 0
  const end = (note: string): void => resolve([...found, note].filter((text) => text !== '').join('\n'))
  const timer = setTimeout(() => {
    end(
      `[Stopped after ${time / 1000} s${matches === 0 ? ' without a match' : ''}: name a folder or a glob, or make the pattern simpler.]`,
    )
  }, time)
  worker.on('message', (news: SearchNews) => {
    if (news.type === 'failed') reject(problem(`The search failed: ${news.message}.`))
    else if (news.type === 'done') end(summary(news, matches, job))
    else {
      room -= news.text.length + 1
      if (room < 0) {
        end('[More is left out: narrow the search down by path, glob or limit.]')
        return
      }
      matches += news.matches
      found.push(news.text)
    }
  })
  worker.on('error', (cause: unknown) => {
    reject(problem(`The search ended early: ${messageOf(cause)}.`, cause))
  })
  worker.on('exit', () => reject(problem('The search ended early.')))
  try {
    return await orAborted(promise, signal)
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}

function summary({ files, skipped, limited }: Extract<SearchNews, { type: 'done' }>, matches: number, job: SearchJob): string {
  if (limited) return `[Stopped at the limit of ${job.limit}: there may be more.]`
  if (matches > 0) return ''
  const left = skipped === 0 ? '' : `; ${skipped} binary or large files were left out`
  return `(no match in ${files} files${left})`
}
