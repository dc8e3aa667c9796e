import { openStore, sourceBase } from '../../app/stores.ts'
import { ConfigurationError } from '../../core/error.ts'
import type { ScoredChunk } from '../../core/store.ts'
import { visibleLine } from '../../util/terminal.ts'
import { defineCommand } from '../command.ts'
import type { Command } from '../command.ts'
import { shorten } from '../format.ts'
import { note, toJsonLine } from '../io.ts'
import type { Channel } from '../io.ts'
import { readText } from '../read-text.ts'
import { placeOf } from '../sources.ts'
import type { Standpoint } from '../sources.ts'
import { prepareStore, readConfig } from '../prepare-store.ts'
import { STORE_OPTIONS } from '../store-options.ts'

const DEFAULT_RESULTS = 10

export const retrieve: Command = defineCommand({
  name: 'retrieve',
  arguments: [{ name: 'query', about: 'what to look for, as plain words; "-" reads it from standard input' }],
  options: {
    ...STORE_OPTIONS,
    results: {
      type: 'integer',
      short: 'n',
      value: 'N',
      about: 'chunks at most',
      default: String(DEFAULT_RESULTS),
      min: 1,
      max: 10_000,
    },
    json: { type: 'flag', about: 'print one JSON object: { query, chunks: [{ id, source, start, end, score, text }] }' },
  },
  details: 'The best chunks come first. Nothing in the query is an operator.',
  examples: ['cria retrieve "how is compaction triggered"', 'cria retrieve compaction --docs docs -n 3 --json'],
  async run({ arguments: [word = ''], options }, io) {
    const query = await readText(word, 'query', io)
    const choice = await prepareStore(options, await readConfig(io), io)
    if (choice === undefined)
      throw new ConfigurationError('There is no store yet.', {
        hint: 'Make one: cria index <path…>, or name documents: --docs PATH',
      })
    const store = await openStore(choice)
    try {
      const chunks = await store.search(query, { limit: options.results ?? DEFAULT_RESULTS, signal: io.signal })
      if (options.json) {
        const shown = chunks.map(({ id, source, start, end, score, text }) => ({ id, source, start, end, score, text }))
        await io.stdout.write(toJsonLine({ query, chunks: shown }))
      } else if (chunks.length === 0) {
        await note(io, 'nothing was found.')
      } else {
        const from = { cwd: io.cwd, base: await sourceBase(store) }
        for (const [index, chunk] of chunks.entries()) await io.stdout.writeRaw(describe(chunk, index + 1, io.stdout, from))
      }
      return 0
    } finally {
      await store.close()
    }
  },
})

function describe(chunk: ScoredChunk, rank: number, out: Channel, from: Standpoint): string {
  const place = visibleLine(placeOf(chunk.source, chunk.lines, from))
  const score = out.style('dim', chunk.score.toPrecision(4))
  return `${String(rank).padStart(2)}  ${out.style('bold', place)}  ${score}\n    ${shorten(chunk.text.replaceAll(/\s+/g, ' '), 240)}\n`
}
