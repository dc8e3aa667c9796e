/** Formats the list below an answer of its sources, or of the passages that were read: paths with line numbers, which terminals and editors open on a click. */

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { sourceBase as SourceBase } from '../app/stores.ts'
import type { Citation, Verdict } from '../core/citation.ts'
import { pageAt } from '../core/store.ts'
import type { DocumentStore, ScoredChunk } from '../core/store.ts'
import { visibleLine } from '../util/terminal.ts'
import { broken } from './io.ts'
import type { Channel } from './io.ts'

/** The current folder, and the folder that sources are relative to. */
export interface Standpoint {
  readonly cwd: string
  /** Default `cwd`. */
  readonly base?: string | undefined
}

/** Maximum sources listed, and reasons shown for each. */
const MOST_SOURCES = 30
const MOST_REASONS = 3
/** Indentation of wrapped lines, in cells. */
const INDENT = 4

/** Lists sources with the verdicts of the statements that cite them, and a summary line. Empty without citations and statements. */
export async function sourceList(
  citations: readonly Citation[],
  uncited: number,
  stdout: Channel,
  from: Standpoint,
): Promise<string> {
  const summary = verdictSummary(citations, uncited)
  if (summary === undefined) return ''
  const visible = stdout.isTerminal ? visibleLine : (text: string): string => text.replaceAll(/[\r\n]/g, ' ')
  const lines = sourceLines(citations, from)
  let shown = ''
  for (const { marker, place, url, verdict, reasons, alsoIn } of lines) {
    const path = visible(place)
    const copies = alsoIn === undefined ? '' : `  ${stdout.style('dim', `(also in ${visibleLine(alsoIn)})`)}`
    const mark = stdout.isTerminal && verdict === 'verified' ? `  ${stdout.style('dim', '✓')}` : ''
    const wrong = reasons.slice(0, MOST_REASONS).map((reason) => `  ${stdout.style('yellow', `✗ ${visibleLine(reason)}`)}`)
    const label = path === '' ? `[${visible(marker)}]` : `[${visible(marker)}] ${path}`
    const line = await broken(`${label}${copies}${mark}${wrong.join('')}`, stdout, INDENT)
    // Links are added after wrapping, because their escape sequences would count as text.
    shown += `${stdout.links && url !== undefined ? line.replace(path, () => terminalLink(place, url)) : line}\n`
  }
  const list = lines.length === 0 ? '' : `${stdout.style('bold', 'Sources')}\n${shown}`
  // A pipe receives the summary only if statements are contradicted or uncited.
  const isShown = stdout.isTerminal || uncited > 0 || lines.some(({ verdict }) => verdict === 'contradicted')
  return `\n${list}${isShown ? `${stdout.style('dim', await broken(summary, stdout))}\n` : ''}`
}

export interface SourceLine {
  readonly marker: string
  /** `docs/guide.md:12`; empty for a marker without a passage. */
  readonly place: string
  /** Link target; `undefined` if the source is not a file or web page. */
  readonly url: string | undefined
  /** `verified` if all its statements are, `contradicted` if any statement is. */
  readonly verdict: Verdict
  /** Reasons of the contradicted statements. */
  readonly reasons: readonly string[]
  /** Other sources with the same text: `docs/copy.md and 4 more`; `undefined` when there are none. */
  readonly alsoIn: string | undefined
}

/** Returns one line per marker, in their order: `docs/guide.md:12, 40` if it cites several places. */
export function sourceLines(citations: readonly Citation[], from: Standpoint): readonly SourceLine[] {
  const byMarker = Map.groupBy(citations, ({ marker, source }) => `${marker}\0${source}`)
  const byNumber = [...byMarker.values()].toSorted(([a], [b]) => Number(a?.marker) - Number(b?.marker) || 0)
  return byNumber.slice(0, MOST_SOURCES).flatMap((inOrder) => {
    const cited = inOrder.toSorted((a, b) => (numberOf(a) ?? Infinity) - (numberOf(b) ?? Infinity) || 0)
    const [first] = cited
    if (first === undefined) return []
    const reasons = inOrder.flatMap((citation) =>
      verdictOf(citation) === 'contradicted' ? (citation.reason ?? 'the source does not say this') : [],
    )
    return {
      marker: first.marker,
      place: placesOf(cited, from),
      url: urlOf(first, from),
      verdict: verdictOfAll(cited.map(verdictOf)),
      reasons: [...new Set(reasons)],
      alsoIn: othersOf(first, from),
    }
  })
}

function verdictOfAll(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('contradicted')) return 'contradicted'
  return verdicts.every((verdict) => verdict === 'verified') ? 'verified' : 'unverified'
}

/** Returns the verdict; derives it from `supported` for turns of older versions, which have no verdicts. */
function verdictOf({ verdict, supported }: Partial<Citation>): Verdict {
  return verdict ?? (supported === false ? 'contradicted' : 'unverified')
}

/** Counts verified, contradicted, unverified and uncited statements in one line; `undefined` when there are none. */
function verdictSummary(citations: readonly Citation[], uncited: number): string | undefined {
  const byStatement = Map.groupBy(citations, ({ claim }) => `${claim?.start} ${claim?.end}`)
  const statements = [...byStatement.values()].map((cited) => cited.map(verdictOf))
  const contradicted = statements.filter((verdicts) => verdicts.includes('contradicted')).length
  const verified = statements.filter((verdicts) => !verdicts.includes('contradicted') && verdicts.includes('verified')).length
  const counts = {
    'word for word in the source': verified,
    contradicted,
    'in other words (not verified)': statements.length - contradicted - verified,
    'without a source': uncited,
  }
  const parts = Object.entries(counts).flatMap(([what, count]) => (count > 0 ? `${count} ${what}` : []))
  return parts.length === 0 ? undefined : `Statements: ${parts.join(', ')}.`
}

/** Maximum copies named; the rest are counted. */
const MOST_COPIES = 3

function othersOf({ source, alsoIn = [] }: Citation, from: Standpoint): string | undefined {
  const others = [...new Set(alsoIn.map((place) => place.source))].filter((other) => other !== source)
  if (others.length === 0) return undefined
  const named = others.slice(0, MOST_COPIES).map((other) => displayPath(other, from))
  return named.join(', ') + (others.length > MOST_COPIES ? ` and ${others.length - MOST_COPIES} more` : '')
}

function placesOf([first, ...others]: readonly Citation[], from: Standpoint): string {
  if (first === undefined) return ''
  const more = new Set(others.map(numberOf))
  more.delete(numberOf(first))
  more.delete(undefined)
  if (more.size === 0 || first.lines !== undefined || first.page === undefined)
    return [placeOf(first.source, first, from), ...more].join(', ')
  return `${placeOf(first.source, {}, from)}, pages ${[first.page, ...more].join(', ')}`
}

/** A place in a source: its first line, else its page. */
export interface Spot {
  readonly lines?: readonly [first: number, last: number] | undefined
  readonly page?: number | undefined
}

function numberOf({ lines, page }: Spot): number | undefined {
  return lines?.[0] ?? page
}

/** Formats a source as editors and terminals expect it: `docs/guide.md:12`, or `report.pdf, page 3` for pages without lines. */
export function placeOf(source: string, { lines, page }: Spot, from: Standpoint): string {
  const path = displayPath(source, from)
  if (lines !== undefined) return `${path}:${lines[0]}`
  return page === undefined ? path : `${path}, page ${page}`
}

/** Returns a path relative to the current folder if the file is below it, else an absolute path. */
function displayPath(source: string, { cwd, base = cwd }: Standpoint): string {
  if (!isAbsolute(source) && base === cwd) return source
  const path = isAbsolute(source) ? source : fileOf(source, base)
  // A source without a file keeps its name in the store.
  if (path === undefined) return source
  const short = relative(cwd, path)
  return short === '' || short === '..' || short.startsWith(`..${sep}`) || isAbsolute(short) ? path : short
}

/** Returns the path of a source's file from the current folder; `undefined` if the source is not an existing file. */
export function pathTo(source: string, from: Standpoint): string | undefined {
  return fileOf(source, from.base ?? from.cwd) === undefined ? undefined : displayPath(source, from)
}

function urlOf({ source, page }: Citation, { cwd, base = cwd }: Standpoint): string | undefined {
  if (/^https?:\/\//i.test(source)) return URL.canParse(source) ? new URL(source).href : undefined
  const path = fileOf(source, base)
  if (path === undefined) return undefined
  const url = pathToFileURL(path)
  // Terminals compare the host and do not open paths of other machines.
  url.hostname = hostname()
  // Browsers open a PDF at the page (RFC 8118, 3).
  if (page !== undefined && /\.pdf$/i.test(path)) url.hash = `page=${page}`
  return url.href
}

function fileOf(source: string, base: string): string | undefined {
  const path = source === '' || source.includes('\0') ? undefined : resolve(base, source)
  return path !== undefined && existsSync(path) ? path : undefined
}

/** Returns a terminal link (OSC 8); text and URL are escaped, so that neither can end the link early. */
export function terminalLink(text: string, url: string): string {
  return `\u001B]8;;${visibleLine(url)}\u001B\\${visibleLine(text)}\u001B]8;;\u001B\\`
}

type Store = Parameters<typeof SourceBase>[0]

const MOST_PASSAGES = 10

export interface PassagesRead {
  /** The store for tools; it records the passages that they find. */
  readonly store: DocumentStore
  /**
   * Lists the places of the passages found since the last call, best first. If the answer names some of the sources, lists only those. Empty
   * without a search.
   *
   * @param out where the list will be printed.
   */
  list(answer: string, cwd: string, out: Pick<Channel, 'style'>): Promise<string>
}

/** Records the passages that tools find in a store. */
export function passagesRead(store: Store): PassagesRead {
  let found: readonly ScoredChunk[] = []
  const search: DocumentStore['search'] = async (...args) => {
    const chunks = await store.search(...args)
    found = [...found, ...chunks]
    return chunks
  }
  return {
    store: new Proxy<DocumentStore>(store, {
      get(target, name) {
        if (name === 'search') return search
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    }),
    async list(answer, cwd, out) {
      const best = found.toSorted((a, b) => b.score - a.score)
      found = []
      if (best.length === 0) return ''
      const { sourceBase } = await import('../app/stores.ts')
      const base = await sourceBase(store)
      const named = best.filter(({ source }) => answer.includes(source))
      const places = (named.length > 0 ? named : best).map((chunk) =>
        placeOf(chunk.source, { lines: chunk.lines, page: pageAt(chunk) }, { cwd, base }),
      )
      const lines = [...new Set(places)].slice(0, MOST_PASSAGES).map((place) => `  ${visibleLine(place)}\n`)
      return `\n${out.style('bold', named.length > 0 ? 'Sources' : 'Passages that were read')}\n${lines.join('')}`
    },
  }
}
