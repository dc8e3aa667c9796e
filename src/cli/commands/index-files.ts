/** `cria index`: adds files and pages to a store and updates them when they change. */

import { statSync, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chooseStore, realPaths } from '../../app/store-choice.ts'
import { isAddress } from '../../app/stores.ts'
import type { IndexReport } from '../../app/stores.ts'
import { ConfigurationError, errorFromInfo } from '../../core/error.ts'
import { defined } from '../../util/check.ts'
import { asWrongUsage, defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { printFailure } from '../failure.ts'
import { formatMs, plural, shorten } from '../format.ts'
import { note, printJson } from '../io.ts'
import type { Io } from '../io.ts'
import { indexSummary, indexWithProgress, readConfig, noteSkipped } from '../prepare-store.ts'

export const index: Command = defineCommand({
  name: 'index',
  arguments: [{ name: 'path', about: 'files and folders to read, and URLs of web pages', many: true, required: false }],
  options: {
    store: { type: 'text', value: 'NAME', about: 'the store to add to; created if it does not exist', default: 'default' },
    embed: {
      type: 'text',
      value: 'MODEL',
      about: 'compute vectors with this embedding model, replacing those of another; default: "embed" in config.json',
    },
    site: { type: 'flag', about: 'for a URL: also index the linked pages below its path' },
    'max-pages': { type: 'integer', value: 'N', about: 'maximum pages of a site', default: '200', min: 1, max: 100_000 },
    watch: { type: 'flag', about: 'keep running and index again when a file changes; Ctrl-C stops it' },
    'dry-run': { type: 'flag', about: 'only report what would be done' },
    json: jsonOption(
      '{ store, files, chunks, added, changed, moved, removed, unchanged, skipped: [{ path, reason }], notes?: [{ path, note }], gone?: [{ path, removed }], ms, embeddings? }',
    ),
  },
  excludes: [['watch', 'dry-run']],
  details: `Reads only files that changed since the last run and removes deleted files from the store, even a whole deleted folder if
its path is named again. Skips files that .gitignore names. A file that cannot be read is skipped with a reason; the rest
is indexed. After an interruption the same command continues; only the file that was being read starts over.

Fetches pages one at a time, half a second apart or as robots.txt asks, and only pages that robots.txt allows. Does not follow
links to other hosts. Each run fetches every page again and removes pages that no longer exist from the store.

With an embedding model (openai/…, google/…, ollama/…, openai-compatible/…, local/…) passages are also found by meaning.
A store that has vectors keeps them up to date. Without paths, --embed computes vectors for an existing store.`,
  examples: [
    'cria index docs README.md',
    'cria index ~/handbook --store handbook',
    'cria index docs --watch',
    'cria index https://example.org/api/ --site --store api',
    'cria index docs --embed ollama/nomic-embed-text',
  ],
  async run({ arguments: given, options }, io) {
    const { config, paths } = await readConfig(io)
    const choice = chooseStore({ store: options.store }, config, paths, io.cwd)
    const documents = given.length > 0 ? given : (config.stores?.[choice.name]?.paths ?? [])
    if (documents.length === 0 && !(choice.exists && options.embed !== undefined)) {
      throw new ConfigurationError('No paths to index: cria index <path…>', {
        hint: `Or list the paths of the store under "stores" in config.json: { "stores": { "${choice.name}": { "paths": ["docs"] } } }`,
      })
    }
    const { watch: watches, 'dry-run': dryRun, site, 'max-pages': maxPages } = options
    const files = documents.filter((path) => !isAddress(path))
    if (watches && files.length === 0)
      throw new ConfigurationError('--watch needs files or folders: changes of web pages cannot be watched.')
    const indexing = {
      dryRun,
      home: paths,
      pages: { site, ...defined({ maxPages }) },
      embeddings: { model: options.embed ?? config.embed, replace: options.embed !== undefined, config, env: io.env },
    }
    // A missing path may have been indexed into an existing store, from which it is then removed.
    const named = choice.exists ? documents : [...realPaths(files, io.cwd), ...documents.filter(isAddress)]
    /** Files skipped in the previous round, which are not reported again while watching. */
    let reported: readonly string[] = []
    const report = await indexWithProgress(choice, named, indexing, io).catch(asWrongUsage('not_found'))
    await print(report)
    if (watches) {
      const changes = changesBelow(
        files.map((path) => resolve(io.cwd, path)),
        io.signal,
      )
      await note(io, `watching ${files.join(', ')}; Ctrl-C ends it.`)
      for await (const _ of changes) {
        try {
          const now = await indexWithProgress({ ...choice, exists: true }, files, indexing, io)
          if (now.added + now.changed + now.moved + now.removed > 0) await print(now)
        } catch (thrown) {
          // A folder that is missing for a moment may come back.
          if (!io.signal.aborted) await printFailure(thrown, io)
        }
      }
    }
    // The documents are indexed; the next run continues with their vectors.
    if (report.embeddings !== undefined && 'error' in report.embeddings) throw errorFromInfo(report.embeddings.error)

    async function print(report: IndexReport): Promise<void> {
      await noteRemoved(report, dryRun, io)
      if (options.json) return printJson(io, report)
      const before = reported
      reported = report.skipped.map(({ path, reason }) => `${path}: ${reason}`)
      await noteSkipped({ ...report, skipped: report.skipped.filter((_, at) => !before.includes(reported[at] ?? '')) }, io)
      if (report.files + report.removed === 0 && documents.length > 0) {
        const has = documents.length === 1 ? 'has' : 'have'
        await note(io, `nothing ${dryRun ? 'would be' : 'was'} indexed: ${documents.join(', ')} ${has} no readable files.`)
      }
      await io.stdout.write(`${choice.name}: ${dryRun ? 'would be: ' : ''}${indexSummary(report)} (${formatMs(report.ms)})\n`)
      const embedded = embeddingSummary(report)
      if (embedded !== undefined) await io.stdout.write(`${choice.name}: ${embedded}\n`)
    }
  },
})

const MOST_GONE = 5

/** Reports documents that were removed because a named path no longer exists: it may be a mistake, such as a drive that is not mounted. */
async function noteRemoved({ gone = [] }: IndexReport, dryRun: boolean, io: Io): Promise<void> {
  for (const { path, removed } of gone) {
    if (removed.length === 0) continue
    const named = removed.slice(0, MOST_GONE).map((source) => shorten(source, 200))
    const more = removed.length > MOST_GONE ? ` and ${removed.length - MOST_GONE} more` : ''
    const what = `${plural(removed.length, 'file')} (${named.join(', ')}${more})`
    const where = `${shorten(path, 200)} does not exist any more`
    await note(io, `${where}: its content ${dryRun ? 'would be' : 'is'} removed from the store, ${what}.`)
  }
}

/** Summarises the computed vectors; `undefined` when there are none. */
function embeddingSummary({ embeddings }: IndexReport): string | undefined {
  if (embeddings === undefined || 'error' in embeddings) return undefined
  const { model, embedded, skipped, cut } = embeddings
  if (embedded + skipped === 0) return undefined
  const parts = [`${plural(embedded, 'vector')} of ${model}`]
  if (skipped > 0) parts.push(`${skipped} without`)
  if (cut > 0) parts.push(`${cut} of the beginning of a long text`)
  return parts.join(', ')
}

/** Milliseconds without further changes before a change is reported: many files change at once. */
const QUIET_MS = 200
/** Milliseconds between scans where the system cannot report changes. */
const POLL_MS = 3000
const NOT_INDEXED = /(?:^|[\\/])(?:\.git|node_modules)(?:[\\/]|$)/

/**
 * Watches files and folders. Yields once at the start, for changes made meanwhile, and after each change, until the signal
 * is aborted.
 *
 * @param paths absolute paths.
 */
async function* changesBelow(paths: readonly string[], signal: AbortSignal): AsyncGenerator<void> {
  let changed = 1
  let notify = (): void => {}
  const watchers = paths.map((path) =>
    watcherOf(path, (name) => {
      if (name !== null && NOT_INDEXED.test(name)) return
      changed++
      notify()
    }),
  )
  const polls = watchers.includes(undefined)
  signal.addEventListener('abort', () => notify(), { once: true })
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined)
  try {
    for (let seen = 0; !signal.aborted;) {
      if (polls) await pause(POLL_MS)
      else if (changed === seen) await new Promise<void>((resolve) => void (notify = resolve))
      for (; seen !== changed && !signal.aborted; await pause(QUIET_MS)) seen = changed
      if (!signal.aborted) yield
    }
  } finally {
    for (const watcher of watchers) watcher?.close()
  }
}

/** Starts a watcher; `undefined` if the path does not exist or the system has no watchers left. */
function watcherOf(path: string, onChange: (name: string | null) => void): FSWatcher | undefined {
  try {
    const isFolder = statSync(path).isDirectory()
    // Editors replace a file when they save it, so its folder is watched.
    const watched = isFolder ? watch(path, { recursive: true }) : watch(dirname(path))
    watched.on('change', (_, name) => {
      const changed = typeof name === 'string' ? name : null
      if (isFolder || changed === null || changed === basename(path)) onChange(changed)
    })
    // The watcher of a removed folder ends with an error.
    watched.on('error', () => onChange(null))
    return watched
  } catch {
    return undefined
  }
}
