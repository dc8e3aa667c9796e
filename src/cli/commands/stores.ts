/** Declares `cria stores`, which lists, shows and removes document stores. */

import { homePaths } from '../../app/paths.ts'
import { chooseStore, isDerived, listStores, readStore, requireStore } from '../../app/store-choice.ts'
import type { StoreChoice, StoreFacts } from '../../app/store-choice.ts'
import { removeStore } from '../../app/stores.ts'
import { CriaError } from '../../core/error.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { formatBytes, formatTime, plural, shorten, tableOver } from '../format.ts'
import { visibleLine } from '../../util/terminal.ts'
import { note, printJson, roomOf, printLargeJson } from '../io.ts'
import type { Io } from '../io.ts'
import { readConfig } from '../prepare-store.ts'
import { rowsOf } from '../../util/cells.ts'

const NAME = { name: 'name', about: 'name of a store, as "cria stores list" shows it', offers: 'stores' } as const
const MOST_DOCUMENTS = 3

export const storesList: Command = defineCommand({
  name: 'stores list',
  options: { json: jsonOption('{ stores: [{ name, path, bytes, changedAt, files, chunks, documents, embeddings, problem? }] }') },
  details: `A store named docs-… holds the index of the paths of --docs. If removed, it is rebuilt when --docs names the same paths again.`,
  examples: ['cria stores list', 'cria stores list --json'],
  async run({ options }, io) {
    const stores = await listStores(homePaths(io))
    if (options.json) await printJson(io, { stores })
    else if (stores.length === 0) await note(io, 'there are no stores yet: cria index <path…> makes one.')
    else await io.stdout.writeRaw(listed(stores, roomOf(io.stdout)))
  },
})

export const storesShow: Command = defineCommand({
  name: 'stores show',
  arguments: [NAME],
  options: { json: jsonOption('{ store: { name, … }, sources: [{ source, chunks }] }') },
  examples: ['cria stores show default', 'cria stores show handbook --json'],
  async run({ arguments: [name = ''], options }, io) {
    const { facts, sources } = await readStore(await namedStore(name, io))
    if (facts.problem !== undefined) throw new CriaError('store_failed', facts.problem)
    if (options.json) return printLargeJson(io, { store: facts, sources })
    const lines: (readonly [string, string])[] = [
      ['store', facts.name],
      ['file', `${facts.path} (${formatBytes(facts.bytes)})`],
      ['changed', formatTime(facts.changedAt)],
      ['holds', `${plural(facts.files, 'file')}, ${plural(facts.chunks, 'chunk')}`],
      ['vectors', facts.embeddings ?? '–'],
      ...facts.documents.map((path, index) => [index === 0 ? 'indexed' : '', path] as const),
      ['', ''],
      ['chunks', 'document'],
      ...sources.map(({ source, chunks }) => [String(chunks), source] as const),
    ]
    const room = roomOf(io.stdout)
    const rows = lines.flatMap(([name, value]) => hung(name.padEnd(LABEL), value, room))
    await io.stdout.writeRaw(rows.map((row) => `${row}\n`).join(''))
  },
})

export const storesRemove: Command = defineCommand({
  name: 'stores remove',
  arguments: [NAME],
  options: { json: jsonOption('{ name, path, files, chunks }') },
  details: 'Removes the index with its vectors. The documents themselves are kept.',
  examples: ['cria stores remove handbook'],
  async run({ arguments: [name = ''], options }, io) {
    const choice = await namedStore(name, io)
    const { facts } = await readStore(choice)
    removeStore(choice)
    const { path, files, chunks } = facts
    if (options.json) await printJson(io, { name, path, files, chunks })
    else await note(io, `removed ${name}: ${plural(files, 'file')}, ${plural(chunks, 'chunk')}, ${formatBytes(facts.bytes)}.`)
  },
})

/** @throws ConfigurationError when the store does not exist. */
async function namedStore(name: string, io: Io): Promise<StoreChoice> {
  const { config, paths } = await readConfig(io)
  const choice = chooseStore({ store: name }, config, paths, io.cwd)
  requireStore(choice, paths, '"cria stores list" lists the stores.')
  return choice
}

/** Width of the labels of `stores show`, in cells. */
const LABEL = 9
const INDENT = 4

/** Lists each store on one line, with its indexed paths below; long paths break only at the end of a row. */
function listed(stores: readonly StoreFacts[], room: number): string {
  const rows = stores.map(({ name, files, chunks, bytes, changedAt, problem }) => {
    const counts = problem === undefined ? [plural(files, 'file'), plural(chunks, 'chunk')] : ['–', '–']
    return [shorten(name, 24), ...counts, formatBytes(bytes), formatTime(changedAt).slice(0, 10)]
  })
  const below = stores.map(({ name, documents, problem }) => {
    const left = documents.length - MOST_DOCUMENTS
    const from = documents.slice(0, MOST_DOCUMENTS).map((path) => `${isDerived(name) ? '--docs ' : ''}${path}`)
    const texts = problem === undefined ? [...from, ...(left > 0 ? [`and ${left} more`] : [])] : [problem]
    return texts.flatMap((text) => hung(' '.repeat(INDENT), text, room))
  })
  return tableOver(rows, below, [1, 2, 3])
}

/** Puts escaped text after a label; further rows of long text are indented to the same column. */
function hung(label: string, text: string, room: number): readonly string[] {
  const shown = visibleLine(text)
  const rows = room === Infinity ? [shown] : rowsOf(shown, Math.max(20, room - label.length - 1))
  return rows.map((row, index) => `${index === 0 ? label : ' '.repeat(label.length)}${row}`.trimEnd())
}
