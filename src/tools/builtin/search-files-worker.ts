/** The thread that searches: a pattern that never ends its work holds up nobody but this thread, which can be ended. */

import { parentPort, workerData } from 'node:worker_threads'
import { relative, sep } from 'node:path'
import { decode } from './encoding.ts'
import { globPattern } from './glob-pattern.ts'
import { openFile, readWhole } from './open-file.ts'
import { MAX_SEARCHED_BYTES } from './search-job.ts'
import type { SearchJob, SearchNews } from './search-job.ts'
import { expressionOf, searchText } from './search-text.ts'
import type { TextMatches } from './search-text.ts'
import { isOpenToAll, walkFiles } from './walk-files.ts'

const job = workerData as SearchJob

function tell(news: SearchNews): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  parentPort?.postMessage(news)
}

async function search(): Promise<void> {
  const expression = expressionOf(job.pattern, job)
  let [files, skipped, left] = [0, 0, job.limit]
  for await (const { path, name } of filesToSearch()) {
    const text = await textOf(path, name)
    if (text === undefined) {
      skipped++
      continue
    }
    files++
    const perFile = job.show === 'files' ? 1 : job.show === 'count' ? Infinity : left
    const found = searchText(text, { expression, context: job.show === 'lines' ? job.context : 0, limit: perFile })
    if (found.matches === 0) continue
    tell({ type: 'found', text: described(name, found), matches: found.matches })
    left -= job.show === 'lines' ? found.matches : 1
    if (left <= 0) break
  }
  tell({ type: 'done', files, skipped, limited: left <= 0 })
}

async function* filesToSearch(): AsyncGenerator<{ readonly path: string; readonly name: string }> {
  if (!job.isFolder) {
    yield { path: job.start, name: nameOf(job.start) }
    return
  }
  const globs = job.globs.map(globPattern)
  const wanted = globs.filter(({ negated }) => !negated)
  for await (const entry of walkFiles(job.start, job)) {
    const name = nameOf(entry.path)
    if (!isOpenToAll(entry, name)) continue
    if (wanted.length > 0 && !wanted.some((glob) => glob.matches(name))) continue
    if (globs.some((glob) => glob.negated && glob.matches(name))) continue
    yield { path: entry.path, name }
  }
}

function nameOf(path: string): string {
  return relative(job.root, path).split(sep).join('/')
}

/** `undefined` for what is no text, too large or cannot be read. */
async function textOf(real: string, name: string): Promise<string | undefined> {
  const place = { real, name }
  const file = await openFile(place).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    if (file.size > MAX_SEARCHED_BYTES) return undefined
    return decode(await readWhole(file, place, MAX_SEARCHED_BYTES))?.text
  } catch {
    return undefined
  } finally {
    await file.handle.close()
  }
}

function described(name: string, { lines, matches }: TextMatches): string {
  if (job.show === 'files') return name
  if (job.show === 'count') return `${name}:${matches}`
  let last = 0
  return lines
    .map(({ number, text, isMatch }) => {
      const gap = last !== 0 && number > last + 1 && job.context > 0 ? '--\n' : ''
      last = number
      const mark = isMatch ? ':' : '-'
      return `${gap}${name}${mark}${number}${mark}${text}`
    })
    .join('\n')
}

search().catch((thrown: unknown) => {
  tell({ type: 'failed', message: thrown instanceof Error ? thrown.message : String(thrown) })
})
