/** Declares `cria retrieve`, which prints the chunks found for a query. */

import { excerptOf } from '../../app/excerpt.ts'
import { openStore, sourceBase } from '../../app/stores.ts'
import { pageAt } from '../../core/store.ts'
import type { ScoredChunk } from '../../core/store.ts'
import { defined } from '../../util/check.ts'
import { visibleLine } from '../../util/terminal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { chosenFilter, emptyChoice } from '../filter-options.ts'
import { broken, note, printJson } from '../io.ts'
import type { Channel } from '../io.ts'
import { readText } from '../read-text.ts'
import { pathTo, placeOf } from '../sources.ts'
import type { Spot, Standpoint } from '../sources.ts'
import { noDefaultStore, prepareStore, readConfig } from '../prepare-store.ts'
import { pick } from '../shared-options.ts'

/** Maximum characters of a chunk to show. */
const EXCERPT = 240

export const retrieve: Command = defineCommand({
  name: 'retrieve',
  arguments: [{ name: 'query', about: 'the words to search for; "-" reads them from standard input' }],
  options: {
    ...pick(['store', 'docs', 'source', 'filter']),
    results: { type: 'integer', short: 'n', value: 'N', about: 'maximum number of chunks', default: 10, min: 1, max: 10_000 },
    json: jsonOption('{ query, chunks: [{ id, source, path?, start, end, score, text }] }'),
  },
  details: `Prints the best chunks first. The query has no operators.
In --json "source" is the name of the document in the store, "path" the path of its file from here.`,
  examples: [
    'cria retrieve "how is compaction triggered"',
    'cria retrieve compaction --docs docs -n 3 --json',
    'cria retrieve "error codes" --source "docs/api/**" --filter status=final',
  ],
  async run({ arguments: [word = ''], options }, io) {
    const query = await readText(word, 'query', io)
    const loaded = await readConfig(io)
    const choice = await prepareStore(options, loaded, io)
    if (choice === undefined)
      throw noDefaultStore(loaded.paths, {
        message: 'There is no store yet.',
        hint: 'Make one with cria index <path…>, or name documents with --docs PATH.',
      })
    const store = await openStore(choice)
    try {
      const from = { cwd: io.cwd, base: await sourceBase(store) }
      const filter = await chosenFilter(options, from, (tried) => store.holdsAny(tried))
      const chunks = await store.search(query, { limit: options.results, signal: io.signal, ...defined({ filter }) })
      if (chunks.notice !== undefined) await note(io, chunks.notice.message)
      const isNoneChosen = chunks.length === 0 && filter !== undefined && !(await store.holdsAny(filter))
      if (isNoneChosen) await note(io, emptyChoice(options))
      if (options.json) {
        const shown = chunks.map(({ id, source, start, end, score, text }) => {
          const path = pathTo(source, from)
          return { id, source, ...(path === undefined ? {} : { path }), start, end, score, text }
        })
        return await printJson(io, { query, chunks: shown })
      }
      if (chunks.length === 0 && !isNoneChosen) await note(io, 'nothing was found.')
      for (const [index, chunk] of chunks.entries()) {
        const shown = `${String(index + 1).padStart(2)}  ${describe(chunk, query, from, io.stdout)}`
        await io.stdout.writeRaw(await broken(shown, io.stdout))
      }
    } finally {
      await store.close()
    }
  },
})

/** Formats a chunk: its place, its score and an excerpt around the words of the query. */
function describe(chunk: ScoredChunk, query: string, from: Standpoint, out: Channel): string {
  const { text, source, lines, score } = chunk
  const { start, end } = excerptOf(text, query, EXCERPT)
  const linesBefore = text.slice(0, start).split(/\r\n|\r|\n/).length - 1
  const spot: Spot = lines === undefined ? { page: pageAt(chunk, start) } : { lines: [lines[0] + linesBefore, lines[1]] }
  const place = visibleLine(placeOf(source, spot, from))
  const excerpt = `${start > 0 ? '…' : ''}${text.slice(start, end).replaceAll(/\s+/g, ' ')}${end < text.length ? '…' : ''}`
  const points = out.style('dim', score.toPrecision(4))
  return `${out.style('bold', place)}  ${points}\n    ${visibleLine(excerpt)}\n`
}
