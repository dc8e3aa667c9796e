/** Indexes web pages into a store: one page, or also the pages below its path that it links to; one request at a time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigurationError, CriaError, toCriaError } from '../core/error.ts'
import type { IndexProgress, IndexReport } from '../stores/index-files.ts'
import { keepPaths } from '../stores/ingest/indexable-store.ts'
import type { IndexableStore } from '../stores/ingest/indexable-store.ts'
import { CHUNKER_VERSION } from '../stores/chunk/chunk-document.ts'
import { promisedKind } from '../stores/load/formats.ts'
import { extractDocument, LOADER_VERSION } from '../stores/load/load-file.ts'
import type { SourceState } from '../stores/sqlite.ts'
import { followRedirects, httpGet, isSameSite } from '../tools/builtin/http-get.ts'
import type { Followed, Got } from '../tools/builtin/http-get.ts'
import { hashOf } from '../tools/builtin/text-file.ts'
import { ALLOW_ALL, ALLOW_NOTHING, readRobots } from '../util/robots.ts'
import type { Robots } from '../util/robots.ts'

export interface PagesOptions {
  /** Follow links to pages of the same host below the path of the address. Default: the page alone. */
  readonly site?: boolean
  /** Maximum number of pages fetched per address. Default 200. */
  readonly maxPages?: number
  readonly dryRun?: boolean
  readonly signal: AbortSignal
  readonly onProgress?: (progress: IndexProgress) => void
  /** Milliseconds between two requests, unless robots.txt asks for more. Default 500. */
  readonly pauseMs?: number
}

/** Bytes of a page, bytes of all pages, addresses that wait to be fetched (further links are left out), and milliseconds of a request. */
const LIMITS = { pageBytes: 10_000_000, bytes: 300_000_000, waiting: 10_000, requestMs: 30_000 } as const
/** Pages of an address, and milliseconds between two requests, unless the caller or robots.txt asks for others. */
const DEFAULTS = { maxPages: 200, pauseMs: 500 } as const
/** Milliseconds. Of a site that asks for longer pauses, only the named page is fetched. */
const LONGEST_PAUSE = 30_000
const AGENT = 'cria'

/**
 * Indexes pages. Unchanged pages stay as they are; pages that are gone (404, 410), or that the site no longer links to, are removed from the
 * store. Obeys robots.txt. Never requests other hosts; the named host may be a private address.
 *
 * @throws ConfigurationError for an invalid address; CriaError `network`, `not_found` or `permission_denied` when the first page
 * cannot be fetched and is not in the store; `aborted`.
 */
export async function indexPages(
  store: IndexableStore,
  addresses: readonly string[],
  options: PagesOptions,
): Promise<IndexReport> {
  const began = performance.now()
  const run = new PagesRun(store, options)
  const starts = addresses.map(addressOf)
  for (const start of starts) await run.index(start)
  const kept = starts.map(({ href }) => href)
  if (options.dryRun !== true) await keepPaths(store, kept)
  return run.report(performance.now() - began)
}

function addressOf(text: string): URL {
  const url = URL.parse(text)
  if (url === null) throw new ConfigurationError(`${JSON.stringify(text.slice(0, 200))} is not an address.`)
  if (url.username !== '' || url.password !== '')
    throw new ConfigurationError('An address with a name or a password in it is not fetched.')
  url.hash = ''
  return url
}

class PagesRun {
  readonly #store: IndexableStore
  readonly #options: PagesOptions
  readonly #counts = { files: 0, chunks: 0, added: 0, changed: 0, moved: 0, removed: 0, unchanged: 0 }
  readonly #skipped: { path: string; reason: string }[] = []
  readonly #robots = new Map<string, Robots>()
  #askedAt = -Infinity
  #bytes = 0

  constructor(store: IndexableStore, options: PagesOptions) {
    this.#store = store
    this.#options = options
  }

  report(ms: number): IndexReport {
    return { ...this.#counts, skipped: this.#skipped, ms: Math.round(ms) }
  }

  async index(start: URL): Promise<void> {
    const { site = false, maxPages = DEFAULTS.maxPages, onProgress } = this.#options
    const waiting: URL[] = [start]
    const found = new Set([start.href])
    const kept = new Set<string>()
    let below = folderOf(start)
    let isComplete = true
    for (let fetched = 0; waiting.length > 0; fetched++) {
      if (fetched === maxPages || this.#bytes > LIMITS.bytes) {
        isComplete = false
        const pages = maxPages === 1 ? '1 page' : `${maxPages} pages`
        const limit = fetched === maxPages ? pages : `${LIMITS.bytes / 1_000_000} MB`
        this.#skipped.push({ path: below, reason: `the limit of ${limit} is reached; left out: ${waiting.length}` })
        break
      }
      const url = waiting.shift() as URL
      onProgress?.({ done: fetched, total: fetched + 1 + waiting.length, current: url.href })
      const page = await this.#page(url, start, fetched === 0)
      if (page === undefined) {
        isComplete &&= fetched > 0 || !site
        continue
      }
      if (page === 'left') {
        // The page may be readable later, so its text stays in the store.
        kept.add(url.href)
        continue
      }
      if (fetched === 0) {
        const led = folderOf(page.url)
        // A redirect to a page further up, such as a login, says nothing about the pages below.
        if (led !== below && below.startsWith(led)) isComplete = false
        else below = led
      }
      // Several addresses may redirect to one page.
      if (kept.has(page.url.href)) continue
      if (fetched > 0 && !isBelow(page.url, below)) continue
      kept.add(page.url.href)
      await this.#put(page)
      if (!site || !isHtml(page)) continue
      for (const link of linksOf(page)) {
        if (found.has(link.href) || !isBelow(link, below) || found.size > LIMITS.waiting) continue
        found.add(link.href)
        waiting.push(link)
      }
    }
    if (site && isComplete) await this.#removeOthers(below, kept)
  }

  /** Returns `undefined` for a page that is gone or must not be fetched, `left` for a page that cannot be fetched now. */
  async #page(url: URL, start: URL, isFirst: boolean): Promise<Followed | 'left' | undefined> {
    const known = await this.#store.getSource(url.href)
    try {
      const page = await this.#fetch(url, start)
      const { status } = page
      if (status === 404 || status === 410) throw new CriaError('not_found', `${url.href} does not exist (status ${status}).`)
      if (status >= 400) throw new CriaError('network', `${url.href} answered with status ${status}.`)
      return page
    } catch (thrown) {
      this.#options.signal.throwIfAborted()
      const error = toCriaError(thrown)
      if (isFirst && known === undefined) throw error
      this.#skipped.push({ path: url.href, reason: error.message })
      if (error.code !== 'not_found') return known === undefined ? undefined : 'left'
      if (known !== undefined) await this.#remove([known])
      return undefined
    }
  }

  #fetch(start: URL, named: URL): Promise<Followed> {
    const get = async (url: URL): Promise<Got> => {
      const robots = await this.#robotsOf(url, named)
      if (!robots.allows(url.pathname + url.search))
        throw new CriaError('permission_denied', `robots.txt of ${url.host} does not let programs fetch ${url.href}.`)
      return this.#get(url, named, robots.delayMs)
    }
    return followRedirects(start, get, (location, from) => {
      const next = URL.parse(location, from.href)
      if (next === null || !isSameSite(next, from))
        throw new CriaError(
          'permission_denied',
          `${from.href} leads to ${location}, which is another site: index that address if you want it.`,
        )
      next.hash = ''
      return next
    })
  }

  /** Without a robots.txt all pages may be fetched; where robots.txt cannot be fetched, none. */
  async #robotsOf({ origin, host }: URL, named: URL): Promise<Robots> {
    const known = this.#robots.get(origin)
    if (known !== undefined) return known
    const got = await this.#get(new URL('/robots.txt', origin), named, 0)
    let robots = got.status >= 500 ? ALLOW_NOTHING : ALLOW_ALL
    if (got.status < 300) robots = readRobots(got.body.toString('utf8'), AGENT)
    if (robots.delayMs > LONGEST_PAUSE && this.#options.site === true)
      throw new CriaError(
        'permission_denied',
        `${host} asks for ${robots.delayMs / 1000} s between two requests: its pages are not fetched.`,
      )
    this.#robots.set(origin, robots)
    return robots
  }

  async #get(url: URL, named: URL, delayMs: number): Promise<Got> {
    const { signal, pauseMs = DEFAULTS.pauseMs } = this.#options
    const pause = Math.min(LONGEST_PAUSE, Math.max(pauseMs, delayMs)) - (performance.now() - this.#askedAt)
    if (pause > 0) await sleep(pause, undefined, { signal })
    const limit = AbortSignal.timeout(LIMITS.requestMs)
    try {
      const got = await httpGet(url, {
        signal: AbortSignal.any([signal, limit]),
        maxBytes: LIMITS.pageBytes,
        // The user has named this host, so it may be private.
        allowedHosts: [named.host],
      })
      this.#bytes += got.body.length
      return got
    } catch (thrown) {
      if (limit.aborted && !signal.aborted)
        throw new CriaError('timeout', `${url.href} was not received within ${LIMITS.requestMs / 1000} s.`, { cause: thrown })
      throw thrown
    } finally {
      this.#askedAt = performance.now()
    }
  }

  async #put(page: Followed): Promise<void> {
    const { dryRun = false, signal } = this.#options
    const source = page.url.href
    const known = await this.#store.getSource(source)
    const hash = hashOf(page.body)
    const recipe = `pages ${LOADER_VERSION}.${CHUNKER_VERSION}`
    if (known?.file.hash === hash && known.file.recipe === recipe) {
      this.#counts.unchanged++
      return this.#count(known)
    }
    const file = { path: fileNameOf(page), source, size: page.body.length, mtimeMs: 0, isNamed: true }
    const extracted = await extractDocument({ file, hash, size: file.size, mtimeMs: 0, bytes: page.body }, { signal })
    if ('skipped' in extracted) {
      this.#skipped.push({ path: source, reason: extracted.skipped })
      if (known !== undefined) await this.#remove([known])
      return
    }
    if (known === undefined) this.#counts.added++
    else this.#counts.changed++
    if (dryRun) return
    for await (const result of this.#store.putAll([{ document: extracted.document, file: { hash, recipe } }], signal))
      if (result.outcome === 'failed') throw result.error
    this.#count(await this.#store.getSource(source))
  }

  #count(known: SourceState | undefined): void {
    this.#counts.files++
    this.#counts.chunks += known?.chunks ?? 0
  }

  async #removeOthers(below: string, kept: ReadonlySet<string>): Promise<void> {
    const others: SourceState[] = []
    for (const known of this.#store.sources()) {
      const isPage = known.file.recipe?.startsWith('pages ') === true
      if (isPage && isBelow(new URL(known.source), below) && !kept.has(known.source)) others.push(known)
    }
    await this.#remove(others)
  }

  async #remove(known: readonly SourceState[]): Promise<void> {
    this.#counts.removed += known.length
    if (known.length > 0 && this.#options.dryRun !== true) await this.#store.deleteAll(known.map(({ source }) => source))
  }
}

/** Returns the address up to its last slash. */
function folderOf({ origin, pathname }: URL): string {
  return origin + pathname.slice(0, pathname.lastIndexOf('/') + 1)
}

function isBelow({ origin, pathname }: URL, folder: string): boolean {
  return `${origin}${pathname}`.startsWith(folder)
}

function isHtml({ headers }: Got): boolean {
  return /\bx?html\b/i.test(headers['content-type'] ?? '')
}

const EXTENSIONS: readonly (readonly [type: RegExp, extension: string])[] = [
  [/\bx?html\b/i, '.html'],
  [/\bmarkdown\b/i, '.md'],
  [/\bpdf\b/i, '.pdf'],
  [/\bwordprocessingml\b/i, '.docx'],
  [/\bjson\b/i, '.json'],
  [/\bcsv\b/i, '.csv'],
]

/** Returns a file name for the content, whose extension selects the text extractor. */
function fileNameOf({ url: { pathname }, headers }: Followed): string {
  const type = headers['content-type'] ?? ''
  const extension = EXTENSIONS.find(([pattern]) => pattern.test(type))?.[1]
  // Servers also send source code as plain text, so the extension of the address decides.
  return extension === undefined ? (pathname.split('/').at(-1) ?? '') : `page${extension}`
}

/** Characters at the beginning of a page that are searched for `<base>`. */
const HEAD = 65_536
const BASE = /<base\s[^>]{0,2000}/i
const HREF = /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i
const REL = /(?:^|\s)rel\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i

/** Returns the link targets of a page without duplicates and unreadable file types. Takes time linear in the page. */
function linksOf({ url, body }: Followed): readonly URL[] {
  const html = withoutScripts(body.toString('utf8'))
  const base = valueOf(HREF, BASE.exec(html.slice(0, HEAD))?.[0])
  const from = (base === undefined ? null : URL.parse(base, url.href)) ?? url
  const links = new Map<string, URL>()
  for (const attributes of anchorsOf(html)) {
    const href = valueOf(HREF, attributes)
    const link = href === undefined ? null : URL.parse(href, from.href)
    if (link === null || /\bnofollow\b/i.test(valueOf(REL, attributes) ?? '')) continue
    link.hash = ''
    const promised = promisedKind(link.pathname)
    if (!/^https?:$/.test(link.protocol) || (promised !== undefined && 'unsupported' in promised)) continue
    links.set(link.href, link)
  }
  return [...links.values()]
}

/** Removes comments, scripts and styles; an unclosed element extends to the end of the page. */
function withoutScripts(html: string): string {
  const opening = /<!--|<(script|style|template)\b/gi
  const lower = html.toLowerCase()
  const parts: string[] = []
  let at = 0
  for (let found = opening.exec(html); found !== null; found = opening.exec(html)) {
    const closing = found[1] === undefined ? '-->' : `</${found[1].toLowerCase()}`
    const end = lower.indexOf(closing, found.index)
    parts.push(html.slice(at, found.index))
    at = end === -1 ? html.length : end + closing.length
    opening.lastIndex = at
  }
  return [...parts, html.slice(at)].join('')
}

function* anchorsOf(html: string): Generator<string> {
  const opening = /<a\s/gi
  for (let found = opening.exec(html); found !== null; found = opening.exec(html)) {
    const end = html.indexOf('>', found.index)
    if (end === -1) return
    yield html.slice(found.index + 2, Math.min(end, found.index + 5000))
    opening.lastIndex = end
  }
}

function valueOf(attribute: RegExp, text: string | undefined): string | undefined {
  const found = text === undefined ? null : attribute.exec(text)
  return (found?.[1] ?? found?.[2] ?? found?.[3])?.trim().replaceAll('&amp;', '&')
}
