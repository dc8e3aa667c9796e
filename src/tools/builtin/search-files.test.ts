import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callerOf } from '../../../test/support/tool-call.ts'
import type { Called } from '../../../test/support/tool-call.ts'
import { searchFilesTool } from './search-files.ts'
import { Workspace } from './workspace.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cria-search-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

const search = (input: object, options: { readonly time?: number; readonly signal?: AbortSignal } = {}): Promise<Called> =>
  callerOf([searchFilesTool(new Workspace(root), options.time)])(
    'search_files',
    input,
    options.signal === undefined ? {} : { signal: options.signal },
  )
const found = async (input: object): Promise<string> => (await search(input)).content

describe('search_files', () => {
  it('shows file, line and text; leaves out ignored, hidden, binary and linked files', async () => {
    mkdirSync(join(root, '.git'))
    write({
      '.gitignore': 'dist\n',
      'src/a.ts': 'first\nneedle one\r\nlast\n',
      'b.md': 'a needle\n',
      'dist/x.js': 'needle',
      '.hidden/y': 'needle',
      'node_modules/p/i.js': 'needle',
      'z.bin': Buffer.from('needle\0'),
      'wide.txt': Buffer.from('\ufeffa needle', 'utf16le'),
    })
    symlinkSync('b.md', join(root, 'link.md'))
    const hits = ['b.md:1:a needle', 'wide.txt:1:a needle', 'src/a.ts:2:needle one']
    expect((await found({ pattern: 'needle' })).split('\n')).toEqual(hits)
    expect(await found({ pattern: 'needle', path: 'src' })).toBe('src/a.ts:2:needle one')
    expect(await found({ pattern: 'needle', path: 'src/a.ts' })).toBe('src/a.ts:2:needle one')
    expect(await found({ pattern: 'needle', hidden: true })).toContain('.hidden/y:1:needle')
    expect(await found({ pattern: 'needle', glob: '*.md' })).toBe('b.md:1:a needle')
    expect(await found({ pattern: 'needle', glob: ['!*.md', '!wide*'] })).toBe('src/a.ts:2:needle one')
    expect(await found({ pattern: 'needle', show: 'files' })).toBe('b.md\nwide.txt\nsrc/a.ts')
    expect(await found({ pattern: 'e', show: 'count', glob: 'src/**' })).toBe('src/a.ts:1')
    expect(await found({ pattern: 'nothing' })).toBe('(no match in 3 files; 1 binary or large files were left out)')
  })

  it('supports regular expressions, plain text, case and the flags of other dialects', async () => {
    write({ 'a.txt': 'a.b\nA+B\nfoo_bar\ncafé\n' })
    expect(await found({ pattern: 'a.b', literal: true })).toBe('a.txt:1:a.b')
    expect(await found({ pattern: '^a\\+b$', ignore_case: true })).toBe('a.txt:2:A+B')
    expect(await found({ pattern: '(?i)a\\+b' })).toBe('a.txt:2:A+B')
    expect(await found({ pattern: 'foo\\_bar' })).toBe('a.txt:3:foo_bar')
    expect(await found({ pattern: '\\p{Ll}é$' })).toBe('a.txt:4:café')
    expect(await search({ pattern: '(' })).toMatchObject({
      isError: true,
      content: expect.stringMatching(/Unterminated|Invalid/) as string,
    })
  })

  it('shows lines around, each once, with gaps', async () => {
    write({ 'a.txt': Array.from({ length: 20 }, (_, index) => (index % 8 === 2 ? 'hit' : `line ${index + 1}`)).join('\n') })
    expect((await found({ pattern: 'hit', context: 1 })).split('\n')).toEqual([
      'a.txt-2-line 2',
      'a.txt:3:hit',
      'a.txt-4-line 4',
      '--',
      'a.txt-10-line 10',
      'a.txt:11:hit',
      'a.txt-12-line 12',
      '--',
      'a.txt-18-line 18',
      'a.txt:19:hit',
      'a.txt-20-line 20',
    ])
  })

  it('stops at its limits, and shows only the part of a long line around the match', async () => {
    write({ 'a.txt': 'hit\n'.repeat(5000), 'long.js': `${'🦙'.repeat(5000)}needle${'🦙'.repeat(5000)}` })
    const limited = await found({ pattern: 'hit' })
    expect(limited.split('\n')).toHaveLength(201)
    expect(limited).toContain('[Stopped at the limit of 200')
    const long = await found({ pattern: 'needle' })
    expect(long).toMatch(/^long\.js:1:\[…\] .*needle.* \[…\]$/u)
    expect(long.length).toBeLessThan(450)
    expect(long.isWellFormed()).toBe(true)
    write({ 'many.txt': `${'hit '.repeat(90)}\n`.repeat(2000) })
    expect((await found({ pattern: 'hit', limit: 2000, path: 'many.txt' })).length).toBeLessThan(31_000)
  })

  it('a pattern that never ends is stopped, and does not block the event loop', async () => {
    write({ 'a.txt': 'needle\n', 'b.txt': `${'a'.repeat(60)}b\n` })
    let turns = 0
    const timer = setInterval(() => turns++, 10)
    const { content } = await search({ pattern: 'needle|(a+)+$' }, { time: 1000 })
    clearInterval(timer)
    expect(content).toMatch(/^a\.txt:1:needle\n\[Stopped after 1 s/)
    expect(turns).toBeGreaterThan(20)
  })

  it('an abort ends it at once', async () => {
    write({ 'b.txt': `${'a'.repeat(60)}b\n` })
    const stop = new AbortController()
    const searching = search({ pattern: '(a+)+$' }, { signal: stop.signal })
    setTimeout(() => stop.abort(), 200)
    expect(await searching).toMatchObject({ isError: true, code: '20' })
    expect(await search({ pattern: 'x' }, { signal: stop.signal })).toMatchObject({ isError: true })
  })
})
