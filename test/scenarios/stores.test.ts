/** Tests how stores are listed, shown, removed, filled from the web and kept up to date on the command line. */

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StoreFacts, StoreSource } from '../../src/app/store-choice.ts'
import type { IndexReport } from '../../src/app/stores.ts'
import { KEY } from '../support/chat-terminal.ts'
import { hasTerminal } from '../support/real-terminal.ts'
import { newPlace } from './command-line.ts'
import type { Place } from './command-line.ts'

let place: Place
beforeEach(() => {
  place = newPlace()
})
afterEach(() => {
  place[Symbol.dispose]()
})

async function json<T>(...words: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await place.run([...words, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

const stores = async (): Promise<readonly StoreFacts[]> =>
  (await json<{ stores: readonly StoreFacts[] }>('stores', 'list')).stores
const sources = async (name: string): Promise<readonly string[]> =>
  (await json<{ sources: readonly StoreSource[] }>('stores', 'show', name)).sources.map(({ source }) => source)

describe('stores', () => {
  test('are listed with their indexed paths, shown with their documents, and removed', async () => {
    expect((await place.run(['stores', 'list'])).stderr).toContain('there are no stores yet')
    place.write({ 'docs/a.md': 'The mill stands.', 'docs/b.md': 'The dam holds.', 'c.md': 'The river runs.' })
    await place.run(['index', 'docs', 'c.md', '--store', 'handbook'])
    await place.run(['retrieve', 'mill', '--docs', 'docs'])
    const listed = await stores()
    expect(listed).toMatchObject([
      { name: expect.stringMatching(/^docs-[0-9a-f]{16}$/), files: 2, chunks: 2, documents: [join(place.folder, 'docs')] },
      {
        name: 'handbook',
        files: 3,
        chunks: 3,
        documents: [join(place.folder, 'c.md'), join(place.folder, 'docs')],
        embeddings: null,
      },
    ])
    expect(await sources('handbook')).toEqual(['c.md', 'docs/a.md', 'docs/b.md'])
    // A deleted path is no longer listed.
    rmSync(join(place.folder, 'c.md'))
    await place.run(['index', 'c.md', '--store', 'handbook'])
    expect((await stores())[1]?.documents).toEqual([join(place.folder, 'docs')])

    // A store by another version of the analyzer is listed and shown too.
    const listedBefore = await stores()
    const database = new DatabaseSync(join(place.home, 'stores/handbook.db'))
    database.exec("UPDATE facts SET value = 0 WHERE name = 'analyzer'")
    database.close()
    expect((await stores())[1]).toMatchObject({ documents: listedBefore[1]?.documents, chunks: 2 })
    expect(await sources('handbook')).toEqual(['docs/a.md', 'docs/b.md'])

    const file = join(place.home, 'stores/handbook.db')
    expect(await place.run(['stores', 'remove', 'handbok'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean "handbook"?'),
    })
    expect(await place.run(['stores', 'remove', '../cria'])).toMatchObject({ code: 2 })
    expect(existsSync(file)).toBe(true)
    expect(await place.run(['stores', 'remove', 'handbook'])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/removed handbook: 2 files/),
    })
    expect(existsSync(file)).toBe(false)
    expect(existsSync(join(place.folder, 'docs/a.md'))).toBe(true)
  })

  test.runIf(hasTerminal).each([60, 100, 160])('fit a terminal of %i columns', async (columns) => {
    const deep = 'a/rather/deep/folder/of/documents/that/takes/its/place'
    place.write({ [`${deep}/guide.md`]: 'The mill stands.' })
    await place.run(['index', deep])
    for (const words of [
      ['stores', 'list'],
      ['stores', 'show', 'default'],
    ]) {
      const { stdout } = await place.run(words, { inTerminal: true, columns, env: { NO_COLOR: '1', TERM: 'xterm' } })
      expect(Math.max(...stdout.split(/\r?\n/).map((line) => line.length))).toBeLessThanOrEqual(columns)
      expect(stdout.replaceAll(/\s+/g, '')).toContain(deep)
    }
  })
})

describe('pages of the web', () => {
  let asked: string[] = []
  let pages: Record<string, string | ((request: IncomingMessage, response: ServerResponse) => void)> = {}
  let origin = ''
  let stop: () => void = () => {}
  beforeEach(async () => {
    asked = []
    pages = {}
    const server = createServer((request, response) => {
      const { url = '' } = request
      asked.push(url)
      const page = pages[url]
      if (typeof page === 'function') return page(request, response)
      response.writeHead(page === undefined ? 404 : 200, {
        'content-type': url === '/robots.txt' ? 'text/plain' : 'text/html; charset=utf-8',
      })
      response.end(page ?? 'nothing')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    stop = () => {
      server.closeAllConnections()
      server.close()
    }
  })
  afterEach(() => stop())

  const page = (text: string, ...links: readonly string[]): string =>
    `<html><head><title>${text}</title><script>x('<a href="/guide/script">')</script></head><body><!-- <a href="/guide/comment"> --><p>${text}</p>${links.map((link) => `<a class=x href="${link}">on</a>`).join('')}</body></html>`

  test('a page is read, found, and read again only after a change', async () => {
    pages = { '/guide/mill': page('The mill grinds flour.', '/guide/other') }
    const address = `${origin}/guide/mill`
    expect(await json<IndexReport>('index', address)).toMatchObject({ files: 1, added: 1, unchanged: 0 })
    expect(asked).toEqual(['/robots.txt', '/guide/mill'])
    const { stdout } = await place.run(['ask', 'What does the mill grind?', '--no-log'])
    expect(stdout).toContain('flour')
    expect(stdout).toContain(address)
    expect(await json<IndexReport>('index', address)).toMatchObject({ added: 0, unchanged: 1 })
    pages['/guide/mill'] = page('The mill saws wood.')
    expect(await json<IndexReport>('index', address)).toMatchObject({ changed: 1 })
    expect((await stores())[0]?.documents).toEqual([address])
    delete pages['/guide/mill']
    const gone = await place.run(['index', address, '--json'])
    expect(JSON.parse(gone.stdout)).toMatchObject({ removed: 1, files: 0 })
    // Nothing is known of it any more.
    expect(await place.run(['index', address])).toMatchObject({ code: 2, stderr: expect.stringContaining('status 404') })
  })

  test('a site is read below its path, without pages that robots.txt forbids, other hosts, and files without text', async () => {
    pages = {
      '/robots.txt': 'User-agent: *\nDisallow: /guide/secret',
      '/guide/': page(
        'Start.',
        'one#part',
        '/guide/one',
        'deep/two?x=1&amp;y=2',
        '/guide/secret',
        '/outside',
        'https://example.org/guide/far',
        'picture.png',
        'mailto:a@b.c',
        'moved',
        'away',
      ),
      '/guide/one': page('The first page.', '/guide/'),
      '/guide/deep/two?x=1&y=2': page('The second page.', 'three'),
      '/guide/deep/three': page('The third page.'),
      '/guide/moved': (_, response) => response.writeHead(301, { location: '/guide/one' }).end(),
      '/guide/away': (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    }
    const report = await json<IndexReport>('index', `${origin}/guide/`, '--site', '--store', 'guide')
    expect(report).toMatchObject({ files: 4, added: 4 })
    expect(report.skipped.map(({ path, reason }) => [path.slice(origin.length), reason.split(/[ :]/)[0]])).toEqual([
      ['/guide/secret', 'robots.txt'],
      ['/guide/away', 'http'],
    ])
    expect(new Set(asked)).toEqual(
      new Set([
        '/robots.txt',
        '/guide/',
        '/guide/one',
        '/guide/deep/two?x=1&y=2',
        '/guide/deep/three',
        '/guide/moved',
        '/guide/away',
      ]),
    )
    // Unlinked pages are removed; pages that are unreachable now are kept.
    pages['/guide/'] = page('Start.', 'one', 'deep/three')
    pages['/guide/one'] = (_, response) => response.writeHead(503).end()
    const again = JSON.parse(
      (await place.run(['index', `${origin}/guide/`, '--site', '--store', 'guide', '--json'])).stdout,
    ) as IndexReport
    expect(again).toMatchObject({ removed: 1, changed: 1, unchanged: 1 })
    expect((await sources('guide')).map((source) => source.slice(origin.length))).toEqual([
      '/guide/',
      '/guide/deep/three',
      '/guide/one',
    ])
  })

  test('a site whose first page redirects to a login keeps its documents', async () => {
    pages = { '/guide/': page('Start.', 'one'), '/guide/one': page('The first page.'), '/blog/': page('The blog.') }
    await json('index', `${origin}/guide/`, '--site')
    await json('index', `${origin}/blog/`, '--site')
    pages['/guide/'] = (_, response) => response.writeHead(302, { location: '/login' }).end()
    pages['/login'] = page('Who are you?', '/elsewhere', '/guide/two')
    pages['/elsewhere'] = page('Elsewhere.')
    expect(await json<IndexReport>('index', `${origin}/guide/`, '--site')).toMatchObject({ removed: 0 })
    expect((await sources('default')).map((source) => source.slice(origin.length))).toEqual(
      expect.arrayContaining(['/guide/', '/guide/one', '/blog/']),
    )
    expect(asked).not.toContain('/elsewhere')
  })

  test('the page limit is kept, and then no document is removed', async () => {
    for (let at = 0; at < 5; at++) pages[`/g/${at}`] = page(`Page ${at}.`, `/g/${at + 1}`)
    expect(await json<IndexReport>('index', `${origin}/g/0`, '--site', '--max-pages', '3')).toMatchObject({ files: 3 })
    const report = await json<IndexReport>('index', `${origin}/g/0`, '--site', '--max-pages', '1')
    expect(report).toMatchObject({ files: 1, removed: 0 })
    expect(report.skipped[0]?.reason).toBe('the limit of 1 page is reached; left out: 1')
    expect(await sources('default')).toHaveLength(3)
  })

  test.each<[string, RegExp, number]>([
    ['http://a:b@127.0.0.1:1/', /a name or a password in it/, 2],
    ['http://127.0.0.1:1/', /cannot be reached/, 3],
    ['https://[', /is not an address/, 2],
  ])('%s is refused', async (address, message, code) => {
    expect(await place.run(['index', address])).toMatchObject({ code, stderr: expect.stringMatching(message) })
  })
})

describe('index --watch', () => {
  test.runIf(hasTerminal)('indexes again when files change, come and go, until Ctrl-C', async () => {
    place.write({ 'docs/a.md': 'The mill stands.', 'docs/c.bin': new Uint8Array(100) })
    mkdirSync(join(place.folder, 'docs/deep'))
    const { process, shows, ended } = place.start(['index', 'docs', '--watch'], {
      inTerminal: true,
      isTyped: true,
      env: { TERM: 'xterm' },
    })
    await shows('watching docs; Ctrl-C ends it')
    place.write({ 'docs/deep/b.md': 'The dam holds.' })
    await shows('1 added, 0 changed, 0 removed, 1 unchanged')
    place.write({ 'docs/a.md': 'The mill moved.' })
    await shows('0 added, 1 changed')
    rmSync(join(place.folder, 'docs/deep/b.md'))
    await shows('1 removed, 1 unchanged')
    process.stdin.write(KEY.ctrlC)
    const { code, stdout } = await ended
    expect(code).toBe(130)
    expect(stdout.match(/skipped docs\/c\.bin/g)).toHaveLength(1)
    expect(await sources('default')).toEqual(['docs/a.md'])
  })

  test.runIf(hasTerminal)('an interrupted large file is named, and not found', async () => {
    place.write({ 'large.txt': 'The ferry sails to the island on Monday, and the boats stay.\n'.repeat(500_000) })
    const { process, shows, ended } = place.start(['index', 'large.txt'], {
      inTerminal: true,
      isTyped: true,
      columns: 200,
      env: { TERM: 'xterm' },
    })
    await shows(' left')
    process.stdin.write(KEY.ctrlC)
    const { code, stdout } = await ended
    expect(code).toBe(130)
    expect(stdout).toMatch(/continues from there, and starts \S*large\.txt over\./)
    expect(await sources('default')).toEqual([])
  })

  test('needs files, and excludes --dry-run', async () => {
    expect(await place.run(['index', 'http://127.0.0.1:1/', '--watch'])).toMatchObject({ code: 2 })
    expect(await place.run(['index', '.', '--watch', '--dry-run'])).toMatchObject({ code: 2 })
  })
})
