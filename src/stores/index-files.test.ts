import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pdf } from '../../test/support/document-files.ts'
import { indexBase } from './ingest/indexable-store.ts'
import { indexFiles } from './index-files.ts'
import type { IndexOptions, IndexProgress, IndexReport } from './index-files.ts'
import { SqliteDocumentStore } from './sqlite.ts'

let base: string
let store: SqliteDocumentStore

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cria-index-')))
  store = await SqliteDocumentStore.open({ path: ':memory:' })
})

afterEach(async () => {
  await store.close()
  rmSync(base, { recursive: true, force: true })
})

let clock = Date.parse('2024-01-01T00:00:00Z')

/** Writes files with an old modification time. */
function put(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(base, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    clock += 5000
    utimesSync(path, clock / 1000, clock / 1000)
  }
}

const remove = (...names: readonly string[]): void => {
  for (const name of names) rmSync(join(base, name), { recursive: true, force: true })
}

const index = (paths: string | readonly string[] = '.', options: IndexOptions = {}): Promise<IndexReport> =>
  indexFiles(store, typeof paths === 'string' ? [paths] : paths, { base, ...options })

/** Everything that a search can return. */
async function contents(of: SqliteDocumentStore = store): Promise<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const { source, chunks } of of.sources()) if (chunks > 0) texts[source] = (await of.getDocument(source))?.text ?? ''
  return texts
}

const counts = ({ files, added, changed, moved, removed, unchanged }: IndexReport): string =>
  `${files} files: ${added} added, ${changed} changed, ${moved} moved, ${removed} removed, ${unchanged} unchanged`

describe('comparing files with the index', () => {
  test('reports files as added, changed, removed or unchanged', async () => {
    put({ 'a.md': '# Apple', 'b.md': '# Banana', 'c/d.txt': 'Cherry.' })
    expect(await index()).toMatchObject({
      files: 3,
      chunks: 3,
      added: 3,
      changed: 0,
      moved: 0,
      removed: 0,
      unchanged: 0,
      skipped: [],
    })
    expect(counts(await index())).toBe('3 files: 0 added, 0 changed, 0 moved, 0 removed, 3 unchanged')
    put({ 'a.md': '# Avocado', 'e.md': '# Elder' })
    remove('c')
    expect(counts(await index())).toBe('3 files: 1 added, 1 changed, 0 moved, 1 removed, 1 unchanged')
    expect(await contents()).toEqual({ 'a.md': '# Avocado', 'b.md': '# Banana', 'e.md': '# Elder' })
    expect((await store.retrieve('avocado', 5)).map(({ source }) => source)).toEqual(['a.md'])
    expect(await store.retrieve('cherry', 5)).toEqual([])
  })

  test('compares a file by content when only its time has changed', async () => {
    put({ 'a.md': 'One.' })
    await index()
    put({ 'a.md': 'One.' })
    expect(counts(await index())).toBe('1 files: 0 added, 0 changed, 0 moved, 0 removed, 1 unchanged')
    put({ 'a.md': 'Two.' })
    expect(counts(await index())).toBe('1 files: 0 added, 1 changed, 0 moved, 0 removed, 0 unchanged')
  })

  test('notices a change within the same tick of the clock', async () => {
    const path = join(base, 'a.md')
    writeFileSync(path, 'One.')
    const { atime, mtime } = statSync(path)
    await index()
    writeFileSync(path, 'Two.')
    utimesSync(path, atime, mtime)
    expect(await index()).toMatchObject({ changed: 1 })
    expect(await contents()).toEqual({ 'a.md': 'Two.' })
  })

  test('moved files keep their text and are not read again', async () => {
    put({ 'docs/a.pdf': pdf([['An apple a day.']]), 'docs/b.md': 'Banana.', 'docs/keep.md': 'Banana.' })
    await index()
    renameSync(join(base, 'docs/a.pdf'), join(base, 'a2.pdf'))
    renameSync(join(base, 'docs/b.md'), join(base, 'docs/b2.md'))
    expect(counts(await index())).toBe('3 files: 0 added, 0 changed, 2 moved, 0 removed, 1 unchanged')
    expect(Object.keys(await contents())).toEqual(['a2.pdf', 'docs/b2.md', 'docs/keep.md'])
    expect((await store.retrieve('apple', 1))[0]).toMatchObject({ source: 'a2.pdf', text: 'An apple a day.' })
    expect(counts(await index())).toBe('3 files: 0 added, 0 changed, 0 moved, 0 removed, 3 unchanged')
  })

  test('adds a copy, and reads a file again after renaming to another format', async () => {
    put({ 'a.md': '# Apple' })
    await index()
    put({ 'b.md': '# Apple' })
    expect(counts(await index())).toBe('2 files: 1 added, 0 changed, 0 moved, 0 removed, 1 unchanged')
    renameSync(join(base, 'b.md'), join(base, 'b.txt'))
    expect(counts(await index())).toBe('2 files: 1 added, 0 changed, 0 moved, 1 removed, 1 unchanged')
    expect(await store.getDocument('b.txt')).toMatchObject({ format: 'text' })
  })

  test('replaces a file by a folder, and a folder by a file', async () => {
    put({ 'a.md': 'One.', 'b.md/c.md': 'Two.' })
    await index()
    remove('a.md', 'b.md')
    put({ 'a.md/c.md': 'Three.', 'b.md': 'Four.' })
    expect(await index()).toMatchObject({ added: 2, removed: 2 })
    expect(await contents()).toEqual({ 'a.md/c.md': 'Three.', 'b.md': 'Four.' })
  })

  test('indexes again after a version change of loader or chunker', async () => {
    put({ 'a.md': 'One.' })
    await index()
    const { file } = (await store.getSource('a.md')) ?? { file: {} }
    await store.put({ source: 'a.md', text: 'Made by an older version.' }, { ...file, recipe: 'files 0.0' })
    expect(counts(await index())).toBe('1 files: 0 added, 1 changed, 0 moved, 0 removed, 0 unchanged')
    expect(await contents()).toEqual({ 'a.md': 'One.' })
  })
})

describe('removing documents', () => {
  test('keeps files of other folders, and appended documents', async () => {
    put({ 'a/x.md': '1', 'b/y.md': '2', 'ab/z.md': '3' })
    await store.append({ source: 'a/by-hand', text: 'Appended.' })
    await index(['a', 'b', 'ab'])
    remove('a/x.md', 'b/y.md')
    expect(await index('a')).toMatchObject({ files: 0, removed: 1 })
    expect(Object.keys(await contents())).toEqual(['a/by-hand', 'ab/z.md', 'b/y.md'])
    expect(await index('.')).toMatchObject({ files: 1, removed: 1 })
  })

  test('removes a deleted folder and a deleted file when they are indexed again', async () => {
    put({ 'a.md': '1', 'docs/b.md': '2', 'docs/in/c.md': '3', 'docs/empty.md': '', 'docs2/d.md': '4', 'one.md': '5' })
    await index(['.'])
    await store.append({ source: 'docs/from-a-program', text: '6' })
    remove('docs', 'one.md')
    const tried = await index(['docs', 'one.md'], { dryRun: true })
    expect(tried).toMatchObject({
      removed: 3,
      gone: [
        { path: 'docs', removed: ['docs/b.md', 'docs/in/c.md'] },
        { path: 'one.md', removed: ['one.md'] },
      ],
    })
    const seen = Object.keys(await contents())
    expect(seen.toSorted()).toEqual(['a.md', 'docs/b.md', 'docs/from-a-program', 'docs/in/c.md', 'docs2/d.md', 'one.md'])
    put({ 'docs2/e.md': '7' })
    expect(counts(await index(['docs', 'docs2', 'one.md']))).toBe('2 files: 1 added, 0 changed, 0 moved, 3 removed, 1 unchanged')
    const left = ['a.md', 'docs/from-a-program', 'docs2/d.md', 'docs2/e.md']
    expect(Object.keys(await contents()).toSorted()).toEqual(left)
    // The index has forgotten the path.
    await expect(index(['docs'])).rejects.toMatchObject({ code: 'not_found', message: 'The path "docs" does not exist.' })
  })

  test('moves a moved path, and indexes a restored path', async () => {
    put({ 'docs/a.md': '1', 'docs/b.md': '2' })
    await index(['docs'])
    renameSync(join(base, 'docs'), join(base, 'new'))
    remove('new/b.md')
    const report = await index(['docs', 'new'])
    expect(counts(report)).toBe('1 files: 0 added, 0 changed, 1 moved, 1 removed, 0 unchanged')
    expect(report.gone).toEqual([{ path: 'docs', removed: ['docs/b.md'] }])
    expect(await contents()).toEqual({ 'new/a.md': '1' })
  })

  test('removes the documents of a deleted base folder', async () => {
    put({ 'project/a.md': '1', 'project/in/b.md': '2', 'a.md': '3' })
    await index('.', { base: join(base, 'project') })
    remove('project')
    expect(await index(['project'])).toMatchObject({ removed: 2, gone: [{ removed: ['a.md', 'in/b.md'] }] })
    expect(await contents()).toEqual({})
    expect(counts(await index(['a.md']))).toContain('1 added')
  })

  test('keeps documents of a missing folder or a broken link, as a drive may not be mounted', async () => {
    put({ 'drive/docs/a.md': '1', 'b.md': '2' })
    symlinkSync(join(base, 'drive', 'docs'), join(base, 'link'))
    await index(['.', 'link'])
    renameSync(join(base, 'drive'), join(base, 'elsewhere'))
    await expect(index(['b.md', 'drive/docs'])).rejects.toMatchObject({
      code: 'not_found',
      message: 'The path "drive/docs" does not exist, and neither does its folder: nothing was removed.',
      hint: `If it is on a drive, mount the drive. If its folder was deleted, remove its documents with: cria index ${join(base, 'drive')}`,
    })
    await expect(index(['link'])).rejects.toMatchObject({ code: 'not_found' })
    expect(Object.keys(await contents()).toSorted()).toEqual(['b.md', 'drive/docs/a.md'])
    expect(await index(['drive'])).toMatchObject({ removed: 1 })
  })

  test.skipIf(process.getuid?.() === 0)('not what lay in a folder that cannot be read', async () => {
    put({ 'locked/docs/a.md': '1' })
    await index()
    remove('locked/docs')
    chmodSync(join(base, 'locked'), 0o300)
    await expect(index(['locked/docs'])).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/cannot be read.*nothing was removed/),
    })
    chmodSync(join(base, 'locked'), 0o700)
    expect(Object.keys(await contents())).toEqual(['locked/docs/a.md'])
  })

  test('removes files that are now ignored', async () => {
    put({ 'a.md': '1', 'b.md': '2' })
    await index()
    put({ '.criaignore': 'b.md\n' })
    expect(await index()).toMatchObject({
      removed: 1,
      skipped: [{ path: '.criaignore' }, { path: 'b.md', reason: 'ignored by .gitignore or .criaignore' }],
    })
    expect(Object.keys(await contents())).toEqual(['a.md'])
  })

  test('keeps a named file up to date while it exists, despite ignore rules', async () => {
    put({ '.gitignore': '*.log\n', 'a.log': 'One.', 'b.md': '2' })
    await index('a.log')
    expect(counts(await index())).toBe('2 files: 1 added, 0 changed, 0 moved, 0 removed, 1 unchanged')
    put({ 'a.log': 'Two.' })
    expect(await index()).toMatchObject({ changed: 1 })
    expect(await contents()).toEqual({ 'a.log': 'Two.', 'b.md': '2' })
    remove('a.log')
    expect(await index()).toMatchObject({ removed: 1 })
  })

  test('removes a named file that became a pipe, without waiting for the pipe', async () => {
    put({ 'a.md': 'One.', 'b.md': 'Two.' })
    await index('a.md')
    remove('a.md')
    expect(spawnSync('mkfifo', [join(base, 'a.md')]).status).toBe(0)
    expect(await index()).toMatchObject({
      files: 1,
      added: 1,
      removed: 1,
      skipped: [{ path: 'a.md', reason: 'not a regular file' }],
    })
    expect(await contents()).toEqual({ 'b.md': 'Two.' })
  })

  test('removes the text of a file that has become unreadable', async () => {
    put({ 'a.md': 'One.', 'b.md': 'Two.', 'c.md': 'Three.' })
    await index()
    put({ 'a.md': '', 'b.md': new Uint8Array([1, 0, 2]), 'c.md': 'x'.repeat(300) })
    const expected = {
      files: 0,
      chunks: 0,
      removed: 3,
      skipped: [{ reason: 'empty' }, { reason: 'binary data' }, { reason: 'larger than 200 bytes (it has 300 bytes)' }],
    }
    expect(await index('.', { maxFileBytes: 200 })).toMatchObject(expected)
    expect(await index('.', { maxFileBytes: 200 })).toMatchObject({ ...expected, removed: 0 })
    put({ 'a.md': 'Back.' })
    expect(await index()).toMatchObject({ files: 2, added: 2 })
  })
})

describe('unreadable files', () => {
  test('are skipped with a reason, and not read again as long as they are the same', async () => {
    put({ 'scan.pdf': pdf([[]]), 'good.md': 'Good.', 'broken.docx': 'no' })
    const skipped = [
      { path: 'broken.docx', reason: 'not a ZIP archive, or cut off' },
      { path: 'scan.pdf', reason: 'a PDF without text (scanned?)' },
    ]
    expect(await index()).toMatchObject({ files: 1, added: 1, skipped })
    // The file keeps size and time but now has text, so that reading it again would show.
    const { atime, mtime, size } = statSync(join(base, 'scan.pdf'))
    writeFileSync(join(base, 'scan.pdf'), pdf([['Text.']]).subarray(0, size))
    utimesSync(join(base, 'scan.pdf'), atime, mtime)
    expect(await index()).toMatchObject({ files: 1, unchanged: 1, added: 0, removed: 0, skipped })
    remove('scan.pdf')
    expect(await index()).toMatchObject({ files: 1, unchanged: 1, removed: 0, skipped: skipped.slice(0, 1) })
  })

  test('keep their reason after a move or a change of time', async () => {
    put({ 'sub/a.md': '\0' })
    const reason = (await index()).skipped[0]?.reason
    expect(reason).toBeDefined()
    remove('sub/a.md')
    put({ 'a.md': '\0' })
    expect((await index()).skipped).toEqual([{ path: 'a.md', reason }])
    utimesSync(join(base, 'a.md'), 1_000_000_000, 1_000_000_000)
    expect((await index()).skipped).toEqual([{ path: 'a.md', reason }])
  })

  test('skips a file that vanishes or changes during the run, and keeps its last state', async () => {
    put({ 'a.md': '1', 'b.md': '2', 'c.md': '3', 'd.md': '4' })
    await index()
    put({ 'a.md': '11' })
    const onProgress = ({ current }: IndexProgress): void => {
      if (current !== 'a.md') return
      remove('b.md', 'c.md')
      put({ 'c.md/x.md': 'folder', 'd.md': '44' })
    }
    expect(await index('.', { onProgress })).toMatchObject({ files: 2, changed: 2 })
    expect(await index()).toMatchObject({ files: 3, added: 1, unchanged: 2 })
    expect(await contents()).toEqual({ 'a.md': '11', 'c.md/x.md': 'folder', 'd.md': '44' })
  })

  test('reports a path that does not exist, and changes nothing', async () => {
    put({ 'a.md': '1' })
    await index()
    await expect(index(['a.md', 'docs'])).rejects.toMatchObject({ code: 'not_found', message: 'The path "docs" does not exist.' })
    await expect(index([])).rejects.toMatchObject({ code: 'configuration' })
    expect(Object.keys(await contents())).toEqual(['a.md'])
  })
})

describe('names', () => {
  test('a file has the same name wherever it is indexed from', async () => {
    put({ 'docs/a.md': '1', 'docs/sub/b.md': '2' })
    await index('docs')
    expect(counts(await index('.', { base: join(base, 'docs') }))).toBe(
      '2 files: 0 added, 0 changed, 0 moved, 0 removed, 2 unchanged',
    )
    expect(counts(await index('sub/b.md', { base: join(base, 'docs') }))).toMatch(/^1 files: 0 added/)
    expect(Object.keys(await contents())).toEqual(['docs/a.md', 'docs/sub/b.md'])
    expect(await indexBase(store)).toBe(base)
  })

  test('distinguishes two folders of the same name', async () => {
    put({ 'one/docs/a.md': '1', 'two/docs/a.md': '2' })
    await index('docs', { base: join(base, 'one') })
    await index('docs', { base: join(base, 'two') })
    expect(await contents()).toEqual({ 'docs/a.md': '1', [`${base}/two/docs/a.md`]: '2' })
  })

  test('recognises a project after it was moved', async () => {
    put({ 'old/docs/a.md': '1', 'old/docs/b.md': '2' })
    await index('docs', { base: join(base, 'old') })
    renameSync(join(base, 'old'), join(base, 'new'))
    expect(counts(await index('docs', { base: join(base, 'new') }))).toBe(
      '2 files: 0 added, 0 changed, 0 moved, 0 removed, 2 unchanged',
    )
    expect(await indexBase(store)).toBe(join(base, 'new'))
  })
})

test('a dry run reports the changes without making them', async () => {
  put({ 'a.md': '1', 'b.md': '2', 'c.md': '3', 'd.pdf': pdf([[]]) })
  const dry = await index('.', { dryRun: true })
  expect([...store.sources()]).toEqual([])
  expect(dry).toEqual({ ...(await index()), ms: dry.ms })
  put({ 'a.md': '11', 'e.md': '5' })
  renameSync(join(base, 'b.md'), join(base, 'b2.md'))
  remove('c.md')
  const before = await contents()
  const again = await index('.', { dryRun: true })
  expect(await contents()).toEqual(before)
  expect(again).toEqual({ ...(await index()), ms: again.ms })
  expect(counts(again)).toBe('3 files: 1 added, 1 changed, 1 moved, 1 removed, 0 unchanged')
})

test('progress reaches all files and bytes, and names the next file', async () => {
  put({ 'a.md': '1', 'b.md': '22', 'c.md': '333' })
  const seen: IndexProgress[] = []
  await index('.', { onProgress: (progress) => seen.push(progress) })
  expect(seen.filter(({ total }) => total !== undefined)).toEqual([
    { done: 0, total: 3, bytes: [0, 6], current: 'a.md' },
    { done: 1, total: 3, bytes: [1, 6], current: 'b.md' },
    { done: 2, total: 3, bytes: [3, 6], current: 'c.md' },
    { done: 3, total: 3, bytes: [6, 6] },
  ])
})

test('a stopped run keeps its work and removes nothing, and the next run continues', async () => {
  put(Object.fromEntries(Array.from({ length: 40 }, (_, number) => [`${number}.md`, `Number ${number}.`])))
  await store.append({ source: 'gone.md', text: 'Gone.' })
  const controller = new AbortController()
  const onProgress = ({ done, total }: IndexProgress): void => {
    if (total !== undefined && done === 17) controller.abort()
  }
  await expect(index('.', { signal: controller.signal, onProgress })).rejects.toMatchObject({ code: 'aborted' })
  const kept = Object.keys(await contents()).length - 1
  expect(kept).toBe(17)
  expect(counts(await index())).toBe(`40 files: ${40 - kept} added, 0 changed, 0 moved, 0 removed, ${kept} unchanged`)
  await expect(index('.', { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
})

test('an index after any changes equals a clean one', async () => {
  const name = fc.constantFrom('a.md', 'b.md', 'sub/a.md', 'sub/b.txt', 'sub/deep/c.md', '.gitignore')
  const content = fc.constantFrom('One.', 'Two.', '# Three\n\nText.', '', '*.txt\n', 'sub/\n', '\u0000')
  const step = fc.oneof(
    fc.record({ kind: fc.constant('put' as const), name, content }),
    fc.record({ kind: fc.constant('remove' as const), name: fc.oneof(name, fc.constant('sub')) }),
    fc.record({ kind: fc.constant('rename' as const), name, to: name }),
    fc.record({ kind: fc.constant('index' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      remove('.')
      mkdirSync(base)
      await store.reset()
      for (const step of steps) {
        if (step.kind === 'put') put({ [step.name]: step.content })
        else if (step.kind === 'remove') remove(step.name)
        else if (step.kind === 'index') await index()
        else if (statSync(join(base, step.name), { throwIfNoEntry: false })?.isFile() === true) {
          mkdirSync(dirname(join(base, step.to)), { recursive: true })
          renameSync(join(base, step.name), join(base, step.to))
        }
      }
      const report = await index()
      const clean = await SqliteDocumentStore.open({ path: ':memory:' })
      const fresh = await indexFiles(clean, ['.'], { base })
      expect(await contents()).toEqual(await contents(clean))
      expect([report.files, report.chunks, report.skipped]).toEqual([fresh.files, fresh.chunks, fresh.skipped])
      const ids = async (of: SqliteDocumentStore): Promise<string[]> =>
        (await of.retrieve('one two three text', 99)).map(({ id }) => id).toSorted()
      expect(await ids(store)).toEqual(await ids(clean))
      await clean.close()
    }),
    { numRuns: 60 },
  )
})

describe('several processes', () => {
  const program = (path: string): string => `
    import { SqliteDocumentStore } from ${JSON.stringify(new URL('sqlite.ts', import.meta.url).href)}
    import { indexFiles } from ${JSON.stringify(new URL('index-files.ts', import.meta.url).href)}
    const store = await SqliteDocumentStore.open({ path: ${JSON.stringify(path)} })
    const report = await indexFiles(store, ['docs'], { base: ${JSON.stringify(base)} })
    await store.close()
    console.log(JSON.stringify(report))`
  const run = (path: string): ReturnType<typeof spawn> =>
    spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', program(path)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const documents = (count: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: count }, (_, number) => [
        `docs/${number}.md`,
        `# Title ${number}\n\n${`Sentence ${number} says something. `.repeat(60)}`,
      ]),
    )

  test('allows two indexers at once', async () => {
    put(documents(60))
    const path = join(base, 'store.db')
    const exits = await Promise.all([run(path), run(path), run(path)].map((child) => once(child, 'exit')))
    expect(exits.map(([code]) => code as number)).toEqual([0, 0, 0])
    const shared = await SqliteDocumentStore.open({ path })
    expect(Object.keys(await contents(shared))).toHaveLength(60)
    expect(counts(await indexFiles(shared, ['docs'], { base }))).toBe(
      '60 files: 0 added, 0 changed, 0 moved, 0 removed, 60 unchanged',
    )
    await shared.close()
  })

  test('continues after SIGKILL at any moment, with the result of a clean run', async () => {
    put(documents(400))
    const clean = await SqliteDocumentStore.open({ path: ':memory:' })
    await indexFiles(clean, ['docs'], { base })
    const path = join(base, 'store.db')
    let kills = 0
    for (const delay of [250, 350, 450, 550, 650]) {
      const child = run(path)
      const timer = setTimeout(() => child.kill('SIGKILL'), delay)
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
      clearTimeout(timer)
      if (signal === 'SIGKILL') kills++
    }
    const before = await SqliteDocumentStore.open({ path })
    const kept = Object.keys(await contents(before)).length
    expect(counts(await indexFiles(before, ['docs'], { base }))).toBe(
      `400 files: ${400 - kept} added, 0 changed, 0 moved, 0 removed, ${kept} unchanged`,
    )
    expect(await contents(before)).toEqual(await contents(clean))
    expect((await before.stats()).chunks).toBe((await clean.stats()).chunks)
    expect(kills).toBeGreaterThan(0)
    await before.close()
    await clean.close()
  })
})
