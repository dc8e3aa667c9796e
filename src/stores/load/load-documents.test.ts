import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { deflatedZip, docx, docxParts, pdf, pdfPage, storedZip } from '../../../test/support/document-files.ts'
import { watchThreads } from '../../../test/support/threads.ts'
import type { SourceDocument } from '../../core/store.ts'
import { indexFiles } from '../index-files.ts'
import { SqliteDocumentStore } from '../sqlite.ts'
import { loadDocuments } from './load-documents.ts'
import type { LoadOptions } from './load-documents.ts'
import { openFile } from './load-file.ts'

let base: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cria-load-')))
})

afterEach(() => {
  rmSync(base, { recursive: true, force: true })
})

function put(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true })
    writeFileSync(join(base, name), content)
  }
}

interface Loaded {
  readonly documents: readonly SourceDocument[]
  readonly sources: readonly string[]
  readonly skipped: Readonly<Record<string, string>>
}

async function load(paths: string | readonly string[] = '.', options: LoadOptions = {}): Promise<Loaded> {
  const skipped: Record<string, string> = {}
  const loaded = await loadDocuments(paths, { base, onSkip: ({ path, reason }) => (skipped[path] = reason), ...options })
  const documents = await loaded.toArray()
  return { documents, sources: documents.map(({ source }) => source), skipped }
}

async function loadOne(name: string, content: string | Uint8Array): Promise<SourceDocument | string | undefined> {
  put({ [name]: content })
  const { documents, skipped } = await load(name)
  return documents[0] ?? skipped[name]
}

describe('formats', () => {
  test('plain text formats keep their text unchanged', async () => {
    const files = {
      'a.md': '# Guide\r\n\r\nText.\r\n',
      'b.txt': 'Plain.\n',
      'c.py': 'def f():\n    pass\n',
      'd.json': '{"a": 1}',
      'e.csv': 'a,b\n1,2\n',
      'f.tsv': 'a\tb\n',
      'g.jsonl': '{"a":1}\n{"a":2}\n',
      'broken.json': '{"a": ',
      Makefile: 'all:\n\techo\n',
      NOTES: 'No extension.\n',
      script: '#!/bin/sh\nexit 0\n',
    }
    put(files)
    const { documents, skipped } = await load()
    expect(Object.fromEntries(documents.map(({ source, text }) => [source, text]))).toEqual(files)
    expect(Object.fromEntries(documents.map(({ source, format }) => [source, format]))).toEqual({
      'a.md': 'markdown',
      'b.txt': 'text',
      'c.py': 'code',
      'd.json': 'json',
      'e.csv': 'csv',
      'f.tsv': 'csv',
      'g.jsonl': 'json',
      'broken.json': 'json',
      Makefile: 'code',
      NOTES: 'text',
      script: 'code',
    })
    expect(documents.every(({ extracted }) => extracted === undefined)).toBe(true)
    expect(skipped).toEqual({})
  })

  test.each([
    ['front matter', '---\nother: x\ntitle: "The Guide"\n---\n# Another\n', 'The Guide'],
    ['first heading', 'Some text.\n\n# The *Guide*\n\n# Another\n', 'The Guide'],
    ['underlined heading', 'The Guide\n=========\n', 'The Guide'],
    ['no heading of the first level', '## Part\n\nText.\n', undefined],
    ['a heading in a fence', '```\n# no\n```\n', undefined],
  ])('Markdown gets its title from %s', async (_, text, title) => {
    expect(await loadOne('a.md', text)).toMatchObject(title === undefined ? { text } : { title })
    expect('title' in ((await loadOne('a.md', text)) as SourceDocument)).toBe(title !== undefined)
  })

  test('fields of the front matter become metadata for filters', async () => {
    const text =
      '---\r\ntitle: Locks\r\nstatus: final\r\ntags: [water, "old, but used"]\r\nrevision: 3\r\n---\r\n\r\n# Locks\r\n\r\nA lock is slow.\r\n'
    expect(await loadOne('a.md', text)).toMatchObject({
      title: 'Locks',
      metadata: { status: 'final', tags: ['water', 'old, but used'], revision: 3 },
    })
    expect(await loadOne('a.md', '# Locks\n\nstatus: final\n')).not.toHaveProperty('metadata')
  })

  test('HTML becomes Markdown with only the text of the page', async () => {
    const html =
      '<!doctype html><title>The &amp; Page</title><style>p { color: red }</style><nav><a href="/">Home</a></nav><main><h1>Hello</h1>' +
      '<!-- hidden --><p>Some <b>bold</b> text.<script>alert(1)</script></p><img src="data:image/png;base64,AAAA" alt="dots">' +
      '<pre><code class="language-js">let a = 1\n  let b</code></pre><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>' +
      '<dl><dt>Term</dt><dd>Meaning</dd></dl></main><footer>Imprint</footer>'
    const page = (await loadOne('a.html', html)) as SourceDocument
    expect(page).toMatchObject({ title: 'The & Page', format: 'markdown', extracted: true })
    for (const wanted of [
      '# Hello',
      'Some **bold** text.',
      '```js\nlet a = 1\n  let b\n```',
      '| A | B |',
      '| 1 | 2 |',
      'Term',
      'Meaning',
    ])
      expect(page.text).toContain(wanted)
    for (const unwanted of ['The & Page', 'hidden', 'alert', 'Home', 'Imprint', 'base64', 'color', '<d'])
      expect(page.text).not.toContain(unwanted)
  })

  test('paragraphs inside list items stay separate', async () => {
    const html =
      '<ul>\n<li> First\n\n<p>Second.\n</p>\n<p>Third.\n</p></li>\n<li>Next</li></ul><p><a href="#x"></a>See <a href="y">why</a>.<img src="z.png"></p>'
    expect(await loadOne('a.html', html)).toMatchObject({ text: '- First\n\n  Second.\n\n  Third.\n- Next\n\nSee [why](y).' })
  })

  test('a page without closing tags is converted in growing slices, with the same text', async () => {
    for (const [noise, shown] of Object.entries({ '<': '<', '&lt;': '<', 'x ': 'x ' })) {
      const page = (await loadOne('a.html', `<p>Before.</p><p>${noise.repeat(200_000)}</p><p>After.</p>`)) as SourceDocument
      expect(page.text === `Before.\n\n${shown.repeat(200_000).trim()}\n\nAfter.`).toBe(true)
    }
  })

  test('skips a page that takes too long, with the reason', async () => {
    put({ 'a.html': '<p>a'.repeat(200_000), 'b.md': 'Good.' })
    const { sources, skipped } = await load('.', { timeout: 1 })
    expect(sources).toEqual(['b.md'])
    expect(skipped).toEqual({ 'a.html': 'a page that takes longer than 0.001 s to read' })
  })

  test('reads pages, paragraphs, rejoined words and the title of a PDF', async () => {
    const file = pdf([['First (page) of it', 'with a hyphen-', 'ated word.', '', 'Next paragraph.'], [], ['Third page.']], {
      title: 'The Report',
    })
    expect(await loadOne('a.pdf', file)).toEqual({
      source: 'a.pdf',
      title: 'The Report',
      format: 'text',
      extracted: true,
      text: 'First (page) of it\nwith a hyphenated word.\n\nNext paragraph.\n\f\n\n\f\nThird page.',
    })
  })

  test('reads headings, paragraphs and tables of a DOCX', async () => {
    const file = docx([
      { heading: 'The Memo', level: 1 },
      'Fish & chips.',
      { heading: 'Details', level: 2 },
      {
        table: [
          ['A', 'B'],
          ['1', '2'],
        ],
      },
    ])
    expect(await loadOne('a.docx', file)).toEqual({
      source: 'a.docx',
      title: 'The Memo',
      format: 'markdown',
      extracted: true,
      text: '# The Memo\n\nFish & chips.\n\n## Details\n\n| A | B |\n| --- | --- |\n| 1 | 2 |',
    })
  })

  test('reads prose, code and short outputs of notebooks', async () => {
    const cells = [
      { cell_type: 'markdown', source: ['# Notes\n', 'Prose.'] },
      {
        cell_type: 'code',
        source: 'print("```")',
        outputs: [{ output_type: 'stream', text: ['```\n'] }, { data: { 'text/plain': '42', 'image/png': 'iVBOR' } }],
      },
    ]
    const notebook = JSON.stringify({ nbformat: 4, metadata: { language_info: { name: 'python' } }, cells })
    expect(await loadOne('a.ipynb', notebook)).toMatchObject({
      title: 'Notes',
      text: '# Notes\nProse.\n\n````python\nprint("```")\n````\n\n````\n```\n\n42\n````',
    })
  })

  test('content overrides the name', async () => {
    expect(await loadOne('a.txt', pdf([['It is a PDF.']]))).toMatchObject({ text: 'It is a PDF.' })
    expect(await loadOne('b.md', new Uint8Array([1, 0, 2, 0]))).toBe('binary data')
  })

  test.each([
    ['a line of Markdown', '# Magic\n\nA PDF begins with `%PDF-1.7`.\n'],
    ['a quotation at the start', '`%PDF-1.7` is the header.'],
    ['a coloured log', '\x1b[31mNo %PDF-1.7 header.\x1b[0m'],
    ['Latin-1', Buffer.from('Größe: %PDF-1.7', 'latin1')],
    ['Windows-1251', Buffer.from([0xd4, 0xe0, 0xe9, 0xeb, 0x20, 0xf1, 0x20, 0x25, 0x50, 0x44, 0x46, 0x2d])],
  ])('a text that mentions the header of a PDF stays a text: %s', async (_, content) => {
    expect(await loadOne('a.md', content)).toMatchObject({ text: expect.stringContaining('%PDF-') as string })
  })

  test.each([
    ['a byte order mark', 'a.txt', Buffer.from('\ufeff')],
    ['white space', 'a.txt', Buffer.from(' \r\n\n')],
    ['control characters', 'a.txt', Buffer.from([1, 2, 3, 0x41])],
    ['bytes of no encoding', 'a', Buffer.from([0xff, 0xfe, 0xfa])],
    ['the start of a print job', 'a', Buffer.from('\x1b%-12345X@PJL ENTER LANGUAGE=PDF\r\n')],
    ['text, with the name of a PDF', 'a.PDF', Buffer.from('HTTP/1.1 200 OK\r\n\r\n')],
  ])('a PDF may begin with %s', async (_, name, before) => {
    expect(await loadOne(name, Buffer.concat([before, pdf([['It is a PDF.']])]))).toMatchObject({ text: 'It is a PDF.' })
  })
})

describe('encodings', () => {
  const text = 'Größe – naïve “quotes” 中文\n'
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
  test.each([
    ['UTF-8', Buffer.from(text), text],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`), text],
    ['UTF-16 LE', utf16, text],
    ['UTF-16 BE', Buffer.from(utf16).swap16(), text],
    ['Latin-1', Buffer.from('Größe und Übermaß, déjà vu', 'latin1'), 'Größe und Übermaß, déjà vu'],
    ['Windows-1252', Buffer.from([0x93, 0x41, 0x94, 0x20, 0x80]), '“A” €'],
    ['UTF-8 with one broken byte', Buffer.concat([Buffer.from('ä'.repeat(40)), Buffer.from([0xff])]), `${'ä'.repeat(40)}\ufffd`],
  ])('%s', async (_, bytes, expected) => {
    expect(await loadOne('a.txt', bytes)).toMatchObject({ text: expected })
  })

  test('reports a guessed encoding', async () => {
    put({ 'a.txt': Buffer.from('Größe', 'latin1'), 'b.txt': 'Größe' })
    const notes: unknown[] = []
    const options = { base, onNote: (noted: unknown) => notes.push(noted) }
    expect(await (await loadDocuments(base, options)).toArray()).toHaveLength(2)
    expect(notes).toEqual([{ path: 'a.txt', note: 'read as windows-1252, a guess: it declares no encoding' }])
    const store = await SqliteDocumentStore.open({ path: ':memory:' })
    const { notes: noted, added } = await indexFiles(store, [base], { base })
    expect({ noted, added }).toEqual({ noted: notes, added: 2 })
    expect((await indexFiles(store, [base], { base })).notes).toBeUndefined()
    await store.close()
  })

  test('decodes a page in its declared encoding', async () => {
    const page = Buffer.concat([
      Buffer.from('<meta charset="shift_jis"><p>'),
      Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
      Buffer.from('</p>'),
    ])
    expect(await loadOne('a.html', page)).toMatchObject({ text: '日本' })
  })
})

describe('unreadable files are skipped with a reason', () => {
  const bombText = Buffer.alloc(200 * 1024 * 1024, 0x20)

  test.each<[string, string, string | Uint8Array, RegExp]>([
    ['an empty file', 'a.md', '', /^empty$/],
    ['white space', 'a.md', ' \n\t\n', /^empty$/],
    ['binary data', 'a.txt', new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 1]), /^binary data$/],
    ['noise', 'a.txt', Uint8Array.from({ length: 4000 }, (_, index) => ((index * 7919) % 251) + 1), /^binary data$/],
    ['a cut PDF', 'a.pdf', pdf([['Text.']]).subarray(0, 200), /^a broken PDF/],
    ['plain text named as PDF', 'a.pdf', 'Just text.', /^a broken PDF/],
    ['a scanned PDF', 'a.pdf', pdf([[], []]), /^a PDF without text \(scanned\?\)$/],
    ['a cut DOCX', 'a.docx', docx(['Text.']).subarray(0, 300), /ZIP archive/],
    ['plain text named as DOCX', 'a.docx', 'Just text.', /not a ZIP archive/],
    ['another ZIP archive', 'a.docx', storedZip(new Map([['a.xml', Buffer.from('<a/>')]])), /^not a Word document$/],
    ['a DOCX without a document', 'a.docx', storedZip(new Map([['[Content_Types].xml', Buffer.from('<a/>')]])), /^malformed/],
    ['a DOCX with broken XML', 'a.docx', storedZip(docxParts('<w:p><w:r>')), /^malformed/],
    [
      'an encrypted or old Word file',
      'a.docx',
      new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 1]),
      /password or in the old \.doc format/,
    ],
    ['a notebook with invalid JSON', 'a.ipynb', '{"cells": [', /^a notebook that is not valid JSON$/],
    ['a notebook without cells', 'a.ipynb', '{}', /^a notebook without cells$/],
    ['a zip bomb', 'a.docx', deflatedZip(docxParts(''), 'word/extra.xml', bombText), /more than 16 MB of XML \(a zip bomb\?\)/],
    [
      'a zip bomb that lies about its size',
      'a.docx',
      deflatedZip(docxParts(''), 'word/extra.xml', bombText, 1000),
      /more than 16 MB of XML \(a zip bomb\?\)/,
    ],
    [
      'a smaller zip bomb',
      'a.docx',
      deflatedZip(docxParts(''), 'word/extra.xml', bombText.subarray(0, 12e6)),
      /grows more than 150 times/,
    ],
    [
      'an archive of 100,000 entries',
      'a.docx',
      storedZip(new Map(Array.from({ length: 100_000 }, (_, index) => [`${index}.xml`, Buffer.alloc(0)]))),
      /more than 10000 entries/,
    ],
    ['a PDF bomb', 'a.pdf', pdfPage(deflateSync(bombText), '/FlateDecode'), /bomb/],
    ['a PDF bomb within another', 'a.pdf', pdfPage(deflateSync(deflateSync(bombText)), '[/FlateDecode /FlateDecode]'), /bomb/],
    ['a PDF bomb of runs', 'a.pdf', pdfPage(Buffer.alloc(4_000_000, Buffer.from([0x81, 0x20])), '/RunLengthDecode'), /bomb/],
  ])('%s', async (_, name, content, reason) => {
    put({ [name]: content, 'z.md': 'Good.' })
    const { sources, skipped } = await load()
    expect(sources).toEqual(['z.md'])
    expect(skipped[name]).toMatch(reason)
  })

  test('skips a file after its time limit without blocking other work', async () => {
    const endless = pdfPage(
      deflateSync(Buffer.from(`BT /F1 12 Tf ${'1 0 0 1 72 700 Tm (ab) Tj 1 0 0 1 72 500 Tm (ab) Tj '.repeat(200_000)}`)),
      '/FlateDecode',
    )
    put({ 'a.pdf': endless, 'b.docx': storedZip(docxParts('<w:p/>'.repeat(1_000_000))), 'c.md': 'Good.' })
    let turns = 0
    const timer = setInterval(() => turns++, 10)
    const { sources, skipped } = await load('.', { timeout: 1500 })
    clearInterval(timer)
    expect(sources).toEqual(['c.md'])
    expect(skipped).toEqual({
      'a.pdf': 'a PDF that takes more than 1.5 s to read',
      'b.docx': 'a Word document that takes more than 1.5 s to read',
    })
    // Among a hundred turns; at most two if the files were read in this thread.
    expect(turns).toBeGreaterThan(10)

    const reason = new Error('enough')
    const abort = new AbortController()
    setTimeout(() => abort.abort(reason), 300)
    await expect(load('a.pdf', { signal: abort.signal })).rejects.toBe(reason)
    put({ 'd.pdf': pdf([['Good.']]) })
    expect((await load('d.pdf')).sources).toEqual(['d.pdf'])
  })

  test('reads files in one thread, and starts a new thread after a file that failed', async () => {
    using threads = watchThreads()
    put({
      'a.pdf': pdf([['One.']]),
      'b.docx': docx(['Two.']),
      'c.pdf': pdfPage(deflateSync(bombText), '/FlateDecode'),
      'd.pdf': pdf([['Four.']]),
    })
    const before = threads.started.length
    expect((await load()).sources).toEqual(['a.pdf', 'b.docx', 'd.pdf'])
    expect(threads.started.length - before).toBeLessThan(2)
    const both = await Promise.all([load('a.pdf'), load('b.docx')])
    expect(both.map(({ documents }) => documents[0]?.text)).toEqual(['One.', 'Two.'])
  })

  test('an archive inside an archive is not opened', async () => {
    const parts = docxParts('<w:p><w:r><w:t>Fine.</w:t></w:r></w:p>')
    expect(await loadOne('a.docx', deflatedZip(parts, 'word/embeddings/inner.zip', bombText))).toMatchObject({ text: 'Fine.' })
  })

  test('skips a file with a private key under a harmless name', async () => {
    put({ 'a.txt': '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n', 'b.md': 'A key begins with -----BEGIN PRIVATE KEY-----.' })
    expect(await load()).toMatchObject({ sources: ['b.md'], skipped: { 'a.txt': 'may hold secrets (a private key)' } })
  })

  test('skips a file of 2 GB without reading it', async () => {
    put({ 'a.txt': 'x', 'b.html': `<p>${'x'.repeat(11 * 1024 * 1024)}`, 'c.md': 'Good.' })
    truncateSync(join(base, 'a.txt'), 2 * 1024 ** 3)
    const before = process.memoryUsage().rss
    const { sources, skipped } = await load()
    expect(sources).toEqual(['c.md'])
    expect(skipped).toEqual({ 'a.txt': 'larger than 50 MB (it has 2048 MB)', 'b.html': 'larger than 10 MB (it has 11 MB)' })
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024)
    expect((await load('c.md', { maxFileBytes: 4 })).skipped).toEqual({ 'c.md': 'larger than 4 bytes (it has 5 bytes)' })
  })

  test.skipIf(process.getuid?.() === 0)('a file and a folder without permission', async () => {
    put({ 'a.md': 'x', 'b/c.md': 'x', 'd.md': 'Good.' })
    chmodSync(join(base, 'a.md'), 0)
    chmodSync(join(base, 'b'), 0)
    const { sources, skipped } = await load()
    chmodSync(join(base, 'b'), 0o700)
    expect(sources).toEqual(['d.md'])
    expect(skipped).toEqual({ 'a.md': 'unreadable (EACCES)', 'b/': 'unreadable (EACCES)' })
  })

  test('reports a file and a folder whose names are not UTF-8', async () => {
    const named = (...bytes: number[]): Buffer => Buffer.concat([Buffer.from(`${base}/`), Buffer.from(bytes)])
    try {
      writeFileSync(named(0x61, 0xe9), 'x')
    } catch {
      // Some file systems refuse such names.
      return
    }
    mkdirSync(named(0x62, 0xff))
    put({ 'c.md': 'Good.' })
    const reason = 'unreadable (its name is not in UTF-8: rename it)'
    expect(await load()).toMatchObject({ sources: ['c.md'], skipped: { 'a\uFFFD': reason, 'b\uFFFD/': reason } })
  })

  test('does not wait for a pipe', async () => {
    expect(spawnSync('mkfifo', [join(base, 'pipe')]).status).toBe(0)
    put({ 'a.md': 'Good.' })
    expect(await load()).toMatchObject({ sources: ['a.md'], skipped: { pipe: 'not a regular file' } })
    expect(await load(['pipe', 'a.md'])).toMatchObject({ sources: ['a.md'], skipped: { pipe: 'not a regular file' } })
  })

  test('does not wait for a file that becomes a pipe before it is opened', async () => {
    const path = join(base, 'a.md')
    expect(spawnSync('mkfifo', [path]).status).toBe(0)
    const found = { path, source: 'a.md', size: 5, mtimeMs: 0, isNamed: false }
    expect(await openFile(found)).toEqual({ skipped: 'not a regular file', because: 'content' })
  })
})

describe('selecting files', () => {
  test('skips secret, hidden, generated and binary files, each with its reason', async () => {
    const secrets = [
      '.env',
      '.env.local',
      'prod.env',
      'id_rsa',
      'id_ed25519',
      'server.pem',
      'server.key',
      'private_key',
      '.npmrc',
      '.netrc',
      'credentials',
      'client_secret_1.json',
      'secrets.yaml',
      'store.jks',
    ]
    put(Object.fromEntries(secrets.map((name) => [name, 'canary'])))
    put({
      'README.md': 'Good.',
      'keyboard.md': 'Good.',
      'environment.ts': '1',
      'id_rsa.pub': 'ssh-rsa',
      '.hidden': 'x',
      '.git/config': 'x',
      '.vscode/a.json': '{}',
    })
    put({
      'node_modules/x/README.md': 'x',
      'package-lock.json': '{}',
      'a.min.js': 'x',
      'logo.png': 'x',
      'flow.svg': '<svg xmlns="http://www.w3.org/2000/svg"><text>Words</text></svg>',
      'archive.zip': 'x',
      'old.doc': 'x',
    })
    const { sources, skipped } = await load()
    expect(sources).toEqual(['README.md', 'environment.ts', 'id_rsa.pub', 'keyboard.md'])
    for (const name of secrets) expect([name, skipped[name]]).toEqual([name, 'may hold secrets'])
    expect(skipped).toMatchObject({
      '.hidden': 'hidden file',
      '.git/': 'hidden folder',
      '.vscode/': 'hidden folder',
      'node_modules/': 'node_modules folders are left out',
      'package-lock.json': 'generated file',
      'a.min.js': 'generated file',
      'logo.png': 'image file',
      'flow.svg': 'image file',
      'archive.zip': 'archive file',
      'old.doc': 'Office document other than .docx file',
    })
    const named = await load(['.env', 'package-lock.json', '.hidden', '.vscode'])
    expect(named.sources).toEqual(['.env', 'package-lock.json', '.hidden', '.vscode/a.json'])
  })

  test('applies nested rules, negations, .criaignore and rules above the root', async () => {
    put({
      '.git/HEAD': 'x',
      '.git/info/exclude': 'excluded.md\n',
      '.gitignore': '*.log\n/build\ndocs/private/\n',
      '.criaignore': 'drafts/\n',
    })
    put({ 'a.md': '1', 'a.log': '1', 'excluded.md': '1', 'build/a.md': '1', 'sub/build/a.md': '1', 'drafts/a.md': '1' })
    put({
      'docs/.gitignore': '!keep.log\nb*.md\n!b2.md\n/top.md\n',
      'docs/keep.log': '1',
      'docs/other.log': '1',
      'docs/b1.md': '1',
      'docs/b2.md': '1',
    })
    put({ 'docs/top.md': '1', 'docs/deep/top.md': '1', 'docs/private/a.md': '1' })
    const everything = ['a.md', 'docs/b2.md', 'docs/deep/top.md', 'docs/keep.log', 'sub/build/a.md']
    const { sources, skipped } = await load()
    expect(sources).toEqual(everything)
    expect(skipped).toMatchObject({
      'docs/private/': 'ignored by .gitignore or .criaignore',
      'a.log': 'ignored by .gitignore or .criaignore',
    })
    expect((await load('docs')).sources).toEqual(everything.filter((source) => source.startsWith('docs/')))
    // Named paths bypass the rules above them; rules inside them apply.
    expect((await load(['docs/private', 'a.log'])).sources).toEqual(['a.log', 'docs/private/a.md'])
  })

  test('finds the same files as git, for random rules', async () => {
    const hasGit = spawnSync('git', ['--version']).status === 0
    if (!hasGit) console.warn('skipped: git is not installed')
    const pattern = fc.constantFrom(
      '*.md',
      '!a.md',
      'x/',
      '/x',
      'x/**',
      '!x/y/',
      '**/y',
      'y/*.md',
      '!y/a.md',
      'x/y',
      '# no',
      '',
      '  ',
      'a?.md',
      '[ab].md',
      String.raw`\!b.md`,
      'b.md ',
      '/y/',
      '!*/',
      'x/*',
      '!/x/a.md',
    )
    const rules = fc.array(pattern, { maxLength: 5 }).map((lines) => lines.join('\n'))
    const folders = ['', 'x/', 'y/', 'x/y/', 'y/x/']
    const check = async (files: readonly string[]): Promise<void> => {
      rmSync(base, { recursive: true })
      mkdirSync(base)
      spawnSync('git', ['init', '-q'], { cwd: base })
      for (const [index, folder] of folders.entries()) {
        put(Object.fromEntries(['a.md', 'b.md', 'ab.md', '!b.md'].map((name) => [`${folder}${name}`, 'x'])))
        put({ [`${folder}.gitignore`]: files[index] ?? '' })
      }
      const listed = spawnSync('git', ['-c', 'core.quotePath=false', 'ls-files', '--others', '--exclude-standard'], {
        cwd: base,
        encoding: 'utf8',
      })
      const wanted = listed.stdout.split('\n').filter((path) => path.endsWith('.md'))
      expect((await load()).sources.toSorted()).toEqual(wanted.toSorted())
    }
    await fc.assert(fc.asyncProperty(fc.array(rules, { minLength: folders.length, maxLength: folders.length }), check), {
      numRuns: hasGit ? 40 : 0,
    })
  })

  test('does not follow links, out of the folder or in circles; a root may be a link', async () => {
    put({ 'docs/a.md': '1', 'docs/sub/b.md': '1', 'secret/c.md': 'canary' })
    symlinkSync('../secret', join(base, 'docs/out'))
    symlinkSync('../secret/c.md', join(base, 'docs/out.md'))
    symlinkSync('..', join(base, 'docs/sub/up'))
    symlinkSync('a.md', join(base, 'docs/in.md'))
    symlinkSync('nowhere', join(base, 'docs/broken'))
    symlinkSync('self', join(base, 'docs/self'))
    symlinkSync('docs', join(base, 'linked'))
    const expected = { sources: ['docs/a.md', 'docs/sub/b.md'] }
    expect(await load('docs')).toMatchObject({
      ...expected,
      skipped: {
        'docs/out': 'link to a place outside the folder',
        'docs/out.md': 'link to a place outside the folder',
        'docs/sub/up': 'link to the folder itself',
        'docs/in.md': 'link to a.md',
        'docs/broken': 'broken link to nowhere',
        'docs/self': 'link to itself',
      },
    })
    expect(await load('linked')).toMatchObject(expected)
    expect(await load(['linked', 'docs', 'docs/sub', 'docs/a.md'])).toMatchObject(expected)
  })

  test('sources are relative to the base, with forward slashes, absolute outside of it', async () => {
    put({ 'in/a.md': '1', 'out/b.md': '1' })
    expect((await load(['.', '../out'], { base: join(base, 'in') })).sources).toEqual(['a.md', `${base}/out/b.md`])
  })

  test('rejects at once for a path that does not exist, and names it', async () => {
    put({ 'a.md': '1' })
    await expect(loadDocuments(['a.md', 'nowhere/b.md'], { base })).rejects.toMatchObject({
      code: 'not_found',
      message: 'The path "nowhere/b.md" does not exist.',
    })
    await expect(loadDocuments(['a.md/b'], { base })).rejects.toMatchObject({ code: 'not_found' })
    await expect(loadDocuments(['a\0b'], { base })).rejects.toMatchObject({ code: 'configuration' })
    for (const nothing of [[], [''], undefined, [7]] as string[][]) {
      await expect(loadDocuments(nothing, { base })).rejects.toMatchObject({ code: 'configuration' })
    }
  })

  test('accepts names with any characters', async () => {
    const names = [' a.md', 'a b.md', 'ä 中.md', '-n.md', 'a#b?.md', 'C:x.md', 'new\nline.md']
    put(Object.fromEntries(names.map((name) => [name, name])))
    const { documents } = await load()
    expect(documents.map(({ source }) => source)).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)))
    expect(documents.every(({ source, text }) => source === text)).toBe(true)
  })
})

test('reads files one by one during iteration, and stops on abort', async () => {
  put({ 'a.md': '1', 'b.md': '2', 'c.md': '3' })
  const controller = new AbortController()
  const loaded = await loadDocuments('.', { base, signal: controller.signal })
  const seen: string[] = []
  const take = async (): Promise<void> => {
    for await (const { source } of loaded) {
      seen.push(source)
      rmSync(join(base, 'b.md'), { force: true })
      if (source === 'c.md') controller.abort(new Error('enough'))
    }
  }
  await take()
  await expect(take()).rejects.toThrow('enough')
  expect(seen).toEqual(['a.md', 'c.md'])
})
