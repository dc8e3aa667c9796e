import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IndexReport } from '../../src/app/stores.ts'
import type { Citation } from '../../src/core/citation.ts'
import type { ScoredChunk } from '../../src/core/store.ts'
import { pdf } from '../support/document-files.ts'
import { mountSmall } from '../support/small-disk.ts'
import { newPlace } from './command-line.ts'
import type { Ended, Place } from './command-line.ts'

let place: Place
beforeEach(() => {
  place = newPlace()
})
afterEach(() => {
  place[Symbol.dispose]()
})

const LIGHTHOUSE = `# The lighthouse of Skarvholmen

The lighthouse was built in 1871 by Marta Lindqvist. It is 34 metres high.

## The keeper

The keeper rowed to the mainland every Thursday to fetch oil and letters.
`
const GARDEN = `# The garden

Rhubarb grows behind the smokehouse. The beds are watered at dawn.
`

function writeDocuments(): void {
  place.write({ 'docs/lighthouse.md': LIGHTHOUSE, 'docs/garden.md': GARDEN })
}

async function json<T>(...words: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await place.run([...words, '--json'])
  expect({ code, stderr: stderr.replaceAll(/^cria: (no model|indexed|builtin).*\n/gm, '') }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

/** Expects a failure with a message and an exit code, without output and stack trace. */
function plainFailure(code: number, message: RegExp): object {
  return { code, stdout: '', stderr: expect.stringMatching(message), hasStackTrace: false }
}

function outcome(ended: Ended): object {
  return { ...ended, hasStackTrace: /^\s+at /m.test(ended.stderr) }
}

describe('from documents to a cited answer and its log', () => {
  test('QRY-RAG-022 text of a PDF is cited with its page', async () => {
    place.write({
      'docs/ferry.pdf': pdf([
        ['The ferry to Skarvholmen', 'sails on Mondays and Thursdays.'],
        ['Dogs travel free of charge.', 'Bicycles cost four crowns.'],
        ['The last crossing leaves at nine in the evening.'],
      ]),
    })
    const question = 'What do bicycles cost on the ferry?'
    const { citations } = await json<{ citations: Citation[] }>('ask', question, '--docs', 'docs')
    expect(citations[0]).toMatchObject({ source: 'docs/ferry.pdf', page: 2, supported: true })
    expect(citations[0]?.lines).toBeUndefined()
    const { stdout } = await place.run(['ask', question, '--docs', 'docs'])
    expect(stdout).toContain('[1] docs/ferry.pdf, page 2\n')
    const found = await place.run(['retrieve', 'last crossing', '--docs', 'docs'])
    expect(found.stdout).toMatch(/docs\/ferry\.pdf, page 1 /)
  })

  test('index, retrieve, ask, logs', async () => {
    writeDocuments()
    const report = await json<IndexReport>('index', 'docs', '--store', 'island')
    expect(report).toMatchObject({ store: 'island', files: 2, added: 2, changed: 0, removed: 0, unchanged: 0, skipped: [] })
    expect(report.chunks).toBeGreaterThanOrEqual(2)

    const { query, chunks } = await json<{ query: string; chunks: ScoredChunk[] }>(
      'retrieve',
      'who fetched the oil',
      '--store',
      'island',
      '-n',
      '1',
    )
    expect(query).toBe('who fetched the oil')
    expect(chunks).toHaveLength(1)
    const [chunk] = chunks
    expect(Object.keys(chunk ?? {}).toSorted()).toEqual(['end', 'id', 'path', 'score', 'source', 'start', 'text'])
    expect(chunk?.source).toBe('docs/lighthouse.md')
    expect(LIGHTHOUSE.slice(chunk?.start, chunk?.end)).toBe(chunk?.text)

    const asked = await place.run(['ask', 'Who built the lighthouse?', '--store', 'island'])
    expect(asked.code).toBe(0)
    expect(asked.stdout).toContain('Marta Lindqvist')
    expect(asked.stdout).toMatch(/\[1\][\s\S]*\nSources\n[\s\S]*\[1\] docs\/lighthouse\.md:3\n/)
    expect(asked.stderr).toContain('answers by quoting')

    const { turns } = await json<{ turns: { question: string; status: string; model: string }[] }>('logs', 'list')
    expect(turns).toMatchObject([{ question: 'Who built the lighthouse?', status: 'done', model: 'builtin/extractive' }])
    const { messages, events, spans } = await json<{
      messages: { role: string }[]
      events: { type: string }[]
      spans: { name: string }[]
    }>('logs', 'show', 'last')
    expect(messages.map(({ role }) => role)).toContain('retrieved')
    expect(events.map(({ type }) => type)).toContain('retrieval')
    expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['querybot.ask', 'retrieval', 'llm_request']))
    const shown = await place.run(['logs', 'show', 'last'])
    expect(shown.stdout).toMatch(/\nSources\n\[1\] docs\/lighthouse\.md:3\n/)
    expect(shown.stdout).toMatch(/\nretrieved +\[1\] docs\/lighthouse\.md:1 +\d+\.\d+ +# The lighthouse/)
    expect(shown.stdout).not.toContain('Searched for')
  })

  test('logs show names the search query of a follow-up question', async () => {
    writeDocuments()
    const { sessionId } = await json<{ sessionId: string }>('ask', 'Who built the lighthouse?', '--docs', 'docs')
    await json('ask', 'When?', '--docs', 'docs', '--session', sessionId)
    const { stdout } = await place.run(['logs', 'show', 'last'])
    expect(stdout).toMatch(/\nSearched for\nWhen\? .*lighthouse.*\n/)
  })

  test('front matter filters files, and a filter without a match is reported', async () => {
    place.write({
      'docs/new.md': '---\nstatus: final\n---\n\n# Oil\n\nThe keeper fetches oil on Monday.\n',
      'docs/old.md': '---\nstatus: draft\n---\n\n# Oil\n\nThe keeper fetches oil on Friday.\n',
    })
    const { chunks } = await json<{ chunks: ScoredChunk[] }>(
      'retrieve',
      'fetch oil',
      '--docs',
      'docs',
      '--filter',
      'status=final',
    )
    expect(chunks.map(({ source }) => source)).toEqual(['docs/new.md'])
    for (const command of ['ask', 'retrieve']) {
      const { stderr, code } = await place.run([command, 'When is oil fetched?', '--docs', 'docs', '--filter', 'status=finished'])
      expect(code).toBe(0)
      expect(stderr).toContain('no document of the store matches --filter')
    }
    const none = await place.run(['retrieve', 'zzyzx', '--docs', 'docs', '--filter', 'status=final'])
    expect(none.stderr).toContain('nothing was found')
    expect(none.stderr).not.toContain('no document')
  })

  test('QRY-RAG-022 every citation of --json is at its offsets', async () => {
    writeDocuments()
    const { answer, abstained, citations } = await json<{
      answer: string
      abstained: boolean
      citations: { source: string; start: number; end: number; quote: string; supported: boolean }[]
    }>('ask', 'When was the lighthouse built?', '--docs', 'docs')
    expect(abstained).toBe(false)
    expect(answer).toContain('1871')
    expect(citations.length).toBeGreaterThan(0)
    for (const { source, start, end, quote, supported } of citations) {
      expect({ source, supported }).toEqual({ source: 'docs/lighthouse.md', supported: true })
      expect(LIGHTHOUSE.slice(start, end)).toBe(quote)
    }
  })

  test('a question that the documents do not answer is refused', async () => {
    writeDocuments()
    const { abstained, citations } = await json<{ abstained: boolean; citations: unknown[] }>(
      'ask',
      'What is the capital of Peru?',
      '--docs',
      'docs',
    )
    expect({ abstained, citations }).toEqual({ abstained: true, citations: [] })
  })

  test('--docs keeps one current store for its paths, in any order and from any folder', async () => {
    writeDocuments()
    const first = await place.run(['ask', 'Who built the lighthouse?', '--docs', 'docs', 'docs/garden.md'])
    expect(first.stderr).toContain('indexed 2 files')
    const again = await place.run(['ask', 'Who built the lighthouse?', '--docs', 'garden.md', '.'], {
      cwd: join(place.folder, 'docs'),
    })
    expect(again.stderr).not.toContain('indexed')
    expect(again.stdout).toContain('[1] lighthouse.md:3\n')
    expect(readdirSync(join(place.home, 'stores')).filter((file) => file.endsWith('.db'))).toHaveLength(1)

    place.write({ 'docs/lighthouse.md': LIGHTHOUSE.replace('Marta Lindqvist', 'Ole Brandt') })
    const changed = await place.run(['ask', 'Who built the lighthouse?', '--docs', 'docs', 'docs/garden.md'])
    expect(changed.stderr).toContain('1 changed')
    expect(changed.stdout).toContain('Ole Brandt')
  })

  test('from another folder --json has paths that open, and --source accepts every shown name', async () => {
    writeDocuments()
    await json('index', 'docs')
    const from = async (cwd: string, ...words: readonly string[]): Promise<Ended> => place.run(words, { cwd })
    const paths = async (cwd: string): Promise<readonly unknown[]> => {
      const found = JSON.parse((await from(cwd, 'retrieve', 'keeper', '-n', '1', '--json')).stdout) as { chunks: unknown[] }
      const asked = JSON.parse((await from(cwd, 'ask', 'Who built the lighthouse?', '--json')).stdout) as { citations: unknown[] }
      return [found.chunks[0], asked.citations[0]]
    }
    const whole = join(place.folder, 'docs/lighthouse.md')
    for (const [cwd, path] of [
      [place.folder, 'docs/lighthouse.md'],
      [join(place.folder, 'docs'), 'lighthouse.md'],
      [place.home, whole],
    ] as const) {
      for (const shown of await paths(cwd)) expect(shown).toMatchObject({ source: 'docs/lighthouse.md', path })
    }
    const names = [whole, `${whole}:3`, `${whole}:3, 7`, 'docs/lighthouse.md', 'docs/lighthouse.md:3', '!docs/garden.md', 'docs']
    for (const name of names) {
      const { stdout, stderr } = await from(place.home, 'retrieve', 'the lighthouse and the garden', '--source', name, '--json')
      const { chunks } = JSON.parse(stdout) as { chunks: { source: string }[] }
      const sources = [...new Set(chunks.map(({ source }) => source))].toSorted()
      const expected = name === 'docs' ? ['docs/garden.md', 'docs/lighthouse.md'] : ['docs/lighthouse.md']
      expect({ name, sources, stderr }).toEqual({ name, sources: expected, stderr: '' })
    }
    rmSync(whole)
    for (const shown of await paths(place.home)) expect(shown).not.toHaveProperty('path')
  })

  test('an index follows changed, moved and removed files', async () => {
    writeDocuments()
    await json('index', 'docs')
    expect(await json('index', 'docs')).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: 2 })
    place.write({ 'docs/garden.md': `${GARDEN}\nThe apples are late.\n` })
    renameSync(join(place.folder, 'docs/lighthouse.md'), join(place.folder, 'docs/tower.md'))
    expect(await json('index', 'docs', '--dry-run')).toMatchObject({ changed: 1, moved: 1 })
    expect(await json('index', 'docs')).toMatchObject({ added: 0, changed: 1, moved: 1, removed: 0, files: 2 })
    rmSync(join(place.folder, 'docs/tower.md'))
    expect(await json('index', 'docs')).toMatchObject({ removed: 1, unchanged: 1, files: 1 })
    expect((await json<{ chunks: unknown[] }>('retrieve', 'lighthouse')).chunks).toEqual([])
  })

  test('a deleted folder is removed from a store when it is named again, with a message', async () => {
    writeDocuments()
    place.write({ 'other/tide.md': 'High water is at noon.\n' })
    await json('index', 'docs', 'other', '--store', 'island')
    rmSync(join(place.folder, 'docs'), { recursive: true })
    const gone = { path: 'docs', removed: ['docs/garden.md', 'docs/lighthouse.md'] }

    const tried = await place.run(['index', 'docs', '--store', 'island', '--dry-run'])
    expect(tried.stderr).toContain('docs does not exist any more: its content would be removed from the store, 2 files')
    const { code, stdout, stderr } = await place.run(['index', 'docs', 'other', '--store', 'island', '--json'])
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'cria: docs does not exist any more: its content is removed from the store, 2 files (docs/garden.md, docs/lighthouse.md).\n',
    })
    expect(JSON.parse(stdout)).toMatchObject({ files: 1, removed: 2, unchanged: 1, gone: [gone] })
    expect((await json<{ chunks: unknown[] }>('retrieve', 'lighthouse', '--store', 'island')).chunks).toEqual([])

    const again = await place.run(['index', 'other', 'docs', '--store', 'island'])
    expect(outcome(again)).toEqual(plainFailure(2, /The path "docs" does not exist/))
  })

  test('an unmounted drive removes no documents', async () => {
    place.write({ 'drive/docs/tide.md': 'High water is at noon.\n' })
    await json('index', 'drive/docs')
    rmSync(join(place.folder, 'drive'), { recursive: true })
    const { code, stderr } = await place.run(['index', 'drive/docs'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/nothing was removed[\s\S]*mount the drive/) })
    expect((await json<{ chunks: unknown[] }>('retrieve', 'high water')).chunks).toHaveLength(1)
  })

  test('--dry-run leaves nothing behind', async () => {
    writeDocuments()
    expect(await json('index', 'docs', '--dry-run')).toMatchObject({ added: 2, files: 2 })
    expect(existsSync(join(place.home, 'stores'))).toBe(false)
  })

  test('the default store needs no name, and works from every folder', async () => {
    writeDocuments()
    const indexed = await place.run(['index', 'docs'])
    expect(indexed).toMatchObject({ code: 0, stderr: '' })
    expect(indexed.stdout).toMatch(/^default: 2 files, \d+ chunks: 2 added \(.*\)\n$/)
    const { stdout } = await place.run(['ask', 'Who built the lighthouse?'], { cwd: '/' })
    expect(stdout).toContain(`[1] ${join(place.folder, 'docs/lighthouse.md').slice(1)}:3\n`)
  })

  test('a store of the configuration knows its paths', async () => {
    writeDocuments()
    place.write({
      '.cria/config.json': JSON.stringify({ store: 'island', stores: { island: { paths: ['docs'] } } }),
      '.git/x': '',
    })
    expect(outcome(await place.run(['index']))).toEqual(
      plainFailure(2, /is not used; look at it, then run "cria trust"[\s\S]*No paths to index/),
    )
    expect(await json('trust')).toMatchObject({ trust: 'trusted', config: { store: 'island' } })
    expect(await json('index')).toMatchObject({ store: 'island', added: 2 })
    expect((await place.run(['ask', 'Who built the lighthouse?'], { cwd: join(place.folder, 'docs') })).stdout).toContain(
      'Marta Lindqvist',
    )
  })
})

describe('with stores, of which none is the default', () => {
  test.each([[['ask', 'Who built it?']], [['retrieve', 'mill']]])('cria %j names them', async (words) => {
    place.write({ 'a.md': 'The mill stands.' })
    await place.run(['index', 'a.md', '--store', 'island'])
    await place.run(['index', 'a.md', '--store', 'harbour'])
    const { code, stderr } = await place.run(words)
    expect(code).toBe(2)
    expect(stderr).toContain('Stores: harbour, island.')
    expect(stderr).toContain('--store harbour')
  })
})

test('retrieve shows where a chunk meets the query, and names that line', async () => {
  const lines = Array.from({ length: 12 }, (_, number) => `Room ${number + 1} is plain and holds a table, a chair and a lamp.`)
  place.write({ 'rooms.md': [...lines, 'The astrolabe lies behind glass.'].join('\n') })
  const { stdout } = await place.run(['retrieve', 'astrolabes', '--docs', '.'])
  expect(stdout).toMatch(/rooms\.md:13 .*\n {4}…The astrolabe lies behind glass\.\n/)
})

test.skipIf(process.platform !== 'linux')('an answer is printed even if standard error cannot be written', async () => {
  place.write({ 'a.md': '# The mill\n\nThe mill was built in 1874.' })
  await place.run(['index', 'a.md'])
  const { code, stdout } = await place.run(['ask', 'When was the mill built?'], { shellLimit: 'exec 2>/dev/full' })
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('1874') })
})

describe('files with possible secrets are not read', () => {
  test('unless they are named', async () => {
    place.write({ 'docs/a.md': '# A\n\nText.', 'docs/.env': 'TOKEN=canary-123', 'docs/id_rsa': 'canary-456' })
    const { skipped } = await json<IndexReport>('index', 'docs')
    expect(skipped.map(({ path }) => path)).toEqual(expect.arrayContaining(['docs/.env', 'docs/id_rsa']))
    const { chunks } = await json<{ chunks: unknown[] }>('retrieve', 'canary')
    expect(chunks).toEqual([])
  })
})

describe('a query is never syntax', () => {
  let shared: Place
  beforeAll(async () => {
    shared = newPlace()
    shared.write({ 'docs/lighthouse.md': LIGHTHOUSE, 'docs/garden.md': GARDEN })
    await shared.run(['index', 'docs'])
  })
  afterAll(() => {
    shared[Symbol.dispose]()
  })

  test.each([
    '"',
    "don't",
    'AND',
    'OR NOT',
    '(',
    'NEAR(',
    'x:multi',
    '*',
    '-',
    '^"oil"',
    "'; DROP TABLE chunks; --",
    'oil" OR "garden',
    'هل المنارة',
    '👩‍👩‍👧 🏴‍☠️',
    '\u202Eoil',
    'ａｂ oil',
    '{oil}',
    '\\',
    '%00',
    'a'.repeat(10_000),
    'oil '.repeat(10_000),
  ])('%.40j', async (query) => {
    const words = query.startsWith('-') ? ['retrieve', '--json', '--', query] : ['retrieve', query, '--json']
    const { code, stdout, stderr } = await shared.run(words, query === '-' ? { input: 'oil' } : {})
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ chunks: expect.any(Array) })
  })

  test('an empty query finds nothing', async () => {
    const { code, stdout } = await shared.run(['retrieve', '', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ query: '', chunks: [] })
  })
})

describe('bad input: a clear error or a correct result, nothing lost, no stack trace', () => {
  test.each(['', '   ', '\n'])('an empty question: %j', async (question) => {
    writeDocuments()
    expect(outcome(await place.run(['ask', question, '--docs', 'docs']))).toEqual(plainFailure(2, /The question is empty/))
  })

  test('a question with NUL bytes', async () => {
    writeDocuments()
    const { code, stdout } = await place.run(['ask', '-', '--docs', 'docs'], { input: 'Who built\0 the lighthouse?\0' })
    expect(code).toBe(0)
    expect(stdout).toContain('Marta Lindqvist')
  })

  test('a question of 1 MB', async () => {
    writeDocuments()
    const question = `Who built the lighthouse? ${'Please tell me about it at length. '.repeat(30_000)}`
    expect(question.length).toBeGreaterThan(1_000_000)
    const { code, stderr } = await place.run(['ask', '-', '--docs', 'docs', '--json'], { input: question })
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('answers by quoting') })
    const { stdout } = await place.run(['logs', 'show', 'last', '--json'])
    expect((JSON.parse(stdout) as { turn: { question: string } }).turn.question).toBe(question)
  }, 60_000)

  test('a question that is too long is refused with the limit', async () => {
    writeDocuments()
    expect(outcome(await place.run(['ask', '-', '--docs', 'docs'], { input: 'x'.repeat(4_000_001) }))).toEqual(
      plainFailure(2, /more than 4,000,000 characters/),
    )
  })

  test.each([
    [['ask', 'x', '--docs', 'gone'], /The path gone does not exist/],
    [['index', 'gone'], /The path gone does not exist/],
    [['retrieve', 'x', '--docs', 'gone'], /The path gone does not exist/],
    [['ask', 'x', '--store', 'gone'], /There is no store "gone"/],
    [['retrieve', 'x', '--store', '../../etc/passwd'], /A store is named with/],
    [['index'], /No paths to index/],
    [['eval', 'retrieval', '--beir', 'gone'], /gone is not a folder: expected a BEIR folder/],
    [['eval', 'answers', '--beir', 'gone'], /corpus\.jsonl does not exist: expected/],
    [['retrieve', 'x'], /There is no store yet/],
    [['ask', 'x'], /There are no documents to answer from/],
    [['ask', 'x', '--docs', '.', '-m', 'gpt'], /provider\/model/],
    [['ask', 'x', '--docs', '.', '-m', 'opnai/gpt'], /did you mean "openai\/gpt"/],
    [['ask', 'x', '--docs', '.', '-m', 'main'], /"main" is not set/],
    [['ask', 'x', '--docs', '.', '--json', '--events'], /exclude each other/],
    [['ask', 'x', '--docs', '.', '-n', '0'], /from 1 to 1000/],
  ])('cria %j ends with 2', async (words, message) => {
    expect(outcome(await place.run(words))).toEqual(plainFailure(2, message))
  })

  test('a folder without documents', async () => {
    place.write({ 'empty/.hidden': 'x' })
    const { code, stderr, stdout } = await place.run(['ask', 'x', '--docs', 'empty'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'The documents do not contain the answer to this question.\n' })
    expect(stderr).toContain('the paths of --docs contain no documents')
    const indexed = await place.run(['index', 'empty'])
    expect(indexed.code).toBe(0)
    expect(indexed.stderr).toMatch(
      /skipped empty\/\.hidden: hidden file\ncria: nothing was indexed: empty has no readable files\.\n$/,
    )
    expect(indexed.stdout).toMatch(/^default: 0 files, 0 chunks: 1 skipped \(.*\)\n$/)
  })

  test('ask counts the skipped files and points to their names', async () => {
    writeDocuments()
    place.write({ 'docs/data.bin': new Uint8Array(100), 'docs/a.txt': new Uint8Array(100) })
    const { stderr } = await place.run(['ask', 'Who built the lighthouse?', '--docs', 'docs'])
    expect(stderr).toMatch(
      /indexed 2 files, \d+ chunks: 2 added, \d skipped\. "cria index <path…> --dry-run" names the skipped files\.\n/,
    )
    expect((await place.run(['index', 'docs', '--dry-run'])).stderr).toMatch(/skipped .*a\.txt: binary data/)
  })

  test('a wrong filter is refused before the model is announced', async () => {
    writeDocuments()
    await json('index', 'docs')
    const { code, stderr } = await place.run(['ask', 'x', '--filter', 'owner'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^cria: [^\n]*KEY=VALUE[^\n]*\n/i) })
  })

  test('a store of a newer version', async () => {
    writeDocuments()
    await json('index', 'docs')
    const file = join(place.home, 'stores/default.db')
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(file)
    database.exec('PRAGMA user_version = 999')
    database.close()
    expect(outcome(await place.run(['retrieve', 'oil']))).toEqual(plainFailure(1, /newer version of cria/))
    expect(outcome(await place.run(['ask', 'oil']))).toEqual(plainFailure(1, /newer version of cria/))
    expect(outcome(await place.run(['index', 'docs']))).toEqual(plainFailure(1, /newer version of cria/))
  })

  test('a read-only store of --docs is searched as it was last indexed', async ({ skip }) => {
    const stores = join(place.home, 'stores')
    mkdirSync(place.home, { recursive: true })
    if (!mountSmall(stores, '16m')) skip('mounting a small file system is not permitted here')
    try {
      place.write({ 'docs/a.md': 'The mill stands by the river.' })
      const ask = (): Promise<Ended> => place.run(['retrieve', 'mill', '--docs', 'docs', '--json'])
      await ask()
      execFileSync('mount', ['-o', 'remount,ro', stores])
      place.write({ 'docs/a.md': 'The mill moved up the hill.' })
      const { code, stdout, stderr } = await ask()
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: 'cria: the index of these documents cannot be updated: searching it as it is.\n',
      })
      expect(stdout).toContain('by the river')
    } finally {
      execFileSync('umount', [stores])
    }
  })

  test.each([
    ['text', 'This is no database, but it is long enough to be taken for one.'],
    ['a damaged database', `SQLite format 3\0${'x'.repeat(5000)}`],
  ])('a store that is %s is not overwritten', async (_what, content) => {
    writeDocuments()
    await json('index', 'docs')
    const file = join(place.home, 'stores/default.db')
    writeFileSync(file, content)
    for (const words of [
      ['retrieve', 'oil'],
      ['ask', 'oil'],
      ['index', 'docs'],
    ]) {
      expect(outcome(await place.run(words))).toEqual(plainFailure(1, /stores\/default\.db/))
    }
    expect(statSync(file).size).toBe(content.length)
    const doctor = await place.run(['doctor', '--json'])
    expect(doctor.code).toBe(1)
    expect(JSON.parse(doctor.stdout)).toMatchObject({
      ok: false,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'store default', status: 'failed' })]),
    })
  })

  test.runIf(process.platform !== 'win32' && process.getuid?.() !== 0)('a read-only home', async () => {
    writeDocuments()
    await json('index', 'docs')
    chmodSync(join(place.home, 'stores/default.db'), 0o400)
    chmodSync(join(place.home, 'stores'), 0o500)
    expect((await json<{ chunks: unknown[] }>('retrieve', 'oil')).chunks.length).toBeGreaterThan(0)
    expect(outcome(await place.run(['index', 'docs', '--store', 'other']))).toEqual(plainFailure(1, /stores/))
    chmodSync(join(place.home, 'stores'), 0o700)
  })

  test.runIf(existsSync('/bin/bash') && process.platform === 'linux')('a disk that fills up during indexing', async () => {
    place.write({ 'docs/a.md': '# A\n\nThe oil is in the cellar.\n' })
    await json('index', 'docs')
    place.write(
      Object.fromEntries(
        Array.from({ length: 60 }, (_, index) => [`docs/${index}.md`, `# ${index}\n\n${`Word${index} and more. `.repeat(400)}`]),
      ),
    )
    // Files may not grow beyond 512 kB: what a full disk does, without a disk to fill.
    const full = await place.run(['index', 'docs', '--json'], { shellLimit: 'ulimit -f 512' })
    expect(outcome(full)).toEqual(plainFailure(1, /stores\/default\.db/))
    expect((await json<{ chunks: unknown[] }>('retrieve', 'oil cellar')).chunks.length).toBeGreaterThan(0)
    expect(await json('index', 'docs')).toMatchObject({ files: 61 })
  })

  test.runIf(existsSync('/dev/full'))('a standard output without space', async () => {
    writeDocuments()
    await json('index', 'docs')
    const { code, stderr } = await place.run(['retrieve', 'oil', '--json'], { outputTo: '/dev/full' })
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'cria: The output cannot be written: no space is left on the device.\n' })
  })
})

describe('concurrent and interrupted indexing', () => {
  const MANY = 1500
  const writeMany = (): void => {
    place.write(
      Object.fromEntries(
        Array.from({ length: MANY }, (_, index) => [
          `docs/${index}.md`,
          `# File ${index}\n\n${`The word${index} stands here. `.repeat(20)}\n`,
        ]),
      ),
    )
  }

  test('two indexers of one store both succeed without missing or duplicate chunks', async () => {
    writeMany()
    const both = await Promise.all([place.run(['index', 'docs', '--json']), place.run(['index', 'docs', '--json'])])
    for (const { code, stdout, stderr } of both) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout)).toMatchObject({ files: MANY })
    }
    expect(await json('index', 'docs')).toMatchObject({ files: MANY, unchanged: MANY, added: 0 })
    const { chunks } = await json<{ chunks: { source: string }[] }>('retrieve', 'word7', '-n', '5')
    expect(chunks.map(({ source }) => source).filter((source) => source === 'docs/7.md')).toHaveLength(1)
  }, 60_000)

  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    '%s in the middle: the next run does what is missing',
    async (signal) => {
      writeMany()
      const running = place.start(['index', 'docs', '--json'])
      await expect.poll(() => existsSync(join(place.home, 'stores/default.db')), { timeout: 10_000, interval: 5 }).toBe(true)
      running.process.kill(signal)
      const { code, stderr } = await running.ended
      if (signal === 'SIGINT') expect(code).toBe(130)
      if (signal === 'SIGTERM') expect(code).toBe(143)
      if (signal !== 'SIGKILL') expect(stderr).toContain('the same command continues from there')
      expect(stderr).not.toMatch(/^\s+at /m)

      const report = await json<IndexReport>('index', 'docs')
      expect(report.added + report.unchanged).toBe(MANY)
      expect(report).toMatchObject({ files: MANY, changed: 0, removed: 0, skipped: [] })
    },
    60_000,
  )
})
