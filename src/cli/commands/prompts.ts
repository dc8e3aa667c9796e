/** `cria prompts`: lists the prompt versions in the journal with their use, and compares two versions. */

import { openJournalToRead } from '../../app/journal.ts'
import { CriaError } from '../../core/error.ts'
import type { PromptStats } from '../../core/recorder.ts'
import { unifiedDiff } from '../../util/line-diff.ts'
import { visibleText } from '../../util/terminal.ts'
import { defineCommand, jsonOption } from '../command.ts'
import type { Command } from '../command.ts'
import { formatCost, formatTime, printTable, quoted, shorten } from '../format.ts'
import { note, printJson } from '../io.ts'
import type { Io } from '../io.ts'

const VERSION = 'version number, or the first characters of its hash'

export const promptsList: Command = defineCommand({
  name: 'prompts list',
  options: { json: jsonOption('{ prompts: [{ name, version, hash, turns, costUsd, ratings, … }] }') },
  details: `A prompt made with prompt('name', template) is listed under that name, a plain system prompt under the name of its bot.
Another template under the same name is another version; the list shows the newest. Unknown cost and tokens are left out of the sums.`,
  examples: ['cria prompts list', 'cria prompts list --json'],
  async run({ options }, io) {
    const prompts = await statsOf(io)
    if (options.json) return printJson(io, { prompts })
    if (prompts.length === 0) return note(io, 'no prompts are recorded yet.')
    const newest = prompts.filter(({ name }, index) => prompts[index + 1]?.name !== name)
    const rows = newest.map((each) => [shorten(each.name, 40), ...cells(each)])
    const right = RIGHT.map((column) => column + 1)
    await printTable(io, [['prompt', ...COLUMNS], ...rows], right)
  },
})

export const promptsShow: Command = defineCommand({
  name: 'prompts show',
  arguments: [
    { name: 'name', about: 'name of a prompt' },
    { name: 'version', about: `${VERSION}; default the newest`, required: false },
  ],
  options: { json: jsonOption('{ name, versions: [{ version, hash, template, turns, … }] }') },
  examples: ['cria prompts show review', 'cria prompts show review 2'],
  async run({ arguments: [name = '', wanted], options }, io) {
    const versions = await versionsOf(io, name)
    const shown = find(versions, wanted)
    const listed = wanted === undefined ? versions : [shown]
    if (options.json) return printJson(io, { name, versions: listed })
    await printTable(io, [COLUMNS, ...listed.map(cells)], RIGHT)
    await io.stdout.writeRaw(`\n${io.stdout.style('bold', `v${shown.version}`)}\n${visibleText(textOf(shown))}\n`)
  },
})

export const promptsDiff: Command = defineCommand({
  name: 'prompts diff',
  arguments: [
    { name: 'name', about: 'name of a prompt' },
    { name: 'from', about: `${VERSION}; default the one before the newest`, required: false },
    { name: 'to', about: `${VERSION}; default the newest`, required: false },
  ],
  options: { json: jsonOption('{ name, from, to, diff }') },
  examples: ['cria prompts diff review', 'cria prompts diff review 1 3'],
  async run({ arguments: [name = '', first, second], options }, io) {
    const versions = await versionsOf(io, name)
    if (versions.length < 2)
      throw new CriaError('not_found', `The prompt ${quoted(name, 100)} has one version: there is nothing to compare.`)
    const to = find(versions, second)
    const from = first === undefined ? (versions[versions.indexOf(to) - 1] ?? to) : find(versions, first)
    const [before, after] = [from, to].map((version) => textOf(version).replace(/\n?$/, '\n'))
    const [, , ...hunks] = unifiedDiff('', before ?? '', after ?? '').split('\n')
    const diff = hunks.length === 0 ? '' : [`--- v${from.version}`, `+++ v${to.version}`, ...hunks].join('\n')
    if (options.json) await printJson(io, { name, from: from.version, to: to.version, diff })
    else if (diff === '') await note(io, `v${from.version} and v${to.version} have the same lines.`)
    else await io.stdout.writeRaw(`${visibleText(diff)}\n`)
  },
})

async function statsOf(io: Io, name?: string): Promise<readonly PromptStats[]> {
  return (await (await openJournalToRead(io))?.prompts(name)) ?? []
}

async function versionsOf(io: Io, name: string): Promise<readonly PromptStats[]> {
  const versions = await statsOf(io, name)
  if (versions.length > 0) return versions
  throw new CriaError('not_found', `There is no prompt ${quoted(name, 100)}.`, { hint: '`cria prompts list` shows the prompts.' })
}

/** Finds a version; default: the newest. @param wanted a version number, or at least 4 digits of a hash. */
function find(versions: readonly PromptStats[], wanted?: string): PromptStats {
  const newest = versions.at(-1)
  const byHash = versions.filter(({ hash }) => wanted !== undefined && wanted.length >= 4 && hash.startsWith(wanted))
  const named =
    versions.find(({ version }) => `${version}` === wanted?.replace(/^v/, '')) ?? (byHash.length === 1 ? byHash[0] : undefined)
  const found = wanted === undefined ? newest : named
  if (found !== undefined) return found
  throw new CriaError(
    'not_found',
    `There is no version ${quoted(wanted ?? '', 100)} of this prompt; the newest is ${newest?.version}.`,
  )
}

function textOf({ template }: PromptStats): string {
  return template ?? '(the template of this version was not recorded)'
}

const COLUMNS = ['version', 'hash', 'first used', 'last used', 'turns', 'tokens in', 'tokens out', 'cost', 'ratings']
/** Columns of numbers. */
const RIGHT = [4, 5, 6, 7]

function cells(stats: PromptStats): readonly string[] {
  const { turns, costUsd, unknownCost, ratings } = stats
  const rated = Object.entries(ratings).toSorted(([one], [other]) => Number(other) - Number(one))
  return [
    `v${stats.version}`,
    stats.hash.slice(0, 8),
    formatTime(stats.firstUsedAt),
    stats.lastUsedAt === null ? '–' : formatTime(stats.lastUsedAt),
    String(turns),
    String(stats.inputTokens),
    String(stats.outputTokens),
    unknownCost === turns ? '–' : `${formatCost(costUsd)}${unknownCost === 0 ? '' : ' + unknown'}`,
    rated.length === 0 ? '–' : rated.map(([rating, count]) => `${count} × ${rating}`).join(', '),
  ]
}
